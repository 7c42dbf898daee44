// Code as HTML, coloured by token.
import { StepBudget } from "../../../base/format/step-budget.ts";
import { StringStream } from "@codemirror/streamparser";
import { escapeText } from "./code.tsx";
import type { CodeLanguage } from "./code-languages.ts";

/** Characters of a text that are coloured: more would take longer than a reader waits. */
export const MAX_COLOURED_CHARS = 256 * 1024;

/** Maximum length of a coloured line, in characters. */
const MAX_LINE_CHARS = 500;

/** Maximum number of characters examined: a tokenizer may examine the whole rest of the line for
 * each token. A text of 1,000 lines needs some 300,000. */
const MAX_LOOKS = 6_000_000;

/** Maximum number of objects in a tokenizer's state: it may search all of them for each word. A
 * text of 4,000 lines has some 100. */
const MAX_STATE_OBJECTS = 2_000;

/** Characters read between two counts of the state. */
const CHARS_PER_COUNT = 2_048;

/** Maximum number of successive steps of a tokenizer that change only its state; then a character
 * is skipped. */
const MAX_STILL_STEPS = 10;

/** Columns of a tab and of an indentation, for tokenizers. */
const TAB_COLUMNS = 8;
const INDENT_COLUMNS = 2;

/** Classes of the style sheet, by the first word of a token's name. */
const CLASSES: Readonly<Record<string, string>> = {
  comment: "hc",
  string: "hs",
  character: "hs",
  regexp: "hs",
  quote: "hs",
  url: "hs",
  keyword: "hk",
  modifier: "hk",
  self: "hk",
  atom: "hn",
  bool: "hn",
  null: "hn",
  number: "hn",
  unit: "hn",
  color: "hn",
  builtin: "hb",
  macroName: "hb",
  type: "ht",
  typeName: "ht",
  className: "ht",
  namespace: "ht",
  tag: "ht",
  tagName: "ht",
  def: "hd",
  header: "hd",
  heading: "hd",
  attribute: "ha",
  attributeName: "ha",
  labelName: "ha",
  meta: "hm",
  annotation: "hm",
  processingInstruction: "hm",
  inserted: "hi",
  deleted: "hx",
};

/** Makes the work budget of one text. Several parts of a text may share it. */
export function lookBudget(): StepBudget {
  return new StepBudget(MAX_LOOKS, "colours (chars looked at)");
}

/** Colours the lines of one text, in order. All text in its output is escaped. */
export class Highlighter {
  readonly #language: CodeLanguage | null;
  readonly #looks: StepBudget;
  #state: unknown;
  #charsLeft = MAX_COLOURED_CHARS;
  #uncountedChars = 0;
  #isGivenUp = false;

  /** @param language null: lines are only escaped */
  constructor(language: CodeLanguage | null, looks = lookBudget()) {
    this.#language = language;
    this.#looks = looks;
    this.#state = language?.startState?.(INDENT_COLUMNS) ?? {};
  }

  /** Whether lines are left without colours: there are too many, one is too long, or the tokenizer
   * cannot read them. */
  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  /** Colours a line.
   * @param text of a line without its end, with hidden characters written out
   * @returns HTML; no element in it continues on the next line */
  line(text: string): string {
    if (this.#language === null || this.#charsLeft <= 0) return escapeText(text);
    this.#charsLeft -= text.length + 1;
    if (text.length > MAX_LINE_CHARS || this.#charsLeft <= 0) {
      this.#isGivenUp = true;
      return escapeText(text);
    }
    try {
      this.#count(text);
      return this.#read(this.#language, text);
    } catch {
      // The budget is spent, or the tokenizer, which was written for editors, has failed.
      this.#giveUp();
      return escapeText(text);
    }
  }

  #read(language: CodeLanguage, text: string): string {
    if (text === "") {
      language.blankLine?.(this.#state, INDENT_COLUMNS);
      return "";
    }
    const stream = new StringStream(text, TAB_COLUMNS, INDENT_COLUMNS);
    let html = "";
    let [start, shown] = [0, ""];
    const write = (end: number): void => {
      const part = escapeText(text.slice(start, end));
      html += shown === "" ? part : `<span class="${shown}">${part}</span>`;
      start = end;
    };
    while (!stream.eol()) {
      const from = stream.pos;
      const name = classOf(this.#readToken(language, stream));
      if (name === shown) continue;
      write(from);
      shown = name;
    }
    write(text.length);
    return html;
  }

  /** @returns the token's name; null: plain text */
  #readToken(language: CodeLanguage, stream: StringStream): string | null {
    const from = (stream.start = stream.pos);
    for (let step = 0; step < MAX_STILL_STEPS; step++) {
      this.#looks.spend(stream.string.length - from);
      const name = language.token(stream, this.#state);
      if (stream.pos > from) return name;
    }
    stream.pos = from + 1;
    return null;
  }

  #count(text: string): void {
    this.#uncountedChars += text.length + 1;
    if (this.#uncountedChars < CHARS_PER_COUNT) return;
    this.#uncountedChars = 0;
    if (hasMoreObjects(this.#state, MAX_STATE_OBJECTS)) throw new RangeError("the tokenizer's state grows");
  }

  #giveUp(): void {
    this.#charsLeft = 0;
    this.#isGivenUp = true;
  }
}

/** Colours a whole text.
 * @param code with LF at the ends of lines, hidden characters written out
 * @returns HTML with the same number of lines; whether some lines have no colours */
export function highlight(
  code: string,
  language: CodeLanguage | null,
  looks = lookBudget(),
): { html: string; isPartial: boolean } {
  if (language === null) return { html: escapeText(code), isPartial: false };
  if (code.length > MAX_COLOURED_CHARS) return { html: escapeText(code), isPartial: true };
  const highlighter = new Highlighter(language, looks);
  const lines = code.split("\n").map((line) => highlighter.line(line));
  return { html: lines.join("\n"), isPartial: highlighter.isGivenUp };
}

const classes = new Map<string, string>();

/** @param name as tokenizers write it: words, with more after a dot */
function classOf(name: string | null | undefined): string {
  if (name === null || name === undefined) return "";
  let found = classes.get(name);
  if (found === undefined) {
    const [first = ""] = name.split(/[ .]/, 1);
    found = name.endsWith(".definition") ? CLASSES["def"]! : Object.hasOwn(CLASSES, first) ? CLASSES[first]! : "";
    // Tokenizers use a few hundred names.
    if (classes.size < 1_000) classes.set(name, found);
  }
  return found;
}

/** Whether more objects than a limit are reachable from a value. */
function hasMoreObjects(value: unknown, limit: number): boolean {
  const seen = new Set<object>();
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next !== "object" || next === null || seen.has(next)) continue;
    seen.add(next);
    if (seen.size > limit) return true;
    if (Array.isArray(next)) {
      if (next.length > limit) return true;
    }
    for (const child of Object.values(next)) pending.push(child);
  }
  return false;
}
