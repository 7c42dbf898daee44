import type { Ident } from "../base/format/ident.ts";
import type { ObjectType } from "../base/format/object.ts";
import type { IdentRecord } from "./commits.ts";

/** A branch as the API shows it. */
export interface BranchRecord {
  readonly name: string;
  /** The id of its tip, in hex. */
  readonly commit: string;
  /** Commit time of the tip. */
  readonly committed: string;
  readonly isDefault: boolean;
  /** Number of commits that the branch has and the default branch lacks, and vice versa; null:
   * there is no default branch. */
  readonly ahead: number | null;
  readonly behind: number | null;
}

/** The expected id of a ref in hex; null: it must not exist; undefined: any. */
export type Expected = string | null | undefined;

/** A ref as the API shows it. */
export interface RefRecord {
  readonly name: string;
  readonly oid: string;
  readonly type: ObjectType;
}

/** A tag as the API shows it: text, ids in hex. */
export interface TagRecord {
  readonly name: string;
  /** The ref's value: for an annotated tag, the tag object. */
  readonly oid: string;
  readonly isAnnotated: boolean;
  /** The object at the end of the chain of tags. */
  readonly target: { readonly oid: string; readonly type: ObjectType };
  /** The message of an annotated tag, including a signature at its end; null for other tags. */
  readonly message: string | null;
  /** True: the message is cut off. */
  readonly messageTruncated?: true;
  /** For a single tag, the number of parts of the message; absent: one. */
  readonly messageParts?: number;
  /** Null also in old tags, made before git wrote tagger lines. */
  readonly tagger: IdentRecord | null;
}

/** The parts of an annotated tag. */
export interface Annotation {
  /** Byte string. */
  readonly message: string;
  readonly tagger: Ident;
}

/** Refs sorted by name, one array per field. */
export interface RefColumns {
  /** Byte strings. */
  readonly names: string[];
  /** Packed, `OID_BYTES` each. */
  readonly oids: Uint8Array;
  /** Packed: the object at the end of an annotated tag's chain; the null oid for other refs. */
  readonly peeled: Uint8Array;
}
