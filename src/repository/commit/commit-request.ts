import type { Ident } from "../../format/ident.ts";
import type { Operation } from "./operation.ts";

/** A commit to be made. Text is as it came from JSON, unless it is called a byte string. */
export interface CommitRequest {
  /** Without `refs/heads/`; byte string. */
  readonly branch: string;
  /** A revision: where the branch begins when it is not there; null: it must be there, or be the first one. */
  readonly startPoint: string | null;
  /** A revision: the commit whose files were edited; null: whichever the branch is at. */
  readonly base: string | null;
  /** What is done when the branch has moved on from the base. */
  readonly onConflict: "merge" | "fail";
  /** Byte string, as it is written. */
  readonly message: string;
  readonly author: Ident;
  readonly committer: Ident;
  readonly allowEmpty: boolean;
  readonly operations: readonly Operation[];
}

/** How the change came into the branch. */
export type CommitKind =
  /** The branch was where the change was made for. */
  | "fast-forward"
  /** The branch had moved on: the change was merged three ways, and is one commit on top of it. */
  | "rebased"
  /** The files are so already: there is no new commit. */
  | "unchanged";

/** A commit that was made; ids in hex, paths as text. */
export interface CommitAnswer {
  readonly kind: CommitKind;
  readonly branch: string;
  /** Where the branch is now. */
  readonly commit: string;
  readonly tree: string;
  readonly parents: string[];
  /** What lies now at each path that was named; null: nothing. */
  readonly files: { path: string; mode: string | null; oid: string | null }[];
}
