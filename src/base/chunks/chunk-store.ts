import { GitError } from "../format/errors.ts";

/** Stores chunks as immutable objects. Two rules bind all implementations. A key is written once;
 * writing the same bytes again is harmless. And no failure looks like a result: missing or
 * truncated bytes, a refused write, a failed listing all throw GitError "storage-failed" {key, …},
 * or "storage-full" when there is no space or no answer in time. Files of worktrees are an
 * exception to the first rule: they are written only by `putFile`, and read by `openFile`, which
 * distinguishes versions. */
export interface ChunkStore {
  /** Writes a whole object. It is readable once the promise is fulfilled. After a rejection it may
   * or may not exist.
   * @param sha1 of the bytes, if the caller knows it: a bucket then refuses bytes that were changed
   * in transit */
  put(key: string, bytes: Uint8Array, sha1?: Uint8Array): Promise<void>;
  /** Writes an object of `length` bytes as they arrive. It is readable once the promise is
   * fulfilled. A stream that fails, or has another length, leaves nothing readable.
   * @param waitMs for how long it may arrive; default: as long as any write takes */
  putStream(key: string, bytes: ReadableStream<Uint8Array>, length: number, waitMs?: number): Promise<void>;
  /** Begins an object of unknown length, written in parts. Nothing is readable before
   * `complete`. */
  createMultipart(key: string): Promise<MultipartWrite>;
  /** Goes on with an object that `createMultipart` began, in this process or another.
   * @param id of the write */
  resumeMultipart(key: string, id: string): SharedWrite;
  /** Reads exactly `length` bytes from `offset`. */
  read(key: string, offset: number, length: number): Promise<Uint8Array>;
  /** Like `read`, as a byte stream of exactly that many bytes. If there are fewer, it errors and
   * never just ends. */
  stream(key: string, offset: number, length: number): Promise<ReadableStream<Uint8Array>>;
  /** Like `stream`, but the store's own byte stream: when it is sent as a body, no code runs per
   * piece. Whether the object is long enough is checked at once, by the size that the store
   * reports. A later failure shows as the store's own error, so a caller that forwards the stream
   * must also state its length. */
  open(key: string, offset: number, length: number): Promise<ReadableStream<Uint8Array>>;
  /** Writes a file, replacing any earlier version. `openFile` returns it once the promise is
   * fulfilled. After a rejection either version may be there.
   * @param body bytes, or a stream of exactly that many
   * @returns the version's ETag, which differs when the bytes do */
  putFile(key: string, body: Uint8Array | SizedStream, label: FileLabel): Promise<string>;
  /** Like `open`, for one version of a file.
   * @param length at least 1
   * @returns null when that version does not exist (any more) */
  openFile(key: string, etag: string, offset: number, length: number): Promise<ReadableStream<Uint8Array> | null>;
  /** Deletes objects; missing keys are ignored. */
  delete(keys: readonly string[]): Promise<void>;
  /** Describes an object without reading it; null: it does not exist. */
  stat(key: string): Promise<ObjectStat | null>;
  /** The keys that begin with `prefix`, ascending.
   * @param after only keys after this one, which also begins with the prefix; default: all */
  list(prefix: string, after?: string): AsyncIterable<string>;
}

/** Size and version of an object. */
export interface ObjectStat {
  readonly sizeBytes: number;
  /** As returned by `putFile`. */
  readonly etag: string;
  /** Of its bytes, hex, as the store checked it when they came; absent: it did not. */
  readonly sha256?: string;
}

/** A stream of known length. */
export interface SizedStream {
  readonly stream: ReadableStream<Uint8Array>;
  readonly sizeBytes: number;
}

/** A file's description for those who read the bucket. */
export interface FileLabel {
  readonly contentType: string;
  /** Short ASCII values by name. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** An object being written. The last call is `complete` or `abort`. */
export interface MultipartWrite {
  /** Names it: `resumeMultipart` goes on with it. */
  readonly id: string;
  /** Writes one part. All parts but the last have the same size, `MULTIPART_PART_BYTES`; they may
   * be written concurrently.
   * @param number 1-based place of the part in the object */
  putPart(number: number, bytes: Uint8Array): Promise<void>;
  /** Makes the object from parts 1 to the highest written.
   * @throws GitError "storage-failed" when one of them is missing */
  complete(): Promise<unknown>;
  /** Discards the parts. */
  abort(): Promise<void>;
}

/** An object being written by several requests. What each has written, the caller keeps. */
export interface SharedWrite {
  /** Writes one part of `length` bytes as they arrive, in place of one of the same number. All
   * parts but the last have the same size, at least 5 MiB. A stream that fails, or has another
   * length, leaves the part as it was.
   * @param number 1-based place of the part in the object
   * @param waitMs for how long it may arrive; default: as long as any write takes
   * @returns the tag of what was written: `complete` wants it */
  putPart(number: number, bytes: ReadableStream<Uint8Array>, length: number, waitMs?: number): Promise<string>;
  /** Makes the object. After a rejection it may or may not exist.
   * @param tags of parts 1 to the last
   * @throws GitError "conflict" when the store has other parts than these, or the write is over */
  complete(tags: readonly string[]): Promise<void>;
  /** Discards the parts; of a write that is over, nothing. */
  abort(): Promise<void>;
}

/** Operations in the bucket's billing terms: puts, parts and lists are class A operations, gets
 * class B, deletes free. A `stat` counts as a get. Beginning and completing a multipart write each
 * count as a put. */
export interface ChunkCounters {
  puts: number;
  parts: number;
  gets: number;
  deletes: number;
  lists: number;
  /** Written to the store. */
  bytesIn: number;
  /** Read from the store. */
  bytesOut: number;
}

/** Counters, all zero. */
export function newChunkCounters(): ChunkCounters {
  return { puts: 0, parts: 0, gets: 0, deletes: 0, lists: 0, bytesIn: 0, bytesOut: 0 };
}

/** The error for a read that returned the wrong number of bytes. */
export function wrongLength(key: string, expected: number, actual: number, cause?: unknown): GitError {
  return new GitError(
    "storage-failed",
    { key, expected, actual, reason: `read ${actual} of ${expected} bytes` },
    { cause },
  );
}
