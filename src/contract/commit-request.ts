import type { Ident } from "../base/format/ident.ts";
import type { Operation } from "./commits.ts";

/** A request to make a commit. Text is as received in JSON, unless it is called a byte string. */
export interface CommitRequest {
  /** Without `refs/heads/`; byte string. */
  readonly branch: string;
  /** A revision: where to create the branch if it does not exist; null: it must exist, or be the
   * first one. */
  readonly startPoint: string | null;
  /** A revision: the commit whose files were edited; null: the current tip. */
  readonly base: string | null;
  /** What to do when the branch has moved since the base. */
  readonly onConflict: "merge" | "fail";
  /** Byte string, stored as it is. */
  readonly message: string;
  readonly author: Ident;
  readonly committer: Ident;
  readonly allowEmpty: boolean;
  readonly operations: readonly Operation[];
}

/** How the change was applied. */
export type CommitKind =
  /** The branch was still at the base. */
  | "fast-forward"
  /** The branch had moved: the change was merged three ways, and is one commit on top of it. */
  | "rebased"
  /** The files already have this content: there is no new commit. */
  | "unchanged";

/** The result of a commit; ids in hex, paths as text. */
export interface CommitAnswer {
  readonly kind: CommitKind;
  readonly branch: string;
  /** The branch's tip now. */
  readonly commit: string;
  readonly tree: string;
  readonly parents: string[];
  /** The entry at each named path; null: none. */
  readonly files: { path: string; mode: string | null; oid: string | null }[];
}
