/** Pushes, fetches, the API, maintenance, a failing bucket and crashes, all at the same time.
 * `simulation.sweep.test.ts` and `npm run verify -- concurrent` run more of them. */
import { afterEach, expect, test } from "vitest";
import { checkRuns } from "./simulation/check-runs.ts";
import { simulate } from "./simulation/run.ts";
import { restoreRealTime } from "./simulation/virtual-time.ts";

afterEach(restoreRealTime);

test("what was acknowledged is there, whatever fails and whenever the process dies (2 runs)", () => checkRuns(0, 2));

test("the same seed makes the same run, whatever ran before", { tags: "sweep" }, async () => {
  const first = await simulate(7, 2);
  await simulate(8, 2);
  expect((await simulate(7, 2)).digest).toBe(first.digest);
  expect((await simulate(8, 2)).digest).not.toBe(first.digest);
});
