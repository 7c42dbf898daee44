/** A case of the benchmark. */
import { count, type Option, type Options, text, texts, type Values } from "../../options.ts";
import type { Bench } from "./bench.ts";
import type { Sample } from "./sample.ts";

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
