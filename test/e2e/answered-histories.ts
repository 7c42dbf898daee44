import { expect } from "vitest";
import { HostileRun } from "../harness/hostile-run.ts";

/** Expects everything that is asked of the hostile histories of these seeds to be answered within
 * its bounds. */
export async function expectAnswers(seeds: readonly number[]): Promise<void> {
  const run = await HostileRun.open();
  try {
    for (const seed of seeds) await run.run(seed);
    expect(run.misanswers).toEqual([]);
  } finally {
    await run.close();
  }
}
