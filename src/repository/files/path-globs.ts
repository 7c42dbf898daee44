import type { StepBudget } from "../../format/step-budget.ts";
import { WildPattern } from "../../format/wildmatch.ts";

/** One glob. */
interface Glob {
  /** Without a slash at its end. */
  readonly text: string;
  /** Null: it stands for itself. */
  readonly wild: WildPattern | null;
  /** The directories and the file that it begins with, up to the first component with a wildcard. */
  readonly fixed: string;
}

/** Which paths some globs stand for, as `:(glob)` pathspecs do: each stands for the paths that it matches, and for all below a
 * directory that it names.
 * @see gitglossary(7) "pathspec" */
export class PathGlobs {
  readonly #globs: readonly Glob[];

  /** @param globs byte strings @param path byte string, a further one that stands for itself; without any, everything is stood for */
  constructor(globs: readonly string[], path = "") {
    const literal = path === "" ? [] : [{ text: path, wild: null, fixed: path }];
    const wild = globs.map((glob) => {
      const text = glob.replace(/\/+$/, "");
      const wildAt = text.search(/[*?[\\]/);
      const fixed = wildAt < 0 ? text : text.slice(0, text.lastIndexOf("/", wildAt) + 1);
      return { text, wild: new WildPattern(text), fixed };
    });
    this.#globs = [...literal, ...wild];
  }

  /** Whether a path is stood for, or, of a directory, something below it may be.
   * @param path byte string without a slash at its end
   * @throws GitError "too-large" when the budget is spent */
  leadsTo(path: string, isDirectory: boolean, budget?: StepBudget): boolean {
    if (this.#globs.length === 0) return true;
    return this.#globs.some(({ text, wild, fixed }) => {
      if (text === "" || path === text || path.startsWith(`${text}/`)) return true;
      if (!isDirectory) return wild?.matches(path, budget) ?? false;
      // The directory lies on the way to where the glob's wildcards begin, or behind.
      return fixed.startsWith(`${path}/`) || (wild !== null && `${path}/`.startsWith(fixed));
    });
  }
}
