// Small packs of commits and tags with a field that is very long, or very often there. Whatever
// lists commits or tags, or shows one, answers within 2 s and 64 MiB, and others are served
// meanwhile.
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  continuationBombs,
  headerBombs,
  mailmapBomb,
  messageBombs,
  nameBombs,
  parentBomb,
  subjectBombs,
} from "../harness/field-bombs.ts";
import type { HostileHistory } from "../harness/hostile-draft.ts";
import { HostileRun } from "../harness/hostile-run.ts";

/** What reads commits and tags: routes and pages by their names in the run. */
const READS =
  /^page \/:owner\/:repo($|\/(tree|blob|blame|commits|commit|compare|branches|tags|tag|feed|activity|contributors))|^get \/repos\/\{owner\}\/\{repo\}\/(log|commits|compare|tags|branches|events|blame|files$|contributors|activity|stats|git\/(commit|tag))|^post .*\/(merge|cherry-pick|revert)$/;

let run: HostileRun;
let seed = 0;

beforeAll(async () => {
  run = await HostileRun.open();
});
afterAll(() => run.close());

async function expectAnswers(history: HostileHistory, packBytes: number): Promise<void> {
  expect(history.pack.length).toBeLessThan(packBytes);
  await run.run(++seed, history, (name) => READS.test(name));
  expect(run.misanswers.splice(0)).toEqual([]);
}

test("40 commits of two million header lines each", { tags: "sweep", timeout: 180_000 }, () =>
  expectAnswers(headerBombs(40), 400_000),
);

test("a merge of 60,000 parents", { tags: "sweep", timeout: 180_000 }, () =>
  expectAnswers(parentBomb(60_000), 10_000_000),
);

test("60 commits and tags with messages of 8 MB", { tags: "sweep", timeout: 300_000 }, () =>
  expectAnswers(messageBombs(60), 3_500_000),
);

test("40 commits and tags with first lines of 8 MB", { tags: "sweep", timeout: 300_000 }, () =>
  expectAnswers(subjectBombs(40), 1_500_000),
);

test("40 commits with names of 4 MB", { tags: "sweep", timeout: 300_000 }, () => expectAnswers(nameBombs(40), 400_000));

test("20 commits with a header of two million lines", { tags: "sweep", timeout: 180_000 }, () =>
  expectAnswers(continuationBombs(20), 200_000),
);

test("a mailmap of 20,000 lines", { tags: "sweep", timeout: 180_000 }, () =>
  expectAnswers(mailmapBomb(20_000), 200_000),
);
