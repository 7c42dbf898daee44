import { toByteString } from "./byte-string.ts";
import type { StepBudget } from "./step-budget.ts";
import { WildPattern } from "./wildmatch.ts";

/** Bytes of a line; git ignores what is longer. @see git's attr.h: ATTR_MAX_LINE_LENGTH */
const MAX_LINE_BYTES = 2_048;

/** What an attribute is for a path: set, unset, or a value. Unspecified ones are not there. */
export type Attributes = ReadonlyMap<string, true | false | string>;

/** An attribute in a line; null: unspecified again. */
interface Assignment {
  readonly name: string;
  readonly value: true | false | string | null;
}

interface Rule {
  readonly directoriesOnly: boolean;
  /** Has no slash within: it is held against the last component alone, at any depth. */
  readonly basenameOnly: boolean;
  readonly wild: WildPattern;
  readonly assignments: readonly Assignment[];
}

/** What git itself defines. */
const BUILT_IN: readonly (readonly [string, readonly Assignment[]])[] = [
  ["binary", ["diff", "merge", "text"].map((name) => ({ name, value: false }))],
];

/** The attributes that a tree's `.gitattributes` files give to its paths.
 * @see gitattributes(5), git's attr.c */
export class TreeAttributes {
  /** Rules by directory, which ends in "/"; "" is the root. */
  readonly #rules = new Map<string, readonly Rule[]>();
  readonly #macros = new Map<string, readonly Assignment[]>(BUILT_IN);

  /** Takes in the file of a directory.
   * @param directory byte string that ends in "/", "" for the root: only that file may define macros */
  add(directory: string, content: Uint8Array): void {
    const rules: Rule[] = [];
    for (const line of toByteString(content)
      .replace(/^\xef\xbb\xbf/, "")
      .split("\n")) {
      if (line.length >= MAX_LINE_BYTES) continue;
      const parsed = parseLine(line.replace(/\r$/, ""));
      if (parsed === null) continue;
      const { pattern, assignments } = parsed;
      if (!parsed.isMacro) rules.push({ ...toRule(pattern), assignments });
      else if (directory === "") this.#macros.set(pattern, assignments);
    }
    this.#rules.set(directory, rules);
  }

  /** The attributes of a path.
   * @param path byte string, without a slash at its end
   * @throws GitError "too-large" when the budget is spent */
  of(path: string, isDirectory: boolean, budget?: StepBudget): Attributes {
    const decided = new Map<string, true | false | string | null>();
    // The nearest file decides, and in it the last line.
    for (let end = path.lastIndexOf("/") + 1; ; end = path.lastIndexOf("/", end - 2) + 1) {
      const below = path.slice(end);
      const basename = path.slice(path.lastIndexOf("/") + 1);
      for (const rule of (this.#rules.get(path.slice(0, end)) ?? []).toReversed()) {
        if (rule.directoriesOnly && !isDirectory) continue;
        if (rule.wild.matches(rule.basenameOnly ? basename : below, budget)) this.#decide(rule.assignments, decided);
      }
      if (end === 0) break;
    }
    return new Map([...decided].filter(([, value]) => value !== null)) as Attributes;
  }

  /** What is decided already stays; a macro that is set brings what it stands for. */
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
  // Patterns that take back are forbidden, and ignored.
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
