import { expect } from "vitest";
import type { HostileHistory } from "../harness/hostile-draft.ts";
import { HostileRun } from "../harness/hostile-run.ts";
import { Random } from "../harness/random.ts";

/** Expects everything that is asked of the hostile histories of these seeds to be answered within
 * its bounds. */
export async function expectAnswers(seeds: readonly number[], make: (random: Random) => HostileHistory): Promise<void> {
  const run = await HostileRun.open();
  try {
    for (const seed of seeds) await run.run(seed, make(new Random(seed)));
    expect(run.misanswers).toEqual([]);
  } finally {
    await run.close();
  }
}
