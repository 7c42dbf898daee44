import type { Ident } from "../base/format/ident.ts";
import type { ObjectType } from "../base/format/object.ts";
import type { IdentRecord } from "./commits.ts";

/** A branch as the API shows it. */
export interface BranchRecord {
  readonly name: string;
  /** The id of its tip, in hex. */
  readonly commit: string;
  /** When the tip was committed. */
  readonly committed: string;
  readonly isDefault: boolean;
  /** How many commits it has that the default branch lacks, and vice versa; null: there is no
   * default branch. */
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
  /** The object that it finally points to. */
  readonly target: { readonly oid: string; readonly type: ObjectType };
  /** The message of an annotated tag, else null. A signature, if any, is at its end. */
  readonly message: string | null;
  /** True: the message goes on. */
  readonly messageTruncated?: true;
  /** Of a single tag: in how many parts its message comes; absent: in one. */
  readonly messageParts?: number;
  /** Null also in tags older than git's tagger line. */
  readonly tagger: IdentRecord | null;
}

/** The parts that make a tag annotated. */
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
  /** Packed: the object that an annotated tag finally points to, the null oid for other refs. */
  readonly peeled: Uint8Array;
}
