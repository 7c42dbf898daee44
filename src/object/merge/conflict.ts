import type { Versions } from "./merged-path.ts";
import type { ConflictKind, Hunk } from "../../base/format/conflict.ts";

/** A path that could not be merged. */
export interface Conflict {
  /** Byte string: the path in the merged tree. Differs from the original where a directory was in
   * the way. */
  readonly path: string;
  readonly kind: ConflictKind;
  /** Byte strings: other paths involved. */
  readonly related: readonly string[];
  /** The versions of base, ours and theirs, as in the index after `git merge`; null: none. */
  readonly versions: Versions;
  /** The conflicting parts of a text. */
  readonly hunks: readonly Hunk[];
  /** Whether there are more hunks, or more of their text. */
  readonly isTruncated: boolean;
}

/** Collects the conflicts of a merge. */
export class ConflictList {
  readonly #causes = new Map<string, { kind: ConflictKind; related: readonly string[] }>();
  readonly #hunks = new Map<string, { hunks: readonly Hunk[]; isTruncated: boolean }>();
  readonly #paths = new Map<string, Versions>();

  /** Records why a path may be in conflict. The first cause counts.
   * @param related other paths involved */
  blame(path: string, kind: ConflictKind, related: readonly string[] = []): void {
    if (!this.#causes.has(path)) this.#causes.set(path, { kind, related });
  }

  /** Records the conflicting parts of a text. */
  addHunks(path: string, { hunks, isTruncated }: Pick<Conflict, "hunks" | "isTruncated">): void {
    this.#hunks.set(path, { hunks, isTruncated });
  }

  /** Records that a path is in conflict. */
  add(path: string, versions: Versions): void {
    this.#paths.set(path, [...versions]);
  }

  /** Records a conflict at a path whose own versions need not conflict. */
  addAside(path: string, kind: ConflictKind, related: readonly string[] = []): void {
    this.blame(path, kind, related);
    this.add(path, [null, null, null]);
  }

  /** The conflicts, by path. */
  all(): Conflict[] {
    return Array.from(this.#paths, ([path, versions]) => ({
      path,
      ...(this.#causes.get(path) ?? { kind: "content" as const, related: [] }),
      versions,
      ...(this.#hunks.get(path) ?? { hunks: [], isTruncated: false }),
    })).sort((a, b) => (a.path < b.path ? -1 : 1));
  }
}
