import { SLASH } from "./byte-string.ts";
import type { StepBudget } from "./step-budget.ts";

// Git's shell patterns, on byte strings (see byte-string.ts). A pattern is compiled into steps, and
// a text is matched against all ways through them at once, so that the time is at most the product
// of both lengths. Git backtracks, so that hostile patterns take it longer.

// A step of a compiled pattern: a literal byte, one of the codes below, or `FIRST_SET` and more for
// a set of bytes.
const ANY_BYTE = 0x100;
const STAR = 0x101;
const STAR_STAR = 0x102;
// Two stars and a slash: nothing, or (by the two steps after this one) everything up to a slash.
const LEADING_DIRS = 0x103;
const NEVER = 0x104;
const FIRST_SET = 0x200;

const LEADING_DIRS_STEPS = 3;

/** Cost of starting a match, in addition to the memory that is cleared for it. */
const START_STEPS = 12;

/** Cost of a byte of text, in addition to the steps that are followed on it: as much again with
 * one step. */
const BYTE_STEPS = 1;

/** The bytes of each `[:class:]`, in pairs of first and last, as in git's own locale-free
 * tables. */
const CLASSES: ReadonlyMap<string, string> = new Map([
  ["alnum", "09AZaz"],
  ["alpha", "AZaz"],
  ["blank", "\t\t  "],
  ["cntrl", "\0\x1f\x7f\x7f"],
  ["digit", "09"],
  ["graph", "!~"],
  ["lower", "az"],
  ["print", " ~"],
  ["punct", "!/:@[`{~"],
  ["space", "\t\n\r\r  "],
  ["upper", "AZ"],
  ["xdigit", "09AFaf"],
]);

/** One compiled pattern: `?` and `*` stop at slashes, `**` between slashes does not, `[…]` and `\`
 * work as in a shell. An invalid pattern (an open bracket, an unknown class, a `\` at the end)
 * matches nothing.
 * @see git's wildmatch.c with WM_PATHNAME */
export class WildPattern {
  /** The literal bytes at the start of every match. */
  readonly #prefix: string;
  /** The literal bytes at the end of every match: they exclude most texts at once. */
  readonly #suffix: string;
  /** The steps after the prefix. */
  readonly #steps: readonly number[];
  readonly #sets: readonly ByteSet[];
  /** Steps reached by the bytes so far, steps reached by the next byte, and for each step the last
   * text position at which it was reached. */
  #reached: number[] = [];
  #next: number[] = [];
  readonly #reachedAt: Int32Array;

  /** @param pattern without NUL */
  constructor(pattern: string) {
    const { steps, sets } = compile(pattern);
    const firstWild = steps.findIndex((step) => step >= ANY_BYTE);
    const prefixLength = firstWild < 0 ? steps.length : firstWild;
    this.#prefix = toText(steps.slice(0, prefixLength));
    this.#suffix = toText(steps.slice(Math.max(prefixLength, suffixStart(steps))));
    this.#steps = steps.slice(prefixLength);
    this.#sets = sets;
    this.#reachedAt = new Int32Array(this.#steps.length + 1);
  }

