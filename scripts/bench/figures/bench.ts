/** The cases of the benchmark, and one run, which keeps the figures of the sides. */
import { INTERRUPTED } from "../../command-line.ts";
import { count, type Option, type Options, text, texts, type Values } from "../../options.ts";
import { type Measures, type Sample, toSamples, type Work } from "./sample.ts";

/** What one side does in a round. It measures one work or several, each once or (with many clients)
 * many times. */
export type Turn = readonly [side: string, run: () => Promise<Iterable<readonly [Work, Measures]>>];

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

/** The options that every case has. */
export const COMMON = {
  csv: text("FILE", "writes every measured value to this file"),
  against: text(
    "FILE",
    "lists the figures that differ by more than the spread from an earlier run, whose --csv FILE was",
  ),
} satisfies Options;

/** The number of recorded rounds. */
export function rounds(fallback: number): Option<number> {
  return count("recorded rounds, after one warm-up", fallback);
}

export const BUNDLE = texts(
  "FILE",
  "a history: a bundle, or any repository that git can clone (default: a generated one)",
);

/** Something that can be measured, with a name of its own. */
export interface Case {
  /** A line for the list of cases. */
  readonly summary: string;
  /** More for `--help`: lines of up to 100 columns. */
  readonly about: string;
  readonly options: Options;
  /** Measures that get percentiles in the table, because many clients or saves give values in one
   * round. */
  readonly percentiles?: readonly string[];
  /** Writes the samples, where one table is not enough. */
  readonly format?: (samples: readonly Sample[]) => string;
  /** @throws Error if nothing can be measured; the bench reports single failures */
  measure(values: Values<Options>, bench: Bench): Promise<void>;
}

/** Defines a case whose options' values are typed. */
export function defineCase<const Own extends Options>(
  own: Omit<Case, "options" | "measure"> & {
    readonly options: Own;
    measure(values: Values<Own>, bench: Bench): Promise<void>;
  },
): Case {
  return own as unknown as Case;
}

/** Waits for all promises, so that none is still running when the caller gets an error.
 * @throws the error of the first of them, in order, that failed */
export async function allOf<Value>(works: readonly Promise<Value>[]): Promise<Value[]> {
  const ends = await Promise.allSettled(works);
  return ends.map((end) => {
    if (end.status === "rejected") throw end.reason;
    return end.value;
  });
}
