/** A case of the benchmark, and the options that it knows. */
import { UsageError } from "../../command-line.ts";
import type { Bench } from "./bench.ts";
import type { Sample } from "./sample.ts";

/** Reads an option that is a positive whole number.
 * @throws UsageError if it is none */
export function readCount(name: string, text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new UsageError(`--${name} ${text}: not a positive whole number`);
  return count;
}

/** Reads an option that is a list of positive whole numbers: `1,5,20`.
 * @throws UsageError if it is none */
function readCounts(name: string, text: string): number[] {
  return text.split(",").map((part) => readCount(name, part));
}

/** An option: how it is written, what it is for, and what is read from it. */
export interface Option<Value> {
  /** What stands behind its name, as in `N`; empty for a flag. */
  readonly form: string;
  readonly help: string;
  readonly isMany?: boolean;
  /** Without it in the command line. */
  readonly fallback: Value;
  /** @throws UsageError if what was given makes no sense */
  read(name: string, given: readonly string[]): Value;
}

export type Options = Readonly<Record<string, Option<unknown>>>;

/** What a command line says. */
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

/** Positive whole numbers with commas between. */
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

/** A text that may be given several times. */
export function texts(form: string, help: string): Option<readonly string[]> {
  return { form, help: `${help}; may be repeated`, isMany: true, fallback: [], read: (_, given) => given };
}

/** Some of the parts of a case; all of them, unless told otherwise. */
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

/** What every case knows besides its own. */
export const COMMON = {
  csv: text("FILE", "writes every measured value there"),
  against: text(
    "FILE",
    "tells which figures differ from an earlier run, whose --csv that was, by more than the spread",
  ),
} satisfies Options;

/** Recorded rounds, of all cases. */
export function rounds(fallback: number): Option<number> {
  return count("recorded rounds, after one to warm up", fallback);
}

export const BUNDLE = texts(
  "FILE",
  "a history: a bundle, or any repository that git can clone (default: one is made up)",
);

/** What can be measured, by a name of its own. */
export interface Case {
  /** A line for the list of cases. */
  readonly summary: string;
  /** More, for who asks: lines of up to 100 columns. */
  readonly about: string;
  readonly options: Options;
  /** Measures that have percentiles in the table, as many clients or saves show them in a round. */
  readonly percentiles?: readonly string[];
  /** How the samples are written, where one table does not do. */
  readonly format?: (samples: readonly Sample[]) => string;
  /** @throws Error if nothing can be measured; what fails by itself is told by the bench */
  measure(values: Values<Options>, bench: Bench): Promise<void>;
}

/** A case, its options known by their types. */
export function defineCase<const Own extends Options>(
  own: Omit<Case, "options" | "measure"> & {
    readonly options: Own;
    measure(values: Values<Own>, bench: Bench): Promise<void>;
  },
): Case {
  return own as unknown as Case;
}

/** The options' lines of a usage text. */
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
