/** One run of the benchmark: measures the sides alternately and keeps their figures. */
import { type Measures, type Sample, toSamples, type Work } from "./sample.ts";

/** What one side does in a round. It measures one work or several, each once or (with many clients)
 * many times. */
export type Turn = readonly [side: string, run: () => Promise<Iterable<readonly [Work, Measures]>>];

/** The exit status after an interrupt, as shells report SIGINT. */
export const INTERRUPTED = 130;

/** One run of the benchmark. */
export class Bench {
  readonly samples: Sample[] = [];
  /** Whether a measurement failed. It was reported at that time. */
  hasFailed = false;
  /** Closed at the end of the run, and on an interrupt. */
  readonly stack: AsyncDisposableStack;

  constructor(stack: AsyncDisposableStack) {
    this.stack = stack;
  }

  /** Keeps the figures of one run.
   * @param round counts from 1; that of a warm-up is 0, and is dropped */
  note(work: Work, side: string, round: number, measures: Measures): void {
    if (round > 0) this.samples.push(...toSamples(work, side, round, measures));
  }

  /** Measures something. A failure is reported and the run continues; an interrupt ends it. */
  async attempt(name: string, measure: () => Promise<unknown>): Promise<void> {
    try {
      await measure();
    } catch (error) {
      if (process.exitCode === INTERRUPTED) throw error;
      this.hasFailed = true;
      console.error(`${name} failed:`, error);
    }
  }

  /** Runs every side once, one after the other: first as an unrecorded warm-up, then `rounds`
   * times, so that all sides meet the same state of the machine.
   * @param name is written to standard error */
  async takeRounds(name: string, rounds: number, turns: readonly Turn[]): Promise<void> {
    process.stderr.write(`${name}, ${rounds} rounds: warm-up`);
    try {
      for (let round = 0; round <= rounds; round++) {
        if (round > 0) process.stderr.write(` ${round}`);
        for (const [side, run] of turns) {
          for (const [work, measures] of await run()) this.note(work, side, round, measures);
        }
      }
    } finally {
      process.stderr.write("\n");
    }
  }

  /** The same for one work. */
  takeTurns(work: Work, rounds: number, sides: Readonly<Record<string, () => Promise<Measures>>>): Promise<void> {
    return this.takeRounds(Object.values(work).join(", "), rounds, toTurns(work, sides));
  }
}

/** Turns of one work, one for each side. Joining those of several works spreads the rounds of each
 * over the whole run. */
export function toTurns(work: Work, sides: Readonly<Record<string, () => Promise<Measures>>>): Turn[] {
  return Object.entries(sides).map(([side, run]): Turn => [side, async () => [[work, await run()]]]);
}
