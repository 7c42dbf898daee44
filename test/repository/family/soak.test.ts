/** Families of repositories that share R2 objects, at work while calls fail and processes die.
 * `soak.sweep.test.ts` makes 1,000 runs. */
import { expect, test } from "vitest";
import { checkSoaks } from "./check-soaks.ts";
import { soak } from "./soak.ts";

test("all repositories stay whole, and nothing is left over (15 runs)", () => checkSoaks(1, 15));

test("the same seed makes the same run, whatever ran before", async () => {
  const { trace, counts } = await soak(3);
  await soak(4);
  expect((await soak(3)).trace).toEqual(trace);
  expect([...counts.keys()]).toEqual(expect.arrayContaining(["push", "fork", "deletion", "clone"]));
});
