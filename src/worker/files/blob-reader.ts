import type { ByteRange } from "../../base/format/conditional-request.ts";
import { decodeText } from "../../base/format/byte-string.ts";
import type { Codec } from "../../base/codec/codec.ts";
import { type ChunkCounters, type ChunkStore, newChunkCounters } from "../../base/chunks/chunk-store.ts";
import { COMMON_MEMORY_BYTES, MAX_PUT_BYTES } from "../../base/format/limits.ts";
import { GitError } from "../../base/format/errors.ts";
import type { RepositoryEvent, ReadEvent } from "../../contract/log-events.ts";
import { openInWindows } from "../../base/chunks/open-in-windows.ts";
import type { NamedLfsObject, StoredLfsObject } from "../../contract/lfs.ts";
import { DeltaChains } from "../../base/bytes/delta-chains.ts";
import { chainBase, chainExtent, chainLength, chainOffset, NO_BASE } from "../../base/bytes/plan-rows.ts";
import { ISOLATE_MEMORY, type Lease } from "../../base/pacing/memory-budget.ts";
import { type BlobPlan, type WrittenFile, isStreamed } from "../../contract/files.ts";
import { type EntrySource, streamEntry } from "../../base/bytes/entry-stream.ts";
import { gatherEntries } from "../../base/bytes/entry-window.ts";

/** A response that holds a blob of more bytes in memory reserves memory for it, and waits this long
 * (ms) for the reservation. */
const HELD_BYTES = 1024 * 1024;
const HELD_WAIT_MS = 30_000;

/** Copies held in memory: the blob and its stored form. */
const HELD_COPIES = 2;

/** Bytes of a held blob that are passed on at once. */
const HELD_PIECE_BYTES = 128 * 1024;

/** Reads blobs in the Worker, from the places that the object named. Each request has one reader;
 * `finish` logs what it did. */
export class BlobReader {
  readonly #reading: Reading;
  readonly #store: ChunkStore;
  readonly #what: ReadEvent["what"];
  readonly #operations = newChunkCounters();
  /** Memory reserved for a blob that is held whole while a client downloads it. */
  #lease: Lease | null = null;
  #blobs = 0;
  #sentBytes = 0;

  constructor(reading: Reading, what: ReadEvent["what"]) {
    this.#reading = reading;
    this.#what = what;
    this.#store = reading.openChunks(this.#operations);
  }

