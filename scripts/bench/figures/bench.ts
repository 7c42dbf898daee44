/** One run of the benchmark: measures sides in turns, and keeps what they show. */
import { type Measures, type Sample, toSamples, type Work } from "./sample.ts";

/** What a side does in a turn: it shows something of one work or of several, of each once or, as for
 * many clients, over and over. */
export type Turn = readonly [side: string, run: () => Promise<Iterable<readonly [Work, Measures]>>];

/** The exit status of who was interrupted, as shells tell of SIGINT. */
export const INTERRUPTED = 130;

/** A run. */
export class Bench {
  readonly samples: Sample[] = [];
  /** Whether anything could not be measured, which was told then. */
  hasFailed = false;
  /** What is put there is closed at the end, and when the command is interrupted. */
  readonly stack: AsyncDisposableStack;

  constructor(stack: AsyncDisposableStack) {
    this.stack = stack;
  }

  /** Keeps what one run showed.
   * @param round counts from 1; that of a warm-up is 0, and is dropped */
  note(work: Work, side: string, round: number, measures: Measures): void {
    if (round > 0) this.samples.push(...toSamples(work, side, round, measures));
  }

  /** Measures something. What fails is told, and others may go on; if it is for an interrupt, nothing does. */
  async attempt(name: string, measure: () => Promise<unknown>): Promise<void> {
    try {
      await measure();
    } catch (error) {
      if (process.exitCode === INTERRUPTED) throw error;
      this.hasFailed = true;
      console.error(`${name} failed:`, error);
    }
  }

  /** Runs every turn once, one after the other: first unrecorded to warm up, then `rounds` times, so
   * that all meet the same machine.
   * @param name tells on standard error what is measured */
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

/** A turn for each side. Those of several works, put together, have the rounds of each meet all minutes
 * of the others, too. */
export function toTurns(work: Work, sides: Readonly<Record<string, () => Promise<Measures>>>): Turn[] {
  return Object.entries(sides).map(([side, run]): Turn => [side, async () => [[work, await run()]]]);
}
