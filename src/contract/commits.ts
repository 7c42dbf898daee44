import type { Ident } from "../base/format/ident.ts";
import type { ObjectType } from "../base/format/object.ts";
import { EXECUTABLE_MODE, FILE_MODE, SYMLINK_MODE } from "../base/format/tree.ts";

/** The modes a file may have, as the API writes them. */
export const FILE_MODES = { "100644": FILE_MODE, "100755": EXECUTABLE_MODE, "120000": SYMLINK_MODE } as const;

/** A file's mode as the API writes it. */
export type FileMode = keyof typeof FILE_MODES;

/** One change of a tree. Paths are byte strings, parts separated by "/". */
export type Operation =
  /** Writes a file. An existing file keeps its mode, unless another is given. */
  | { readonly op: "put"; readonly path: string; readonly content: Uint8Array; readonly mode: FileMode | null }
  /** Removes a file, or a directory with its contents. */
  | { readonly op: "delete"; readonly path: string }
  /** Moves a file or a directory to an unused path. */
  | { readonly op: "move"; readonly from: string; readonly to: string }
  /** Changes a file's mode. */
  | { readonly op: "mode"; readonly path: string; readonly mode: FileMode };

/** A commit or tag by its id. */
export interface ObjectRequest {
  /** Hex. */
  readonly oid: string;
  /** Of its message, from 1. */
  readonly part: number;
}

/** Who did something, and when. */
export interface IdentRecord {
  readonly name: string;
  readonly email: string;
  /** ISO 8601 with the original offset from UTC. */
  readonly date: string;
  /** True: name or email is cut, or was not read. */
  readonly truncated?: true;
}

/** A commit as the API shows it. */
export interface CommitRecord {
  readonly oid: string;
  readonly tree: string;
  readonly parents: string[];
  readonly author: IdentRecord;
  readonly committer: IdentRecord;
  /** Subject and body, unchanged. */
  readonly message: string;
  /** True: it has more parents. */
  readonly parentsTruncated?: true;
  /** True: the message goes on. */
  readonly messageTruncated?: true;
}

/** A message, or the part of it that was asked for. */
export interface MessagePart {
  readonly message: string;
  /** True: it is not all of it. */
  readonly messageTruncated?: true;
  /** In how many parts it comes; absent: in one. */
  readonly messageParts?: number;
}

/** A commit with its signature. */
export interface ShownCommit extends Omit<CommitRecord, keyof MessagePart>, MessagePart {
  /** The signature as in the commit (OpenPGP, SSH or X.509), not verified. Null: the commit is not
   * signed. */
  readonly signature: string | null;
  /** True: the signature goes on. */
  readonly signatureTruncated?: true;
}

/** A tag object. */
export interface ShownTag extends MessagePart {
  readonly object: string;
  readonly type: ObjectType;
  readonly name: string;
  /** True: the name goes on. */
  readonly nameTruncated?: true;
  readonly tagger: IdentRecord | null;
}

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
