import { directoryOf, nameOf } from "./merged-path.ts";
import type { DirectoryRelevance } from "./rename-candidates.ts";

/** Used for the unknown target directory of a file that has not been found yet. */
const UNKNOWN = "/";

/** For the directories removed from a side, counts to which directories their files were renamed.
 * @see "dir_rename_count" in git's diffcore-rename.c */
export class DirectoryCounts {
  readonly #removed: Map<string, DirectoryRelevance>;
  readonly #counts = new Map<string, Map<string, number>>();

  /** @param removed the removed directories; entries are downgraded once a directory's target is
   * certain */
  constructor(removed: Map<string, DirectoryRelevance>) {
    this.#removed = removed;
  }

  /** Counts a renamed file: for its directory, and for the parent directories as long as the names
   * below are the same. */
  add(oldPath: string, newPath: string): void {
    let [from, to] = [directoryOf(oldPath), directoryOf(newPath)];
    for (let isFirst = true; this.#removed.has(from); isFirst = false) {
      const relevance = this.#removed.get(from)!;
      if (relevance === "self" || isFirst) this.#increment(from, to);
      if (relevance === "none" || to === "" || nameOf(from) !== nameOf(to)) return;
      [from, to] = [directoryOf(from), directoryOf(to)];
    }
  }

  /** The most frequent target of a directory's files so far; undefined: none was found. */
  guess(directory: string): string | undefined {
    let best: string | undefined;
    let most = 0;
    for (const [to, count] of this.#counts.get(directory) ?? []) {
      if (count <= most) continue;
      best = to;
      most = count;
    }
    return best;
  }

  /** Decides which sources still have to be searched.
   * @param paths the sources that were not found yet
   * @returns whether a source that matters only for its directory can still change the result */
  decideEarly(paths: readonly string[]): (path: string) => boolean {
    for (const path of paths) {
      for (let from = directoryOf(path); from !== "" && this.#matters(from); from = directoryOf(from)) {
        this.#increment(from, UNKNOWN);
      }
    }
    for (const [directory, counts] of this.#counts) {
      if (this.#removed.get(directory) === "self" && isMajority(counts)) this.#removed.set(directory, "ancestor");
    }
    return (path) => {
      for (let from = directoryOf(path); this.#matters(from); from = directoryOf(from)) {
        if (this.#removed.get(from) === "self") return true;
      }
      return false;
    };
  }

  /** For each directory that matters, the number of its files by target directory. */
  *all(): Generator<[directory: string, counts: ReadonlyMap<string, number>]> {
    for (const [directory, counts] of this.#counts) {
      counts.delete(UNKNOWN);
      if (this.#matters(directory)) yield [directory, counts];
    }
  }

  #matters(directory: string): boolean {
    return (this.#removed.get(directory) ?? "none") !== "none";
  }

  #increment(from: string, to: string): void {
    const counts = this.#counts.get(from) ?? new Map<string, number>();
    counts.set(to, (counts.get(to) ?? 0) + 1);
    this.#counts.set(from, counts);
  }
}

/** Whether one directory has the majority, whatever the unknown targets are. */
function isMajority(counts: ReadonlyMap<string, number>): boolean {
  const unknown = counts.get(UNKNOWN) ?? 0;
  const known = [...counts].filter(([to]) => to !== UNKNOWN).map(([, count]) => count);
  const [first = 0, second = 0] = known.sort((a, b) => b - a);
  return first > second + unknown;
}
