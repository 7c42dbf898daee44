import type { Versions } from "./merged-path.ts";

/** Why a path could not be merged. */
export type ConflictKind =
  /** Both sides changed the same lines. */
  | "content"
  /** Both sides added the file, with different contents. */
  | "add/add"
  /** Both sides changed a binary file. */
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
  /** The sides have different types of file. */
  | "distinct types"
  /** One side deleted what the other renamed. */
  | "rename/delete"
  /** The sides renamed a file to different paths. */
  | "rename/rename"
  /** A renamed file that is in conflict itself collides with another one. */
  | "rename collides"
  /** One side put a file into a directory that the other renamed. */
  | "file location"
  /** A path is taken where a file should follow its renamed directory. */
  | "directory rename in the way"
  /** Several files would follow their renamed directories to one path. */
  | "directory rename collision"
  /** A directory's files were renamed to several directories, none of which got most. */
  | "directory rename split";

/** Some lines of a side. */
export interface HunkLines {
  /** The first line, counted from 1. If there are none, the line before which they would be. */
  readonly start: number;
  readonly count: number;
  /** Text, cut when it is long. */
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
