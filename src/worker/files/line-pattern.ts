import { RE2JS, RE2JSException } from "re2js";
import { GitError } from "../../base/format/errors.ts";

/** Maximum number of instructions of a compiled pattern. Each may cost a step per character. */
const MAX_PROGRAM_SIZE = 5_000;

/** Maximum cost of locating a match in one line, in instructions times characters, at about 60 ns
 * each. */
const MAX_LINE_STEPS = 16_000_000;

const WORD = /[A-Za-z0-9_]/;

/** Options for matching lines. */
interface PatternOptions {
  /** RE2 syntax, or literal text if `fixed`. */
  readonly pattern: string;
  readonly fixed: boolean;
  readonly ignoreCase: boolean;
  /** Whether a match must begin and end at word boundaries. */
  readonly word: boolean;
}

/** The range of a match, in UTF-16 units from 0. */
interface LineMatch {
  readonly start: number;
  readonly end: number;
}

/** A pattern matched against one line at a time. Its time is proportional to the line's length
 * times the pattern's, and at most `MAX_LINE_STEPS`: a pattern of 64 instructions searches lines of
 * 256 KiB completely, one of 5,000 searches 3,200 characters.
 * @see https://github.com/google/re2/wiki/Syntax */
export class LinePattern {
  readonly #regex: RE2JS;
  readonly #word: boolean;
  readonly #programSize: number;
  #steps = 0;

  /** @throws GitError "invalid" when the pattern cannot be parsed, "too-large" when it compiles to
   * too many instructions */
  constructor({ pattern, fixed, ignoreCase, word }: PatternOptions) {
    const flags = (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0) | RE2JS.LONGEST_MATCH;
    try {
      this.#regex = RE2JS.compile(fixed ? RE2JS.quote(pattern) : pattern, flags);
    } catch (cause) {
      if (!(cause instanceof RE2JSException)) throw cause;
      throw new GitError("invalid", { what: "pattern", field: "pattern", reason: cause.message }, { cause });
    }
    this.#word = word;
    const actual = this.#regex.matcher("").programSize();
    if (actual > MAX_PROGRAM_SIZE)
      throw new GitError("too-large", { what: "the pattern", limit: MAX_PROGRAM_SIZE, actual });
    this.#programSize = actual;
  }

  /** The cost of all lines so far, in instructions times characters. */
  get steps(): number {
    return this.#steps;
  }

  /** Finds the first match in a line. Only the beginning of a line is searched if the line is too
   * long for the pattern.
   * @returns the start of the match; −1: none */
  find(whole: string): number {
    // Testing alone is several times faster than locating a match, whatever the pattern.
    this.#steps += whole.length;
    if (!this.#regex.test(whole)) return -1;
    for (const { start } of this.#matches(whole)) return start;
    return -1;
  }

  /** Finds the successive matches in a line, in the part that `find` searches.
   * @param most maximum number of matches */
  ranges(whole: string, most: number): LineMatch[] {
    const found: LineMatch[] = [];
    for (const match of this.#matches(whole)) if (match.end > match.start && found.push(match) === most) break;
    return found;
  }

  *#matches(whole: string): Generator<LineMatch, void, void> {
    const line = whole.slice(0, Math.floor(MAX_LINE_STEPS / this.#programSize));
    const matcher = this.#regex.matcher(line);
    const endSteps = this.#steps + MAX_LINE_STEPS;
    for (let from = 0; from <= line.length && this.#steps <= endSteps;) {
      // The matcher may read the whole rest of the line, whatever it finds.
      this.#steps += (line.length - from) * this.#programSize;
      if (!matcher.find(from)) break;
      const start = matcher.start();
      const end = matcher.end();
      if (!this.#word || (end > start && !isWord(line, start - 1) && !isWord(line, end))) {
        yield { start, end };
        from = Math.max(end, start + 1);
        continue;
      }
      // Continues at the next word, as git does.
      for (from = start + 1; from < line.length && isWord(line, from - 1);) from++;
      if (from === line.length) break;
    }
  }
}

function isWord(line: string, at: number): boolean {
  return WORD.test(line.charAt(at));
}
