/** Families of repositories that share R2 objects, at work while calls fail and processes die.
 * `soak.sweep.test.ts` makes 1,000 runs. */
import { afterEach, expect, test } from "vitest";
import { checkSoaks } from "./check-soaks.ts";
import { soak } from "./soak.ts";
import { restoreRealTime } from "../simulation/virtual-time.ts";

afterEach(restoreRealTime);

test("all repositories stay whole, and nothing is left over (2 runs)", async () => void (await checkSoaks(1, 2)));

test("the same seed makes the same run, whatever ran before", { tags: "sweep" }, async () => {
  const { trace, counts } = await soak(5);
  await soak(4);
  expect((await soak(5)).trace).toEqual(trace);
  expect([...counts.keys()]).toEqual(expect.arrayContaining(["push", "fork", "deletion", "clone"]));
});
