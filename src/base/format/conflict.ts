/** The reason why a path could not be merged. */
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
  /** One side deleted the file that the other changed. */
  | "modify/delete"
  /** One side has a file where the other has a directory. */
  | "file/directory"
  /** The sides have different types of file. */
  | "distinct types"
  /** One side deleted the file that the other renamed. */
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
  /** A directory's files were renamed to several directories, and none received most of them. */
  | "directory rename split";

/** Some lines of a side. */
export interface HunkLines {
  /** The first line, from 1. For no lines, the line before which they would be. */
  readonly start: number;
  readonly count: number;
  /** Text, cut off when it is long. */
  readonly text: string;
}

/** Lines that both sides changed. */
export interface Hunk {
  readonly base: HunkLines;
  readonly ours: HunkLines;
  readonly theirs: HunkLines;
}

/** A path that could not be merged, as the API shows it: paths as text, ids in hex. */
export interface ShownConflict {
  readonly path: string;
  readonly kind: ConflictKind;
  readonly related: string[];
  readonly base: ShownVersion | null;
  readonly ours: ShownVersion | null;
  readonly theirs: ShownVersion | null;
  readonly hunks: readonly Hunk[];
  /** Whether there are more hunks, or more text of the shown ones. */
  readonly truncated: boolean;
}

/** One tree's entry at a path. */
export interface ShownVersion {
  readonly mode: string;
  readonly oid: string;
}
