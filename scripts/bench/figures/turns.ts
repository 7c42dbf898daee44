/** Measures sides in turns, so that all of them meet the same machine. */
import { type Measures, type Sample, toSamples, type Work } from "./sample.ts";

/** Runs every side once, one after the other: first unrecorded to warm up, then `rounds` times. */
export async function takeTurns(
  work: Work,
  rounds: number,
  sides: Readonly<Record<string, () => Promise<Measures>>>,
): Promise<Sample[]> {
  const samples: Sample[] = [];
  process.stderr.write(`${Object.values(work).join(", ")}, ${rounds} rounds: warm-up`);
  try {
    for (let round = 0; round <= rounds; round++) {
      if (round > 0) process.stderr.write(` ${round}`);
      for (const [side, run] of Object.entries(sides)) {
        const measures = await run();
        if (round > 0) samples.push(...toSamples(work, side, round, measures));
      }
    }
  } finally {
    process.stderr.write("\n");
  }
  return samples;
}
