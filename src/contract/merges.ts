import type { Ident } from "../base/format/ident.ts";

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

/** A branch of another repository of the family, which the caller may read. */
export interface ForeignBranch {
  /** Id of the repository. */
  readonly repository: string;
  /** Without `refs/heads/`, byte string. */
  readonly branch: string;
}

/** A fork to be made. */
export interface ForkRequest {
  /** Id of the parent. */
  readonly parent: string;
  /** Byte strings, without `refs/heads/`: the branches to take over, with the tags that they reach,
   * the first one as default branch unless the parent's is among them; null: all refs. */
  readonly branches: readonly string[] | null;
  /** When the fork deletes itself (ms since 1970); null: never. */
  readonly expiresMs: number | null;
  /** Who makes it, byte string; null: unknown. @see nameOf */
  readonly who: string | null;
}

/** A commit and all its ancestors. */
export interface Ancestry {
  /** In hex. */
  readonly commit: string;
  /** Ids, packed, the commit's own among them. */
  readonly oids: Uint8Array;
}

/** How a commit here relates to one elsewhere; ids in hex. */
export interface ForeignComparison {
  readonly base: string;
  /** The best common ancestors, the newest first. */
  readonly mergeBases: string[];
  /** Commits of the other side that are no ancestors of the base. */
  readonly ahead: number;
  /** Ancestors of the base that the other side lacks. */
  readonly behind: number;
}
