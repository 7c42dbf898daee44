import type { StepBudget } from "../../base/format/step-budget.ts";
import { WildPattern } from "../../base/format/wildmatch.ts";

/** A step compares so many bytes of a path with a glob's beginning, as a power of two. */
const BYTES_PER_STEP_BITS = 6;

/** One glob. */
interface Glob {
  /** Without a trailing slash. */
  readonly text: string;
  /** The same with a slash: what everything below it begins with. */
  readonly below: string;
  /** Null: `text` is literal. */
  readonly wild: WildPattern | null;
  /** The literal directories and file that it begins with, up to the first component with a
   * wildcard. */
  readonly fixed: string;
}

/** A set of `:(glob)` pathspecs. Each glob covers the paths that it matches, and everything below a
 * directory that it names.
 * @see gitglossary(7) "pathspec" */
export class PathGlobs {
  readonly #globs: readonly Glob[];

  /** @param globs byte strings @param path byte string, one more path, taken literally; without
   * globs and path everything is covered */
  constructor(globs: readonly string[], path = "") {
    const literal = path === "" ? [] : [{ text: path, below: `${path}/`, wild: null, fixed: path }];
    const wild = globs.map((glob) => {
      const text = glob.replace(/\/+$/, "");
      const wildAt = text.search(/[*?[\\]/);
      const fixed = wildAt < 0 ? text : text.slice(0, text.lastIndexOf("/", wildAt) + 1);
      return { text, below: `${text}/`, wild: new WildPattern(text), fixed };
    });
    this.#globs = [...literal, ...wild];
  }

  /** Whether a path is covered or, for a directory, something below it may be.
   * @param path byte string without a trailing slash
   * @throws GitError "too-large" when the budget is spent */
  mayMatchBelow(path: string, isDirectory: boolean, budget?: StepBudget): boolean {
    if (this.#globs.length === 0) return true;
    return this.#globs.some(({ text, below, wild, fixed }) => {
      budget?.spend(1 + (path.length >>> BYTES_PER_STEP_BITS));
      if (text === "" || path === text || path.startsWith(below)) return true;
      if (!isDirectory) return wild?.matches(path, budget) ?? false;
      // The directory is on the way to where the glob's wildcards begin, or below that.
      return fixed.startsWith(`${path}/`) || (wild !== null && `${path}/`.startsWith(fixed));
    });
  }
}
