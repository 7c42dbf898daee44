/** Measures sides in turns, so that all of them meet the same machine. */
import { type Measures, type Sample, toSamples, type Work } from "./sample.ts";

/** What a side does in a turn: it shows something of one work or of several, of each once or, as for many clients, over and over. */
export type Turn = readonly [side: string, run: () => Promise<Iterable<readonly [Work, Measures]>>];

/** Runs every side once, one after the other: first unrecorded to warm up, then `rounds` times. */
export function takeTurns(
  work: Work,
  rounds: number,
  sides: Readonly<Record<string, () => Promise<Measures>>>,
): Promise<Sample[]> {
  return takeRounds(Object.values(work).join(", "), rounds, toTurns(work, sides));
}

/** A turn for each side. Those of several works, put together, have the rounds of each meet all minutes of the others, too. */
export function toTurns(work: Work, sides: Readonly<Record<string, () => Promise<Measures>>>): Turn[] {
  return Object.entries(sides).map(([side, run]): Turn => [side, async () => [[work, await run()]]]);
}

/** The same for turns that show more than one work.
 * @param name tells on standard error what is measured */
export async function takeRounds(name: string, rounds: number, turns: readonly Turn[]): Promise<Sample[]> {
  const samples: Sample[] = [];
  process.stderr.write(`${name}, ${rounds} rounds: warm-up`);
  try {
    for (let round = 0; round <= rounds; round++) {
      if (round > 0) process.stderr.write(` ${round}`);
      for (const [side, run] of turns) {
        for (const [work, measures] of await run()) {
          if (round > 0) samples.push(...toSamples(work, side, round, measures));
        }
      }
    }
  } finally {
    process.stderr.write("\n");
  }
  return samples;
}
