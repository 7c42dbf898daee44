import { GitError } from "../format/errors.ts";

/** Stores chunks as immutable objects. Two rules bind all implementations. A key is written
 * once; writing the same bytes again is harmless. And no failure looks like a result: missing
 * or truncated bytes, a refused write, a failed listing all throw GitError "storage-failed"
 * {key, …}, or "storage-full" when there is no space or no answer in time. Worktree files are
 * an exception to the first rule: only `putFile` writes them, and only `openFile`, which
 * distinguishes versions, reads them. */
export interface ChunkStore {
  /** Writes a whole object. It is readable once the promise is fulfilled. After a rejection it may
   * or may not exist.
   * @param sha1 hash of the bytes, if the caller knows it: a bucket then refuses bytes that
   *   were changed in transit */
  put(key: string, bytes: Uint8Array, sha1?: Uint8Array): Promise<void>;
  /** Writes an object of `length` bytes as they arrive. It is readable once the promise is
   * fulfilled. A stream that fails, or has another length, leaves nothing readable.
   * @param waitMs time that the bytes may take to arrive; default: the time limit of any
   *   write */
  putStream(key: string, bytes: ReadableStream<Uint8Array>, length: number, waitMs?: number): Promise<void>;
  /** Begins an object of unknown length, written in parts. Nothing is readable before
   * `complete`. */
  createMultipart(key: string): Promise<MultipartWrite>;
  /** Continues an object that `createMultipart` began, in this process or another.
   * @param id id of the multipart write */
  resumeMultipart(key: string, id: string): SharedWrite;
  /** Reads exactly `length` bytes from `offset`. */
  read(key: string, offset: number, length: number): Promise<Uint8Array>;
  /** As `read`, but as a byte stream of exactly that many bytes. A stream with fewer bytes
   * errors and never just ends. */
  stream(key: string, offset: number, length: number): Promise<ReadableStream<Uint8Array>>;
  /** As `stream`, but returns the store's own byte stream: when it is sent as a body, no code
   * runs per piece. The object's length, as the store reports it, is checked at once. A later
   * failure shows as the store's own error, so a caller that forwards the stream must also
   * state its length. */
  open(key: string, offset: number, length: number): Promise<ReadableStream<Uint8Array>>;
  /** Writes a file, replacing any earlier version. `openFile` returns it once the promise is
   * fulfilled. After a rejection either version may be there.
   * @param body bytes, or a stream of exactly that many
   * @returns the version's ETag, which differs when the bytes do */
  putFile(key: string, body: Uint8Array | SizedStream, label: FileLabel): Promise<string>;
  /** As `open`, for one version of a file.
   * @param length at least 1
   * @returns null when that version does not exist (any more) */
  openFile(key: string, etag: string, offset: number, length: number): Promise<ReadableStream<Uint8Array> | null>;
  /** Deletes objects; missing keys are ignored. */
  delete(keys: readonly string[]): Promise<void>;
  /** Describes an object without reading it; null: it does not exist. */
  stat(key: string): Promise<ObjectStat | null>;
  /** Lists the keys that begin with `prefix`, ascending.
   * @param after only keys after this one, which also begins with the prefix; default: all */
  list(prefix: string, after?: string): AsyncIterable<string>;
}

/** Size and version of an object. */
export interface ObjectStat {
  readonly sizeBytes: number;
  /** ETag as returned by `putFile`. */
  readonly etag: string;
  /** Hash of the object's bytes, hex, as the store verified it on arrival; absent: it did not. */
  readonly sha256?: string;
}

/** A stream of known length. */
export interface SizedStream {
  readonly stream: ReadableStream<Uint8Array>;
  readonly sizeBytes: number;
}

/** A file's description for readers of the bucket. */
export interface FileLabel {
  readonly contentType: string;
  /** Short ASCII values by name. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** An object being written. The last call is `complete` or `abort`. */
export interface MultipartWrite {
  /** Id of the write, with which `resumeMultipart` continues it. */
  readonly id: string;
  /** Writes one part. All parts but the last have the same size, `MULTIPART_PART_BYTES`; they may
   * be written concurrently.
   * @param number 1-based place of the part in the object */
  putPart(number: number, bytes: Uint8Array): Promise<void>;
  /** Joins the parts 1 to the highest written to the object.
   * @throws GitError "storage-failed" when one of them is missing */
  complete(): Promise<unknown>;
  /** Discards the parts. */
  abort(): Promise<void>;
}

/** An object that several requests write. The caller records the written parts. */
export interface SharedWrite {
  /** Writes one part of `length` bytes as they arrive, replacing a part of the same number. All
   * parts but the last have the same size, at least 5 MiB. A stream that fails, or has another
   * length, leaves the part as it was.
   * @param number 1-based place of the part in the object
   * @param waitMs time that the bytes may take to arrive; default: the time limit of any write
   * @returns the part's tag, which `complete` needs */
  putPart(number: number, bytes: ReadableStream<Uint8Array>, length: number, waitMs?: number): Promise<string>;
  /** Joins the parts to the object. After a rejection it may or may not exist.
   * @param tags of parts 1 to the last
   * @throws GitError "conflict" when the store has other parts than these, or the write is
   *   over */
  complete(tags: readonly string[]): Promise<void>;
  /** Discards the parts. Does nothing for a write that is over. */
  abort(): Promise<void>;
}

/** Operations in the bucket's billing terms: puts, parts and lists are class A operations, gets
 * class B, deletes free. A `stat` counts as a get. Beginning and completing a multipart write
 * each count as a put. */
export interface ChunkCounters {
  puts: number;
  parts: number;
  gets: number;
  deletes: number;
  lists: number;
  /** Bytes written to the store. */
  bytesIn: number;
  /** Bytes read from the store. */
  bytesOut: number;
}

/** Makes counters that are all zero. */
export function newChunkCounters(): ChunkCounters {
  return { puts: 0, parts: 0, gets: 0, deletes: 0, lists: 0, bytesIn: 0, bytesOut: 0 };
}

/** Makes the error for a read that returned the wrong number of bytes. */
export function wrongLength(key: string, expected: number, actual: number, cause?: unknown): GitError {
  return new GitError(
    "storage-failed",
    { key, expected, actual, reason: `read ${actual} of ${expected} bytes` },
    { cause },
  );
}
