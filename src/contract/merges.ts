import type { Ident } from "../base/format/ident.ts";
import type { ForeignBranch } from "./forks.ts";

/** A request to change a branch. Names are byte strings. */
export interface BranchRequest {
  /** Without `refs/heads/`. */
  readonly branch: string;
  /** Id in hex: the tip that the branch must have; null: any. */
  readonly expected: string | null;
  /** Only report the result. */
  readonly isDryRun: boolean;
}

/** The result for a branch; ids in hex, the branch as text. */
export interface BranchAnswer<Kind extends string> {
  readonly kind: Kind;
  readonly branch: string;
  /** The branch's tip now; null: a commit that a dry run does not make. */
  readonly commit: string | null;
  readonly tree: string;
  readonly parents: string[];
  /** True: it has more parents. */
  readonly parentsTruncated?: true;
  readonly dryRun: boolean;
}

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

/** A merge into a branch. */
export interface MergeRequest extends BranchRequest {
  /** Text, a revision: what is merged. With `source`, how messages name it. */
  readonly head: string;
  /** The head is a branch of another repository of the family; null: it is here. */
  readonly source: ForeignBranch | null;
  /** Whether the branch may, must or must not simply move to the head when the head is ahead of
   * it. */
  readonly fastForward: "allow" | "only" | "never";
  /** Byte string, stored as it is; null: git's default. */
  readonly message: string | null;
  readonly author: Ident;
  readonly committer: Ident;
}

/** The kind of result. */
export type MergeKind =
  /** A new merge commit. */
  | "merge"
  /** The branch had no commits of its own, and moved to the head. */
  | "fast-forward"
  /** The branch already contains the head. */
  | "up-to-date";

/** A path that could not be merged, as the API shows it: paths as text, ids in hex. */
export interface ShownConflict {
  readonly path: string;
  readonly kind: ConflictKind;
  readonly related: string[];
  readonly base: ShownVersion | null;
  readonly ours: ShownVersion | null;
  readonly theirs: ShownVersion | null;
  readonly hunks: readonly Hunk[];
  /** Whether there are more hunks, or more of their text. */
  readonly truncated: boolean;
}

/** What one of the three trees has at a path. */
export interface ShownVersion {
  readonly mode: string;
  readonly oid: string;
}

/** The common part of a pick and a revert. */
export interface PickRequest extends BranchRequest {
  /** Text, a revision: the commit whose change is applied. */
  readonly commit: string;
  /** For a merge, the parent that the change is relative to, from 1; null: the commit is not a
   * merge. */
  readonly mainline: number | null;
  /** Byte string, stored as it is; null: git's default. */
  readonly message: string | null;
  readonly committer: Ident;
}

/** A request to apply the change of a commit to a branch. The author stays the same. */
export type CherryPickRequest = PickRequest;

/** A request to undo the change of a commit on a branch. */
export interface RevertRequest extends PickRequest {
  readonly author: Ident;
}

/** The result of bringing a branch forward. */
export interface SyncAnswer {
  /** `up-to-date`: the branch already contained all of it. */
  readonly kind: "created" | "fast-forward" | "up-to-date";
  readonly branch: string;
  /** Id of its tip, in hex. */
  readonly commit: string;
}
