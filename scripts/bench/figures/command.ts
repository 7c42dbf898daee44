/** A case of the benchmark, and its options. */
import { UsageError } from "../../command-line.ts";
import type { Bench } from "./bench.ts";
import type { Sample } from "./sample.ts";

/** Reads an option that is a positive whole number.
 * @throws UsageError if it is not */
export function readCount(name: string, text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new UsageError(`--${name} ${text}: not a positive whole number`);
  return count;
}

/** Reads an option that is a list of positive whole numbers: `1,5,20`.
 * @throws UsageError if it is not */
function readCounts(name: string, text: string): number[] {
  return text.split(",").map((part) => readCount(name, part));
}

/** An option: its form, its help, and how its value is read. */
export interface Option<Value> {
  /** What follows the name, such as `N`; empty for a flag. */
  readonly form: string;
  readonly help: string;
  readonly isMany?: boolean;
  /** The value if the option is not given. */
  readonly fallback: Value;
  /** @throws UsageError if the value is invalid */
  read(name: string, given: readonly string[]): Value;
}

export type Options = Readonly<Record<string, Option<unknown>>>;

/** The options' values by name. */
export type Values<Own extends Options> = {
  readonly [Name in keyof Own]: Own[Name] extends Option<infer Value> ? Value : never;
};

/** A positive whole number. */
export function count<Fallback extends number | undefined>(
  help: string,
  fallback: Fallback,
): Option<number | Fallback> {
  const told = fallback === undefined ? "" : ` (default ${fallback})`;
  return { form: "N", help: help + told, fallback, read: (name, [text = ""]) => readCount(name, text) };
}

/** Positive whole numbers, separated by commas. */
export function counts(help: string, fallback: readonly number[]): Option<readonly number[]> {
  const told = ` (default ${fallback.join()})`;
  return { form: "N,…", help: help + told, fallback, read: (name, [text = ""]) => readCounts(name, text) };
}

export function flag(help: string): Option<boolean> {
  return { form: "", help, fallback: false, read: () => true };
}

export function text(form: string, help: string): Option<string | undefined> {
  return { form, help, fallback: undefined, read: (_, [given]) => given };
}

/** A text; the option may be repeated. */
export function texts(form: string, help: string): Option<readonly string[]> {
  return { form, help: `${help}; may be repeated`, isMany: true, fallback: [], read: (_, given) => given };
}

/** Some of the parts of a case; all by default. */
export function parts<const Name extends string>(names: readonly Name[]): Option<readonly Name[]> {
  return {
    form: "NAME",
    help: `${names.join(", ")}; may be repeated (default: all)`,
    isMany: true,
    fallback: names,
    read(option, given) {
      const unknown = given.find((name) => !names.some((known) => known === name));
      if (unknown !== undefined) throw new UsageError(`--${option} ${unknown}: not one of ${names.join(", ")}`);
      return names.filter((name) => given.includes(name));
    },
  };
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

/** The lines of a usage text that describe the options. */
export function formatOptions(options: Options): string {
  const heads = Object.entries(options).map(([name, { form }]) => `  --${name} ${form}`.trimEnd());
  const width = 2 + Math.max(...heads.map(({ length }) => length));
  return Object.values(options)
    .map(
      ({ help }, index) => `${heads[index]!.padEnd(width)}${wrap(help, 100 - width).join(`\n${" ".repeat(width)}`)}\n`,
    )
    .join("");
}

function wrap(words: string, width: number): string[] {
  const lines = [""];
  for (const word of words.split(" ")) {
    if (lines.at(-1) !== "" && lines.at(-1)!.length + 1 + word.length > width) lines.push("");
    lines.push(`${lines.pop()!} ${word}`.trimStart());
  }
  return lines;
}
