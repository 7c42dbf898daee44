import { directoryOf, nameOf } from "./merged-path.ts";
import type { DirectoryRelevance } from "./rename-candidates.ts";

/** Stands for the directory to which a file went that has not been found yet. */
const UNKNOWN = "/";

/** Counts, for the directories that are gone from a side, to which others their files were renamed.
 * @see "dir_rename_count" in git's diffcore-rename.c */
export class DirectoryCounts {
  readonly #removed: Map<string, DirectoryRelevance>;
  readonly #counts = new Map<string, Map<string, number>>();

  /** @param removed the directories that are gone; once it is clear where one went, it no longer matters for itself */
  constructor(removed: Map<string, DirectoryRelevance>) {
    this.#removed = removed;
  }

  /** Counts a renamed file: for its directory, and for those above as long as only what is above them differs. */
  add(oldPath: string, newPath: string): void {
    let [from, to] = [directoryOf(oldPath), directoryOf(newPath)];
    for (let isFirst = true; this.#removed.has(from); isFirst = false) {
      const relevance = this.#removed.get(from)!;
      if (relevance === "self" || isFirst) this.#increment(from, to);
      if (relevance === "none" || to === "" || nameOf(from) !== nameOf(to)) return;
      [from, to] = [directoryOf(from), directoryOf(to)];
    }
  }

  /** Where most of a directory's files went so far; undefined: none was found. */
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

  /** Tells which sources still have to be looked for.
   * @param paths the sources that were not found yet
   * @returns whether one that matters for its directory's sake only can change where that went */
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

  /** For each directory that matters, to where how many of its files went. */
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

/** Whether most went to one directory wherever the unknown ones went. */
function isMajority(counts: ReadonlyMap<string, number>): boolean {
  const unknown = counts.get(UNKNOWN) ?? 0;
  const known = [...counts].filter(([to]) => to !== UNKNOWN).map(([, count]) => count);
  const [first = 0, second = 0] = known.sort((a, b) => b - a);
  return first > second + unknown;
}
