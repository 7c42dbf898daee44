import type { Ident } from "../base/format/ident.ts";

/** A request to change a branch. Names are byte strings. */
export interface BranchRequest {
  /** Without `refs/heads/`. */
  readonly branch: string;
  /** Id in hex of the tip that the branch must have; null: any. */
  readonly expected: string | null;
  /** Whether the result is only reported and nothing changes. */
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
  /** True: the commit has more parents. */
  readonly parentsTruncated?: true;
  readonly dryRun: boolean;
}

/** A merge into a branch. */
export interface MergeRequest extends BranchRequest {
  /** Revision to merge, text. With `source`, the name of the head in messages. */
  readonly head: string;
  /** The foreign branch that is merged; null: the head is in this repository. */
  readonly source: ForeignBranch | null;
  /** Whether the branch may, must or must not fast-forward when the head is ahead of it. */
  readonly fastForward: "allow" | "only" | "never";
  /** Byte string, stored unchanged; null: git's default message. */
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

/** The common fields of a cherry-pick and a revert. */
export interface PickRequest extends BranchRequest {
  /** Revision of the commit whose change is applied; text. */
  readonly commit: string;
  /** For a merge, the parent that the change is relative to, from 1; null: the commit is not a
   * merge. */
  readonly mainline: number | null;
  /** Byte string, stored unchanged; null: git's default message. */
  readonly message: string | null;
  readonly committer: Ident;
}

/** A request to apply a commit's change to a branch. The commit's author is kept. */
export type CherryPickRequest = PickRequest;

/** A request to revert a commit's change on a branch. */
export interface RevertRequest extends PickRequest {
  readonly author: Ident;
}

/** The result of fast-forwarding a branch to its upstream. */
export interface SyncAnswer {
  /** `up-to-date`: the branch already contained the upstream. */
  readonly kind: "created" | "fast-forward" | "up-to-date";
  readonly branch: string;
  /** Id of its tip, in hex. */
  readonly commit: string;
}

/** A branch of another repository of the family, which the caller may read. */
export interface ForeignBranch {
  /** Id of the repository. */
  readonly repository: string;
  /** Without `refs/heads/`, byte string. */
  readonly branch: string;
}

/** A request to make a fork. */
export interface ForkRequest {
  /** Id of the parent. */
  readonly parent: string;
  /** Branches to copy, with the tags that they reach; byte strings without `refs/heads/`. The
   * first becomes the default branch unless the parent's is among them. Null: all refs. */
  readonly branches: readonly string[] | null;
  /** Time at which the fork deletes itself (ms since 1970); null: never. */
  readonly expiresMs: number | null;
  /** Name of the caller, byte string; null: unknown.
   * @see nameOf */
  readonly who: string | null;
}

/** A commit and all its ancestors. */
export interface Ancestry {
  /** Id in hex. */
  readonly commit: string;
  /** Packed ids, including the commit's own. */
  readonly oids: Uint8Array;
}

/** The relation of a commit here to a commit elsewhere; ids in hex. */
export interface ForeignComparison {
  readonly base: string;
  /** The best common ancestors, newest first. */
  readonly mergeBases: string[];
  /** Number of commits of the other side that are not ancestors of the base. */
  readonly ahead: number;
  /** Number of ancestors of the base that the other side lacks. */
  readonly behind: number;
}
