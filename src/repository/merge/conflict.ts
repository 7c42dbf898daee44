import type { Versions } from "./merged-path.ts";

/** Why a path could not be merged. */
export type ConflictKind =
  /** Both sides changed the same lines. */
  | "content"
  /** Both sides added the file, with different contents. */
  | "add/add"
  /** Both sides changed a file that is no text. */
  | "binary"
  /** Both sides changed a file that is too large to be merged. */
  | "too large"
  /** Both sides changed the mode. */
  | "mode"
  /** Both sides changed a symbolic link. */
  | "symlink"
  /** Both sides changed a gitlink. */
  | "submodule"
  /** One side deleted what the other changed. */
  | "modify/delete"
  /** One side has a file where the other has a directory. */
  | "file/directory"
  /** The sides have different kinds of file. */
  | "distinct types"
  /** One side deleted what the other renamed. */
  | "rename/delete"
  /** The sides renamed a file to different paths. */
  | "rename/rename"
  /** A renamed file that is in conflict itself meets another one. */
  | "rename collides"
  /** One side put a file into a directory that the other renamed. */
  | "file location"
  /** Something lies where a file should follow its renamed directory. */
  | "directory rename in the way"
  /** Several files would follow their renamed directories to one path. */
  | "directory rename collision"
  /** A directory's files were renamed to several directories, none of which got most. */
  | "directory rename split";

/** Some lines of a side. */
export interface HunkLines {
  /** The first of them, counted from 1; of none: the line before which they would be. */
  readonly start: number;
  readonly count: number;
  /** Text; the beginning of it when it is long. */
  readonly text: string;
}

/** Lines that both sides changed. */
export interface Hunk {
  readonly base: HunkLines;
  readonly ours: HunkLines;
  readonly theirs: HunkLines;
}

/** A path that could not be merged. */
export interface Conflict {
  /** Byte string: where it lies in the merged tree, which may be beside a directory that is in its way. */
  readonly path: string;
  readonly kind: ConflictKind;
  /** Byte strings: other paths that have to do with it. */
  readonly related: readonly string[];
  /** What the base, ours and theirs have, as the index of `git merge` would show it; null: nothing. */
  readonly versions: Versions;
  /** Where a text is in conflict. */
  readonly hunks: readonly Hunk[];
  /** Whether there are more hunks, or more of their text. */
  readonly isCut: boolean;
}

/** Gathers the conflicts of a merge. */
export class ConflictList {
  readonly #causes = new Map<string, { kind: ConflictKind; related: readonly string[] }>();
  readonly #hunks = new Map<string, { hunks: readonly Hunk[]; isCut: boolean }>();
  readonly #paths = new Map<string, Versions>();

  /** Notes why a path may be in conflict; the first cause counts.
   * @param related other paths that have to do with it */
  blame(path: string, kind: ConflictKind, related: readonly string[] = []): void {
    if (!this.#causes.has(path)) this.#causes.set(path, { kind, related });
  }

  /** Notes where a text is in conflict. */
  addHunks(path: string, { hunks, isCut }: Pick<Conflict, "hunks" | "isCut">): void {
    this.#hunks.set(path, { hunks, isCut });
  }

  /** Notes that a path is in conflict. */
  add(path: string, versions: Versions): void {
    this.#paths.set(path, [...versions]);
  }

  /** Notes a conflict at a path that need not be in conflict itself. */
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
      ...(this.#hunks.get(path) ?? { hunks: [], isCut: false }),
    })).sort((a, b) => (a.path < b.path ? -1 : 1));
  }
}
