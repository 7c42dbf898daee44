/** The options of the cases of `npm run bench` and of the checks of `verify` and `stress`. */
import { readWords, UsageError } from "./command-line.ts";

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

/** Options by name. */
export type Options = Readonly<Record<string, Option<unknown>>>;

/** The options' values by name. */
export type Values<Own extends Options> = {
  readonly [Name in keyof Own]: Own[Name] extends Option<infer Value> ? Value : never;
};

/** @throws UsageError unless the text is a whole number from `least` on */
function readCount(name: string, text: string, least = 1): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count >= least) return count;
  throw new UsageError(`--${name} ${text}: not a ${least > 0 ? "positive " : ""}whole number`);
}

/** A whole number.
 * @param least the minimum: 0, or 1 by default */
export function count<Fallback extends number | undefined>(
  help: string,
  fallback: Fallback,
  least = 1,
): Option<number | Fallback> {
  const told = fallback === undefined ? "" : ` (default ${fallback})`;
  return { form: "N", help: help + told, fallback, read: (name, [text = ""]) => readCount(name, text, least) };
}

/** Positive whole numbers, separated by commas. */
export function counts(help: string, fallback: readonly number[]): Option<readonly number[]> {
  const told = ` (default ${fallback.join()})`;
  return {
    form: "N,…",
    help: help + told,
    fallback,
    read: (name, [text = ""]) => text.split(",").map((part) => readCount(name, part)),
  };
}

/** A switch. */
export function flag(help: string): Option<boolean> {
  return { form: "", help, fallback: false, read: () => true };
}

/** Any text. */
export function text(form: string, help: string): Option<string | undefined> {
  return { form, help, fallback: undefined, read: (_, [given]) => given };
}

/** A text; the option may be repeated. */
export function texts(form: string, help: string): Option<readonly string[]> {
  return { form, help: `${help}; may be repeated`, isMany: true, fallback: [], read: (_, given) => given };
}

/** Some of the parts of a case or check; all by default. */
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

/** Reads the command line of a case or check.
 * @param operands as in `Words`
 * @throws UsageError if it is wrong */
export function readOptions<Own extends Options>(
  args: readonly string[],
  options: Own,
  operands = "",
): { readonly values: Values<Own>; readonly operands: string[] } {
  const config = Object.entries(options).map(
    ([name, { form }]) => [name, { type: form === "" ? "boolean" : "string", multiple: true }] as const,
  );
  const { values, positionals } = readWords(args, Object.fromEntries(config), operands);
  const read = Object.entries(options).map(([name, option]) => {
    const given = values[name] as string[] | undefined;
    if (given !== undefined && given.length > 1 && option.isMany !== true && option.form !== "")
      throw new UsageError(`--${name} is given ${given.length} times`);
    return [name, given === undefined ? option.fallback : option.read(name, given)];
  });
  return { values: Object.fromEntries(read) as Values<Own>, operands: positionals };
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