  /** Opens the blobs of a plan. All except the large ones are read now, in their stored form.
   * @param sizes of the blobs, bytes
   * @throws GitError "storage-failed", "unavailable" when other requests use the memory that a
   * single large blob needs */
  async open(plan: BlobPlan, sizes: readonly number[]): Promise<OpenBlobs> {
    const { chains, rows } = plan;
    if (rows.length === 1 && sizes[0]! > HELD_BYTES && !isStreamed(chainBase(chains, rows[0]!), sizes[0]!))
      this.#lease ??= await ISOLATE_MEMORY.take(Math.min(HELD_COPIES * sizes[0]!, COMMON_MEMORY_BYTES), HELD_WAIT_MS);
    const needed = new Set<number>();
    for (const [i, row] of rows.entries()) {
      if (isStreamed(chainBase(chains, row), sizes[i]!)) continue;
      for (let at = row; at !== NO_BASE && !needed.has(at); at = chainBase(chains, at)) needed.add(at);
    }
    this.#blobs += rows.length;
    const gathered = await gatherEntries(plan, needed, this.#store);
    const { codec } = this.#reading;
    return new OpenBlobs(plan, sizes, new DeltaChains(gathered, this.#store, codec), { store: this.#store, codec });
  }

  /** Opens a materialized file as the bucket's own stream: no code runs per piece.
   * @param sizeBytes of the whole file
   * @param length at least 1
   * @returns null when the file is missing or another version */
  openWritten(
    { key, etag }: WrittenFile,
    sizeBytes: number,
    { start, length }: ByteRange,
  ): Promise<ReadableStream<Uint8Array> | null> {
    const open = (from: number, bytes: number) => this.#store.openFile(key, etag, from, bytes);
    // A file larger than one request can write was stored in parts.
    return sizeBytes > MAX_PUT_BYTES ? openInWindows<null>(open, start, length) : open(start, length);
  }

  /** Opens an LFS object. @throws GitError "storage-failed" */
  openLfs({ key, sizeBytes }: StoredLfsObject): Promise<ReadableStream<Uint8Array>> {
    return this.#store.stream(key, 0, sizeBytes);
  }

  /** Counts bytes sent to the client. */
  sent(bytes: number): void {
    this.#sentBytes += bytes;
  }

  /** Whether the opened blob is a large one held whole in memory. If so, call `finish` when the
   * client has taken it. */
  get isHeld(): boolean {
    return this.#lease !== null;
  }

  /** Yields a held blob in pieces, as fast as the client takes them. */
  async *hold(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
    for (let at = 0; at < bytes.length; at += HELD_PIECE_BYTES) {
      this.#lease?.renew();
      yield bytes.subarray(at, at + HELD_PIECE_BYTES);
    }
  }

  /** Logs what the reader did. @param complete whether the client got everything */
  finish(complete: boolean): void {
    this.#lease?.free();
    const operations = { ...this.#operations };
    const [what, blobs, sentBytes] = [this.#what, this.#blobs, this.#sentBytes];
    this.#reading.observe({ event: "read", what, blobs, sentBytes, complete, operations });
  }
}

/** The blobs of one plan, in its order. */
export class OpenBlobs {
  readonly #plan: BlobPlan;
  readonly #sizes: readonly number[];
  readonly #chains: DeltaChains;
  readonly #source: EntrySource;

  /** @see BlobReader.open */
  constructor(plan: BlobPlan, sizes: readonly number[], chains: DeltaChains, source: EntrySource) {
    this.#plan = plan;
    this.#sizes = sizes;
    this.#chains = chains;
    this.#source = source;
  }

  /** Whether a blob is read in pieces. */
  isStreamed(i: number): boolean {
    return isStreamed(chainBase(this.#plan.chains, this.#plan.rows[i]!), this.#sizes[i]!);
  }

  /** Reads a whole blob, unless it is read in pieces. The bytes are shared and must not be changed.
   * @throws GitError "corrupt-pack", "corrupt-delta" */
  async read(i: number): Promise<Uint8Array> {
    return (await this.#chains.resolve(this.#plan.rows[i]!)).bytes;
  }

  /** Reads a blob into a reused buffer: the bytes are valid only until the next call.
   * @throws GitError as `read` */
  async lend(i: number): Promise<Uint8Array> {
    return (await this.#chains.lend(this.#plan.rows[i]!)).bytes;
  }

  /** Streams a blob that is read in pieces. @throws GitError "storage-failed", "corrupt-pack" */
  async stream(i: number): Promise<ReadableStream<Uint8Array>> {
    const { extents, chains, rows } = this.#plan;
    const row = rows[i]!;
    return streamEntry(this.#source, {
      extent: extents[chainExtent(chains, row)]!,
      offset: chainOffset(chains, row),
      length: chainLength(chains, row),
    });
  }
}

/** Reads bytes of an LFS object as the bucket's own stream. Runs in the Worker.
 * @returns null: the range is empty
 * @throws GitError "storage-failed" */
export async function readLfsObject(
  { key }: StoredLfsObject,
  { start, length }: ByteRange,
  reading: Reading,
): Promise<ReadableStream<Uint8Array> | null> {
  return length === 0 ? null : reading.openChunks(newChunkCounters()).open(key, start, length);
}

/** Returns the LFS object that a pointer file names.
 * @param path byte string, of the file
 * @throws GitError "not-found" when the object is not stored */
export function requireStored({ oid, sizeBytes, key }: NamedLfsObject, path: string): StoredLfsObject {
  if (key !== null) return { oid, sizeBytes, key };
  const reason = `${decodeText(path)} names ${oid}, which was not sent: git lfs push --all`;
  throw new GitError("not-found", { what: "LFS object", reason });
}

/** The Worker's means to read stored bytes. The object only says where they are stored. */
export interface Reading {
  /** Opens the chunk store, which counts its operations in `counters`. */
  openChunks(counters: ChunkCounters): ChunkStore;
  /** Records an event and its cost. */
  observe(event: RepositoryEvent): void;
  readonly codec: Codec;
}
