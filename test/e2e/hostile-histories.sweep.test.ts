import { expect, test } from "vitest";
import { HostileRun } from "../harness/hostile-run.ts";

/** A small history of most other shapes. */
const SEEDS = [15, 93, 35, 8, 106, 33, 46, 24];

test("whatever is asked of small hostile histories is answered in its bounds", async () => {
  const run = await HostileRun.open();
  try {
    for (const seed of SEEDS) await run.run(seed);
    expect(run.misanswers).toEqual([]);
  } finally {
    await run.close();
  }
}, 180_000);
