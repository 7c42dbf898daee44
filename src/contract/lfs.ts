import type { LfsOid } from "../base/format/lfs.ts";
import { MIN_LFS_BYTES_PER_SECOND } from "../base/format/limits.ts";

/** How far the check of an object is. */
export interface LfsCompletion {
  /** Whether the object is there. If not, asking again continues. */
  readonly isDone: boolean;
  /** Bytes that were read. */
  readonly checkedBytes: number;
}

/** A lock as a caller sees it. Who has it, only those are told who may write: null. */
export type ShownLock = Omit<LfsLock, "owner" | "ownerName"> &
  ({ readonly owner: string; readonly ownerName: string } | { readonly owner: null; readonly ownerName: null });

/** Some locks, and where the next ones begin; null: there are no more. */
export interface LockPage {
  readonly locks: readonly ShownLock[];
  readonly next: string | null;
}

/** What a client wants to do with objects. */
export interface LfsBatch {
  readonly operation: "upload" | "download";
  /** Without repetition. */
  readonly objects: readonly LfsObject[];
  /** Full name of the ref that the objects are for, text; null: unknown. */
  readonly ref: string | null;
  /** Objects with more bytes cannot be sent. */
  readonly largestBytes: number;
  /** Objects with more bytes are sent to the bucket by the client itself, as far as it takes them
   * in one request; null: none are. */
  readonly signedAboveBytes: number | null;
}

/** What a repository answers to it. */
export interface LfsBatchAnswer {
  /** Those that are there. */
  readonly found: readonly StoredLfsObject[];
  /** Those that are missing, and where the client may send them itself. */
  readonly begun: readonly StoredLfsObject[];
}

/** An object to send in parts. */
export interface NewLfsUpload extends LfsObject {
  /** What a request can bring: at least `MIN_LFS_PART_BYTES`. */
  readonly largestPartBytes: number;
}

/** An upload as its client sees it. */
export interface LfsUploadStatus extends Pick<StoredLfsUpload, "id" | "partBytes" | "endsMs"> {
  /** Numbers of the parts that are there. */
  readonly parts: readonly number[];
}

/** Names an upload. It is found only by its own object. */
export interface LfsUploadName {
  readonly id: string;
  readonly oid: LfsOid;
}

/** A part that a client sends. */
export interface NewLfsPart extends LfsUploadName {
  /** Its number, from 1. */
  readonly part: number;
  readonly sizeBytes: number;
  /** SHA-256 of its bytes, hex. */
  readonly checksum: string;
}

/** What a repository keeps for Git LFS. */
export interface LfsState {
  readonly objects: number;
  readonly sizeBytes: number;
  /** Bytes that others of the family keep for it; they count against no quota of its own. */
  readonly sharedBytes: number;
  /** Objects that pointer files name and that are not there. */
  readonly missing: number;
  readonly locks: number;
}

/** Objects to list. */
export interface LfsListRequest {
  /** Whether those that are there, or those that pointer files name and that are not. */
  readonly which: "stored" | "missing";
  /** Only those with higher ids; "": from the first on. */
  readonly after: LfsOid;
  readonly limit: number;
}

/** The least time (ms) for which an object may arrive. */
const MIN_LFS_WAIT_MS = 60 * 60_000;

/** An object that a client has. */
export interface LfsObject {
  readonly oid: LfsOid;
  readonly sizeBytes: number;
}

/** For how long (ms) an object may arrive. */
export function lfsWaitMs(sizeBytes: number): number {
  return Math.max(MIN_LFS_WAIT_MS, (sizeBytes / MIN_LFS_BYTES_PER_SECOND) * 1_000);
}

/** An LFS object that is there. */
export interface StoredLfsObject {
  readonly oid: LfsOid;
  readonly sizeBytes: number;
  /** Its R2 object. */
  readonly key: string;
}

/** An LFS object that a pointer file names. */
export interface NamedLfsObject extends Omit<StoredLfsObject, "key"> {
  /** Null: it is not there. */
  readonly key: string | null;
}

/** An upload of an LFS object in parts. */
export interface StoredLfsUpload {
  readonly id: string;
  readonly oid: LfsOid;
  readonly sizeBytes: number;
  /** Bytes of each part but the last. */
  readonly partBytes: number;
  /** The R2 object that the parts become. */
  readonly key: string;
  /** The bucket's id of the write. */
  readonly write: string;
  readonly endsMs: number;
  /** Bytes of the parts that are there. */
  readonly storedBytes: number;
  /** Whether the parts have become the R2 object. */
  readonly isJoined: boolean;
}

/** A lock of a file. */
export interface LfsLock {
  readonly id: string;
  readonly path: string;
  readonly ref: string | null;
  readonly owner: string;
  readonly ownerName: string;
  readonly lockedMs: number;
}