  /** Whether the pattern matches the whole text.
   * @param budget pays the cost
   * @throws GitError "too-large" when the budget is spent */
  matches(text: string, budget?: StepBudget): boolean {
    budget?.spend(1);
    if (!text.startsWith(this.#prefix) || !text.endsWith(this.#suffix)) return false;
    if (this.#steps.length === 0) return text.length === this.#prefix.length;
    budget?.spend(START_STEPS + (this.#steps.length >>> 4));
    this.#reachedAt.fill(-1);
    this.#next.length = 0;
    this.#reach(0, this.#prefix.length);
    for (let at = this.#prefix.length; at < text.length; at++) {
      [this.#reached, this.#next] = [this.#next, this.#reached];
      if (this.#reached.length === 0) return false;
      this.#next.length = 0;
      budget?.spend(BYTE_STEPS + this.#reached.length);
      for (const step of this.#reached) this.#take(step, text.charCodeAt(at), at + 1);
    }
    return this.#reachedAt[this.#steps.length] === text.length;
  }

  /** Follows one step with one byte; `at` is the position after the byte. */
  #take(step: number, byte: number, at: number): void {
    const what = this.#steps[step];
    if (what === undefined) return;
    if (what === STAR_STAR || (what === STAR && byte !== SLASH)) this.#reach(step, at);
    else if (what === byte || (what === ANY_BYTE && byte !== SLASH)) this.#reach(step + 1, at);
    else if (what >= FIRST_SET && byte !== SLASH && this.#sets[what - FIRST_SET]!.has(byte)) this.#reach(step + 1, at);
  }

  /** Marks a step as reached at a text position, and the following steps as long as they may
   * match nothing. */
  #reach(first: number, at: number): void {
    // A loop instead of recursion: many steps in a row may match nothing.
    for (let step = first; this.#reachedAt[step] !== at;) {
      this.#reachedAt[step] = at;
      this.#next.push(step);
      const what = this.#steps[step];
      if (what === LEADING_DIRS) {
        this.#reach(step + 1, at);
        step += LEADING_DIRS_STEPS;
      } else if (what === STAR || what === STAR_STAR) step += 1;
      else return;
    }
  }
}

function toText(bytes: readonly number[]): string {
  return bytes.map((byte) => String.fromCharCode(byte)).join("");
}

/** Finds the start of the literal end of every match: after the last wildcard and its slash. */
function suffixStart(steps: readonly number[]): number {
  const lastWild = steps.findLastIndex((step) => step >= ANY_BYTE);
  return steps[lastWild - 1] === LEADING_DIRS ? lastWild + 2 : lastWild + 1;
}

/** The bytes in a `[…]`. */
class ByteSet {
  readonly #negated: boolean;
  /** One bit per byte value. */
  readonly #listed = new Uint8Array(32);

  constructor(negated: boolean) {
    this.#negated = negated;
  }

  add(first: number, last = first): void {
    for (let byte = first; byte <= last; byte++) this.#listed[byte >>> 3]! |= 1 << (byte & 7);
  }

  addPairs(pairs: string): void {
    for (let at = 0; at < pairs.length; at += 2) this.add(pairs.charCodeAt(at), pairs.charCodeAt(at + 1));
  }

  has(byte: number): boolean {
    return ((this.#listed[byte >>> 3]! & (1 << (byte & 7))) !== 0) !== this.#negated;
  }
}

function compile(pattern: string): { steps: number[]; sets: ByteSet[] } {
  const steps: number[] = [];
  const sets: ByteSet[] = [];
  for (let at = 0; at < pattern.length;) {
    const char = pattern[at]!;
    if (char === "*") {
      const end = endOfStars(pattern, at);
      for (const step of compileStars(pattern, at, end)) steps.push(step);
      at = steps.at(-1) === SLASH ? end + 1 : end;
    } else if (char === "[") {
      const bracket = readBracket(pattern, at);
      // An invalid bracket makes the whole pattern match nothing.
      if (bracket === null) return { steps: [...steps, NEVER], sets };
      steps.push(FIRST_SET + sets.length);
      sets.push(bracket.set);
      at = bracket.end;
    } else if (char === "\\") {
      steps.push(at + 1 < pattern.length ? pattern.charCodeAt(at + 1) : NEVER);
      at += 2;
    } else {
      steps.push(char === "?" ? ANY_BYTE : pattern.charCodeAt(at));
      at += 1;
    }
  }
  return { steps, sets };
}

function endOfStars(pattern: string, at: number): number {
  let end = at;
  while (pattern[end] === "*") end += 1;
  return end;
}

/** Two or more stars cross slashes if they fill a whole component; otherwise they act as one. */
function compileStars(pattern: string, at: number, end: number): number[] {
  const fromBoundary = at === 0 || pattern[at - 1] === "/";
  const toBoundary = end === pattern.length || pattern[end] === "/" || pattern.startsWith("\\/", end);
  if (end - at === 1 || !fromBoundary || !toBoundary) return [STAR];
  return pattern[end] === "/" ? [LEADING_DIRS, STAR_STAR, SLASH] : [STAR_STAR];
}

/** Parses a `[…]`.
 * @returns the set and the offset after it, or null if it does not end or names an unknown class */
function readBracket(pattern: string, start: number): { set: ByteSet; end: number } | null {
  const negated = pattern[start + 1] === "!" || pattern[start + 1] === "^";
  const set = new ByteSet(negated);
  const first = start + (negated ? 2 : 1);
  /** The start of a range if `-` follows; null after a range or a class. */
  let rangeFrom: number | null = null;
  for (let at = first; at < pattern.length;) {
    // A bracket at the very beginning is an ordinary byte.
    if (pattern[at] === "]" && at > first) return { set, end: at + 1 };
    const isRange: boolean = rangeFrom !== null && pattern[at] === "-" && (pattern[at + 1] ?? "]") !== "]";
    const classEnd = !isRange && pattern.startsWith("[:", at) ? pattern.indexOf("]", at + 2) : -1;
    if (isRange) {
      if (pattern[++at] === "\\") at += 1;
      if (at >= pattern.length) return null;
      set.add(rangeFrom!, pattern.charCodeAt(at));
      rangeFrom = null;
    } else if (classEnd > at + 2 && pattern[classEnd - 1] === ":") {
      const pairs = CLASSES.get(pattern.slice(at + 2, classEnd - 1));
      if (pairs === undefined) return null;
      set.addPairs(pairs);
      rangeFrom = null;
      at = classEnd;
    } else {
      if (pattern[at] === "\\") at += 1;
      if (at >= pattern.length) return null;
      rangeFrom = pattern.charCodeAt(at);
      set.add(rangeFrom);
    }
    at += 1;
  }
  return null;
}
