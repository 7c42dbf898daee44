import type { LfsOid } from "../base/format/lfs.ts";
import { MIN_LFS_BYTES_PER_SECOND } from "../base/format/limits.ts";

/** The progress of checking an object. */
export interface LfsCompletion {
  /** Whether the object is stored. If not, another request continues the check. */
  readonly isDone: boolean;
  /** Bytes checked so far. */
  readonly checkedBytes: number;
}

/** A lock as a caller sees it. Only callers with the right to write see the owner; null for
 * others. */
export type ShownLock = Omit<LfsLock, "owner" | "ownerName"> &
  ({ readonly owner: string; readonly ownerName: string } | { readonly owner: null; readonly ownerName: null });

/** A page of locks with the cursor of the next page; null: there is none. */
export interface LockPage {
  readonly locks: readonly ShownLock[];
  readonly next: string | null;
}

/** A client's request to transfer objects. */
export interface LfsBatch {
  readonly operation: "upload" | "download";
  /** Objects without repetition. */
  readonly objects: readonly LfsObject[];
  /** Full name of the ref to which the objects belong, text; null: unknown. */
  readonly ref: string | null;
  /** Size limit of an object that can be sent, in bytes. */
  readonly largestBytes: number;
  /** Size above which the client sends an object to the bucket itself, as far as the bucket
   * takes it in one request, in bytes; null: the client never does. */
  readonly signedAboveBytes: number | null;
}

/** A repository's answer to an `LfsBatch`. */
export interface LfsBatchAnswer {
  /** Objects that are stored. */
  readonly found: readonly StoredLfsObject[];
  /** Missing objects, with the places to which the client may send them itself. */
  readonly begun: readonly StoredLfsObject[];
}

/** An object to send in parts. */
export interface NewLfsUpload extends LfsObject {
  /** Part size that a request can carry, in bytes; at least `MIN_LFS_PART_BYTES`. */
  readonly largestPartBytes: number;
}

/** An upload as its client sees it. */
export interface LfsUploadStatus extends Pick<StoredLfsUpload, "id" | "partBytes" | "endsMs"> {
  /** Numbers of the parts that are stored. */
  readonly parts: readonly number[];
}

/** The name of an upload. Only a request that also names its object finds it. */
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

/** A repository's use of Git LFS. */
export interface LfsState {
  readonly objects: number;
  readonly sizeBytes: number;
  /** Bytes that other repositories of the family store for this one. They count against no quota
   * of this one. */
  readonly sharedBytes: number;
  /** Number of missing objects that pointer files name. */
  readonly missing: number;
  readonly locks: number;
}

/** A request for a list of objects. */
export interface LfsListRequest {
  /** `stored`: objects that are stored. `missing`: objects that pointer files name and that are
   * not stored. */
  readonly which: "stored" | "missing";
  /** Only objects with higher ids are listed; "": all. */
  readonly after: LfsOid;
  readonly limit: number;
}

/** Minimum time for the arrival of an object, in ms. */
const MIN_LFS_WAIT_MS = 60 * 60_000;

/** An LFS object of a client. */
export interface LfsObject {
  readonly oid: LfsOid;
  readonly sizeBytes: number;
}

/** Time that an object has to arrive, in ms. */
export function lfsWaitMs(sizeBytes: number): number {
  return Math.max(MIN_LFS_WAIT_MS, (sizeBytes / MIN_LFS_BYTES_PER_SECOND) * 1_000);
}

/** A stored LFS object. */
export interface StoredLfsObject {
  readonly oid: LfsOid;
  readonly sizeBytes: number;
  /** Key of the R2 object. */
  readonly key: string;
}

/** An LFS object that a pointer file names. */
export interface NamedLfsObject extends Omit<StoredLfsObject, "key"> {
  /** Key of the R2 object; null: the object is missing. */
  readonly key: string | null;
}

/** An upload of an LFS object in parts. */
export interface StoredLfsUpload {
  readonly id: string;
  readonly oid: LfsOid;
  readonly sizeBytes: number;
  /** Bytes of each part except the last. */
  readonly partBytes: number;
  /** Key of the R2 object that the parts form. */
  readonly key: string;
  /** The bucket's id of the multipart upload. */
  readonly write: string;
  readonly endsMs: number;
  /** Bytes of the stored parts. */
  readonly storedBytes: number;
  /** Whether the parts were joined to the R2 object. */
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
