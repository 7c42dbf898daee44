import { expect, test } from "vitest";
import { markIdle, sumSelf } from "../../../../scripts/bench/profile/cpu-profile.ts";
import { makeProfile } from "./made-up-profile.ts";

const profile = {
  ...makeProfile(
    [
      ["save", "src/worker/rest/commits.ts", null],
      ["(idle)", "", null],
    ],
    [0, 0, 0, 1, 0],
  ),
  // Asked for every millisecond, and taken every 1.1; a second without any after the third.
  timeDeltas: [300, 1_100, 1_100, 1_000_000, 1_100],
  endTime: 5_000 + 1_003_600 + 9_000,
};

test("where nothing was sampled, the isolate was idle", () => {
  const marked = markIdle(profile, 1_000);
  const idleId = marked.nodes.at(-1)!.id;
  expect(marked.samples).toEqual([2, 2, 2, idleId, 3, 2, idleId]);
  expect(marked.timeDeltas).toEqual([300, 1_100, 1_100, 1_100, 998_900, 1_100, 1_100]);
  expect(marked.nodes[0]!.children).toContain(idleId);
  expect(sumSelf(marked).get(2)).toBeCloseTo(4.4);
  expect(sumSelf(marked).get(idleId)).toBeCloseTo(998.9 + 7.9);
});

test("what V8 samples as idle is time in which the isolate is held", () => {
  const marked = markIdle(profile, 1_000);
  expect(marked.nodes.map(({ callFrame }) => callFrame.functionName)).toEqual([
    "(root)",
    "save",
    "(workerd)",
    "(idle)",
  ]);
  expect(sumSelf(marked).get(3)).toBeCloseTo(1.1);
});

test("an isolate that was never at work has a profile, too", () => {
  expect(sumSelf(markIdle({ ...profile, samples: [], timeDeltas: [] }, 1_000))).toEqual(new Map());
});
