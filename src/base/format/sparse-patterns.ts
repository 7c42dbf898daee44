import { toByteString } from "./byte-string.ts";
import { checkLimit, MAX_SPARSE_FILE_BYTES, MAX_SPARSE_PATTERNS } from "./limits.ts";
import type { StepBudget } from "./step-budget.ts";
import { WildPattern } from "./wildmatch.ts";

const BYTE_ORDER_MARK = "\xef\xbb\xbf";

/** A path's state. An undecided path has the state of its directory, or is excluded if no
 * directory decides. */
export type SparseMatch = "include" | "exclude" | "undecided";

interface SparsePattern {
  /** Whether the pattern begins with `!`: matching paths are excluded. */
  readonly negative: boolean;
  /** Whether the pattern ends with a slash: it matches directories only. */
  readonly directoriesOnly: boolean;
  /** Whether the pattern has no slash: it is matched with the last component only, at any depth. */
  readonly basenameOnly: boolean;
  readonly wild: WildPattern;
}

/** The patterns of a sparse-checkout file, in order. */
export class SparsePatterns {
  readonly #patterns: readonly SparsePattern[];

  /** @see parseSparsePatterns */
  constructor(patterns: readonly SparsePattern[]) {
    this.#patterns = patterns;
  }

  /** Finds the last pattern that matches a path. Takes at most time in proportion to the patterns'
   * bytes times the path's.
   * @param path byte string without a slash at either end; empty for a root tree
   * @param basename last component of the path
   * @throws GitError "too-large" when the budget is spent */
  match(path: string, basename: string, isDirectory: boolean, budget?: StepBudget): SparseMatch {
    const found = this.#patterns.findLast(
      ({ directoriesOnly, basenameOnly, wild }) =>
        (isDirectory || !directoriesOnly) &&
        (basenameOnly ? wild.matches(basename, budget) : path !== "" && wild.matches(path, budget)),
    );
    if (found === undefined) return "undecided";
    return found.negative ? "exclude" : "include";
  }
}

/** Parses a sparse-checkout file, whose grammar is .gitignore's. Never in cone mode.
 * @throws GitError "too-large" for a long file, or too many patterns
 * @see gitignore(5), git's dir.c (add_patterns_from_buffer, parse_path_pattern) */
export function parseSparsePatterns(content: Uint8Array): SparsePatterns {
  checkLimit("the sparse-checkout file", MAX_SPARSE_FILE_BYTES, content.length);
  let text = toByteString(content);
  if (text.startsWith(BYTE_ORDER_MARK)) text = text.slice(BYTE_ORDER_MARK.length);
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  checkLimit("the number of sparse patterns", MAX_SPARSE_PATTERNS, lines.length);
  return new SparsePatterns(lines.map((line) => parsePattern(trimLine(line))));
}

/** Removes the parts that git ignores: everything from a NUL on, one carriage return, trailing
 * spaces unless escaped. */
function trimLine(line: string): string {
  const [seen = ""] = line.replace(/\r$/, "").split("\0", 1);
  let end = 0;
  for (let at = 0; at < seen.length; at++) {
    if (seen[at] === " ") continue;
    if (seen[at] === "\\") at += 1;
    end = at + 1;
  }
  return seen.slice(0, end);
}

/** An empty pattern (a line of only `!`, `/` or spaces) matches root trees. */
function parsePattern(line: string): SparsePattern {
  const negative = line.startsWith("!");
  const pattern = negative ? line.slice(1) : line;
  const directoriesOnly = pattern.endsWith("/");
  const body = directoriesOnly ? pattern.slice(0, -1) : pattern;
  const basenameOnly = !body.includes("/");
  return { negative, directoriesOnly, basenameOnly, wild: new WildPattern(body.replace(/^\//, "")) };
}
