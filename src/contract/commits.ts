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
  /** Part of the commit's message, from 1. */
  readonly part: number;
}

/** A person and a time, as in a commit or a tag. */
export interface IdentRecord {
  readonly name: string;
  readonly email: string;
  /** ISO 8601 with the original offset from UTC. */
  readonly date: string;
  /** True: name or email is cut off, or was not read. */
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
  /** True: the commit has more parents. */
  readonly parentsTruncated?: true;
  /** True: the message is cut off. */
  readonly messageTruncated?: true;
}

/** A message, or the requested part of it. */
export interface MessagePart {
  readonly message: string;
  /** True: `message` is not the whole message. */
  readonly messageTruncated?: true;
  /** Number of parts of the message; absent: one. */
  readonly messageParts?: number;
}

/** A commit with its signature. */
export interface ShownCommit extends Omit<CommitRecord, keyof MessagePart>, MessagePart {
  /** The signature as in the commit (OpenPGP, SSH or X.509), not verified. Null: the commit is not
   * signed. */
  readonly signature: string | null;
  /** True: the signature is cut off. */
  readonly signatureTruncated?: true;
}

/** A tag object. */
export interface ShownTag extends MessagePart {
  readonly object: string;
  readonly type: ObjectType;
  readonly name: string;
  /** True: the name is cut off. */
  readonly nameTruncated?: true;
  readonly tagger: IdentRecord | null;
}

/** A request to make a commit. Text is as received in JSON, except where a byte string is noted. */
export interface CommitRequest {
  /** Without `refs/heads/`; byte string. */
  readonly branch: string;
  /** Revision at which to create a missing branch; null: the branch must exist, unless it is the
   * repository's first. */
  readonly startPoint: string | null;
  /** Revision of the edited files; null: the branch's current tip. */
  readonly base: string | null;
  /** Action when the branch has moved since the base. */
  readonly onConflict: "merge" | "fail";
  /** Byte string, stored unchanged. */
  readonly message: string;
  readonly author: Ident;
  readonly committer: Ident;
  readonly allowEmpty: boolean;
  readonly operations: readonly Operation[];
}

/** The way in which the change was applied. */
export type CommitKind =
  /** The branch was still at the base. */
  | "fast-forward"
  /** The branch had moved: the change was merged three ways into one commit on top of it. */
  | "rebased"
  /** The files already have this content: no commit was made. */
  | "unchanged";

/** The result of a commit; ids in hex, paths as text. */
export interface CommitAnswer {
  readonly kind: CommitKind;
  readonly branch: string;
  /** The branch's tip now. */
  readonly commit: string;
  readonly tree: string;
  readonly parents: string[];
  /** The entry at each named path; null: there is none. */
  readonly files: { path: string; mode: string | null; oid: string | null }[];
}
