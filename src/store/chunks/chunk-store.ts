import { GitError } from "../../format/errors.ts";

/** Where chunks lie as objects of immutable bytes. Two rules bind all stores: a key is written once (writing the same bytes
 * again is harmless), and no failure looks like an answer: absent or short bytes, a refused write, a failed listing all throw
 * GitError "storage-failed" {key, …}, or "storage-full" where there is no space, or no answer in time. Files of worktrees are the exception to the first: they are written by `putFile` alone, and
 * read by `openFile`, which tells one version from another. */
export interface ChunkStore {
  /** Writes an object whole; it is readable when the promise is fulfilled. After a rejection it may be there or not.
   * @param sha1 of the bytes, for a caller that knows it: a bucket refuses bytes that changed on their way */
  put(key: string, bytes: Uint8Array, sha1?: Uint8Array): Promise<void>;
  /** Writes an object of `length` bytes as they come; it is readable when the promise is fulfilled. A stream that fails, or has another
   * length, leaves nothing readable. */
  putStream(key: string, bytes: ReadableStream<Uint8Array>, length: number): Promise<void>;
  /** Begins an object of unknown length, written in parts. Nothing is readable before `complete`. */
  createMultipart(key: string): Promise<MultipartWrite>;
  /** Reads exactly `length` bytes from `offset`. */
  read(key: string, offset: number, length: number): Promise<Uint8Array>;
  /** Like `read`, as a byte stream of exactly that many bytes, which errors, and never just ends, when there are fewer. */
  stream(key: string, offset: number, length: number): Promise<ReadableStream<Uint8Array>>;
  /** Like `stream`, as the store's own byte stream: no code runs per piece when it is passed on as a body. That the object has the
   * bytes is found out at once, from what the store says of its size; a transfer that breaks off later errors as the store has it
   * err, so whoever passes the stream on also states its length. */
  open(key: string, offset: number, length: number): Promise<ReadableStream<Uint8Array>>;
  /** Writes a file, in the place of any version that there was; `openFile` gives it when the promise is fulfilled. After a rejection
   * there may be either version.
   * @param body bytes, or a stream of exactly that many
   * @returns the version's ETag: another one where the bytes differ */
  putFile(key: string, body: Uint8Array | SizedStream, label: FileLabel): Promise<string>;
  /** Like `open`, of one version of a file.
   * @param length at least 1
   * @returns null when that version is not there, or no longer */
  openFile(key: string, etag: string, offset: number, length: number): Promise<ReadableStream<Uint8Array> | null>;
  /** Removes objects; a key that is not there is fine. */
  delete(keys: readonly string[]): Promise<void>;
  /** Tells of an object without reading it; null: it is not there. */
  stat(key: string): Promise<ObjectStat | null>;
  /** The keys that begin with `prefix`, ascending.
   * @param after only those behind it, which begins with the prefix too; without it all */
  list(prefix: string, after?: string): AsyncIterable<string>;
}

/** What a store says of an object. */
export interface ObjectStat {
  readonly sizeBytes: number;
  /** As `putFile` gave it. */
  readonly etag: string;
}

/** A stream whose length is known before. */
export interface SizedStream {
  readonly stream: ReadableStream<Uint8Array>;
  readonly sizeBytes: number;
}

/** What a file says of itself to those who read the bucket. */
export interface FileLabel {
  readonly contentType: string;
  /** Short ASCII values by name. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** An object under way. Its last call is `complete` or `abort`. */
export interface MultipartWrite {
  /** Writes one part. All parts but the last have the same size of `MULTIPART_PART_BYTES`; they may go up side by side.
   * @param number 1-based place of the part in the object */
  putPart(number: number, bytes: Uint8Array): Promise<void>;
  /** Makes the object of parts 1 to the highest written.
   * @throws GitError "storage-failed" when one of them is not there */
  complete(): Promise<void>;
  /** Gives the parts up. */
  abort(): Promise<void>;
}

/** What a store did, in the bucket's billing terms: puts, parts and lists are class A operations, gets class B, deletes free.
 * A `stat` counts as a get. Beginning and completing a multipart write counts as a put each. */
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

/** The failure of a read that gave another number of bytes than asked for. */
export function wrongLength(key: string, expected: number, actual: number, cause?: unknown): GitError {
  return new GitError(
    "storage-failed",
    { key, expected, actual, reason: `read ${actual} of ${expected} bytes` },
    { cause },
  );
}
