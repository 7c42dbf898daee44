import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import type { RepositoryState } from "./repository-state.ts";

/** Limit of the commits remembered per path: the tips of some branches. */
const COMMITS_PER_PATH = 4;

interface Entry<Found> {
  readonly found: Found;
  readonly sizeBytes: number;
}

/** A cache of walks' results for a path, each from one commit on, for the life of the repository's
 * object. A later walk that reaches that commit ends there: after a push it visits only new
 * commits. No result becomes outdated, since commits do not change. */
export class WalkMemory<Found> {
  readonly #limitBytes: number;
  /** Results by path, then by the commit's number. The last used are at the end. */
  readonly #paths = new Map<string, Map<ObjectNumber, Entry<Found>>>();
  #sizeBytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Bytes of all results. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Finds the result for a path from a commit on; undefined: none is cached. */
  find(path: string, commit: ObjectNumber): Found | undefined {
    return this.#paths.get(path)?.get(commit)?.found;
  }

  /** Caches a result. Evicts the least recently used ones.
   * @param path byte string
   * @param sizeBytes approximate size of the result */
  keep(path: string, commit: ObjectNumber, found: Found, sizeBytes: number): void {
    const commits = this.#paths.get(path) ?? new Map<ObjectNumber, Entry<Found>>();
    this.#paths.delete(path);
    this.#drop(commits, commit);
    const entry = { found, sizeBytes: sizeBytes + 2 * path.length };
    if (entry.sizeBytes <= this.#limitBytes) {
      commits.set(commit, entry);
      this.#sizeBytes += entry.sizeBytes;
    }
    if (commits.size > COMMITS_PER_PATH) this.#drop(commits, commits.keys().next().value!);
    if (commits.size > 0) this.#paths.set(path, commits);
    for (const [oldest, some] of this.#paths) {
      for (const one of some.keys()) if (this.#sizeBytes > this.#limitBytes) this.#drop(some, one);
      if (some.size > 0) break;
      this.#paths.delete(oldest);
    }
  }

  #drop(commits: Map<ObjectNumber, Entry<Found>>, commit: ObjectNumber): void {
    this.#sizeBytes -= commits.get(commit)?.sizeBytes ?? 0;
    commits.delete(commit);
  }
}

/** Makes the cache of one kind of walk: a function that gives each repository its own.
 * @param limitBytes limit per repository */
export function newWalkMemory<Found>(limitBytes: number): (state: RepositoryState) => WalkMemory<Found> {
  const memories = new WeakMap<RepositoryState, WalkMemory<Found>>();
  return (state) => {
    const memory = memories.get(state) ?? new WalkMemory<Found>(limitBytes);
    memories.set(state, memory);
    return memory;
  };
}
