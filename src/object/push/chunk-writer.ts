import { createHash } from "node:crypto";
import { GitError } from "../../base/format/errors.ts";
import { CHUNK_TARGET_BYTES, HOT_PUSH_BYTES, MULTIPART_PART_BYTES } from "../../base/format/limits.ts";
import type { ChunkStore, MultipartWrite } from "../../base/chunks/chunk-store.ts";
import { freeBytes } from "../../base/bytes/held-bytes.ts";
import type { NeededEntries } from "./needed-entries.ts";
import { ResidentPieces } from "./resident-pieces.ts";

/** The most chunks being written to R2 at once: enough to hide its latency, bounded since each is
 * in memory. */
const MAX_WRITES_IN_FLIGHT = 4;

/** Buffer of a pack, which may be small. */
const FIRST_BUFFER_BYTES = 64 * 1024;

/** Buffer of a chunk whose last entry is small. */
const CHUNK_BUFFER_BYTES = 1.25 * CHUNK_TARGET_BYTES;

/** Bytes read back at once from outside memory. */
const READ_BACK_BYTES = 1024 * 1024;

/** A written chunk: a run of whole entries, contiguous in its pack. */
export interface WrittenChunk {
  /** R2 object, or null: the bytes are here and go inline. */
  readonly key: string | null;
  readonly bytes: Uint8Array | null;
  /** The position of its first byte in the pack, and its size (bytes). */
  readonly packOffset: number;
  readonly sizeBytes: number;
  /** SHA-1 of its bytes. */
  readonly checksum: Uint8Array;
}

export interface ChunkWriterOptions {
  chunks: ChunkStore;
  /** The prefix of every key; nothing else writes below it. */
  keyPrefix: string;
  /** Called before the first byte goes to R2, so that a crash leaves a record of where to clean
   * up. */
  beforeFirstWrite(): void;
}

/** Takes a pack's entries as they stream by and writes them as chunks. A chunk is closed at the
 * first entry boundary at or after `CHUNK_TARGET_BYTES`. One that passes `MULTIPART_PART_BYTES`
 * without a boundary (a large entry) is uploaded in parts. So a pack of n bytes costs at most n / 2
 * MB + 1 writes, and one below `HOT_PUSH_BYTES` none. */
export class ChunkWriter {
  readonly #chunks: ChunkStore;
  readonly #options: ChunkWriterOptions;
  readonly #written: WrittenChunk[] = [];
  readonly #keys: string[] = [];
  readonly #inFlight = new Set<Promise<void>>();
  #failure: unknown = null;
  readonly #resident = new ResidentPieces();
  /** Once all has come, in place of pieces: the entries that are needed again. */
  #needed: NeededEntries | null = null;

  /** The open chunk: its start, the part in the buffer, and its upload if begun. */
  #start = 0;
  #end = 0;
  #buffer = new Uint8Array(FIRST_BUFFER_BYTES);
  #buffered = 0;
  #hash = createHash("sha1");
  /** Bytes of the part being uploaded. */
  #partBytes = 0;
  #multipart: { key: string; write: Promise<MultipartWrite>; parts: number } | null = null;

  constructor(options: ChunkWriterOptions) {
    this.#chunks = options.chunks;
    this.#options = options;
  }

  /** Bytes held in memory. */
  get memoryBytes(): number {
    const neededBytes = this.#needed?.sizeBytes ?? 0;
    return this.#buffer.length + this.#resident.sizeBytes + this.#partBytes + neededBytes;
  }

  /** Bytes of the pack kept for deltas. */
  get residentBytes(): number {
    return this.#resident.sizeBytes;
  }

  /** Keeps fewer bytes of the pack in memory from now on. The newest piece always stays. */
  limitResident(limitBytes: number): void {
    this.#resident.limit(limitBytes);
  }

  /** Keeps these entries from now on, when they are read again. All of the pack must have come.
   * @throws GitError "storage-failed" when an earlier write failed */
  async keepNeeded(needed: NeededEntries): Promise<void> {
    await this.closeChunk();
    await this.#awaitWrites(0);
    this.#resident.clear();
    freeBytes(this.#buffer);
    this.#buffer = new Uint8Array(FIRST_BUFFER_BYTES);
    this.#needed = needed;
  }

  /** Appends `bytes`, which are at `packOffset` in the pack, directly after the previous ones.
   * @param boundary the first entry boundary in (from, to], or null when there is none
   * @throws GitError "storage-failed" when an earlier write failed */
  async append(
    bytes: Uint8Array,
    packOffset: number,
    boundary: (from: number, to: number) => number | null,
  ): Promise<void> {
    if (this.#end === 0) this.#start = this.#end = packOffset;
    let at = 0;
    while (at < bytes.length) {
      const position = packOffset + at;
      const end = packOffset + bytes.length;
      const cut =
        end - this.#start < CHUNK_TARGET_BYTES
          ? null
          : boundary(Math.max(position, this.#start + CHUNK_TARGET_BYTES - 1), end);
      const freeBytes = MULTIPART_PART_BYTES - this.#buffered;
      const take = Math.min((cut ?? end) - position, freeBytes);
      this.#fill(bytes.subarray(at, at + take));
      at += take;
      if (this.#buffered === MULTIPART_PART_BYTES) await this.#putPart();
      if (cut !== null && packOffset + at === cut) await this.#close();
    }
  }

  /**
   * Ends the pack.
   * @returns every chunk, in pack order, after all writes have succeeded
   * @throws GitError "storage-failed"
   */
  async finish(): Promise<WrittenChunk[]> {
    if (this.#end > this.#start) {
      if (this.#isFirstSmall()) this.#keepInline();
      else await this.#close();
    }
    await this.#awaitWrites(0);
    this.#freeAll();
    return this.#written;
  }

  /** Ends the writes of a refused push. Leftovers below the key prefix are garbage. Never
   * throws. */
  async abort(): Promise<void> {
    await Promise.allSettled(this.#inFlight);
    await this.#multipart?.write.then((write) => write.abort()).catch(() => undefined);
    this.#freeAll();
  }

  #freeAll(): void {
    this.#resident.clear();
    this.#needed?.clear();
    freeBytes(this.#buffer);
    this.#buffer = new Uint8Array(0);
    this.#buffered = 0;
  }

  /** Closes the open chunk, so that the following entries get one of their own and everything
   * before can be read.
   * @throws GitError "storage-failed" */
  async closeChunk(): Promise<void> {
    if (this.#end === this.#start) return;
    if (this.#isFirstSmall()) this.#keepInline();
    else await this.#close();
  }

  /** Reads bytes of the pack, in memory or not. Of the open chunk, only buffered bytes can be read.
   * @throws GitError "storage-failed" */
  async read(offset: number, lengthBytes: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(lengthBytes);
    for (let at = 0; at < lengthBytes;) {
      const read = this.readBack(offset + at, bytes.subarray(at));
      if (read === 0) await this.load(offset + at, lengthBytes - at);
      at += read;
    }
    return bytes;
  }

  /** Copies bytes of the pack from `offset` into `out`, as far as they are in memory. */
  readBack(offset: number, out: Uint8Array): number {
    if (offset >= this.#end - this.#buffered && offset < this.#end) {
      const from = offset - (this.#end - this.#buffered);
      const length = Math.min(out.length, this.#buffered - from);
      out.set(this.#buffer.subarray(from, from + length));
      return length;
    }
    const read = this.#needed?.read(offset, out) ?? 0;
    return read > 0 ? read : this.#resident.read(offset, out);
  }

  /** Loads bytes of the pack into memory, and with a needed entry those that follow it.
   * @throws GitError "storage-failed" */
  async load(offset: number, lengthBytes: number): Promise<void> {
    const needed = this.#needed;
    if (needed?.isWorthReading(offset) === true)
      await needed.load(offset, (at, length) => this.#readWritten(at, length));
    if (needed?.holds(offset) !== true) await this.#loadPiece(offset, lengthBytes);
  }

  async #readWritten(offset: number, lengthBytes: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(lengthBytes);
    for (let at = 0; at < lengthBytes;) {
      const { chunk, from } = this.#find(offset + at);
      const length = Math.min(lengthBytes - at, chunk.sizeBytes - from);
      if (chunk.bytes !== null) bytes.set(chunk.bytes.subarray(from, from + length), at);
      else {
        const read = await this.#chunks.read(chunk.key!, from, length);
        bytes.set(read, at);
        freeBytes(read);
      }
      at += length;
    }
    return bytes;
  }

  /** @throws GitError "storage-failed" when the bytes at `offset` are not written yet */
  #find(offset: number): { chunk: WrittenChunk; from: number } {
    const chunk = this.#written.find(
      ({ packOffset, sizeBytes }) => offset >= packOffset && offset < packOffset + sizeBytes,
    );
    if (chunk === undefined)
      throw new GitError("storage-failed", { key: this.#options.keyPrefix, reason: `no chunk holds offset ${offset}` });
    return { chunk, from: offset - chunk.packOffset };
  }

  async #loadPiece(offset: number, lengthBytes: number): Promise<void> {
    const { chunk, from } = this.#find(offset);
    if (chunk.bytes !== null) return this.#resident.keep(chunk.packOffset, chunk.bytes, null);
    await this.#awaitWrites(0);
    const length = Math.min(Math.max(lengthBytes, READ_BACK_BYTES), chunk.sizeBytes - from);
    this.#resident.keep(offset, await this.#chunks.read(chunk.key!, from, length), Promise.resolve());
  }

  #fill(bytes: Uint8Array): void {
    const needed = this.#buffered + bytes.length;
    if (needed > this.#buffer.length) {
      const grown = new Uint8Array(bufferBytes(needed));
      grown.set(this.#buffer.subarray(0, this.#buffered));
      freeBytes(this.#buffer);
      this.#buffer = grown;
    }
    this.#buffer.set(bytes, this.#buffered);
    this.#hash.update(bytes);
    this.#buffered = needed;
    this.#end += bytes.length;
  }

  /** Whether the open chunk is the only one, and small enough to stay in SQLite. */
  #isFirstSmall(): boolean {
    return this.#written.length === 0 && this.#multipart === null && this.#buffered < HOT_PUSH_BYTES;
  }

  #keepInline(): void {
    const bytes = this.#buffer.slice(0, this.#buffered);
    this.#written.push(this.#chunk(null, bytes));
    this.#resident.keep(this.#start, bytes, null);
    this.#begin();
  }

  /** Begins the next chunk. */
  #begin(): void {
    this.#start = this.#end;
    this.#buffered = 0;
    this.#hash = createHash("sha1");
  }

  async #close(): Promise<void> {
    if (this.#multipart !== null) {
      if (this.#buffered > 0) await this.#putPart();
      const { key, write } = this.#multipart;
      await this.#awaitWrites(0);
      await (await write).complete();
      this.#written.push(this.#chunk(key, null));
      this.#multipart = null;
    } else {
      const key = this.#newKey();
      const bytes = this.#buffer.subarray(0, this.#buffered);
      const chunk = this.#chunk(key, null);
      this.#written.push(chunk);
      const sent = this.#send(() => this.#chunks.put(key, bytes, chunk.checksum));
      this.#resident.keep(this.#start, bytes, sent);
      this.#buffer = new Uint8Array(0);
      this.#buffered = 0;
      await this.#awaitWrites(MAX_WRITES_IN_FLIGHT - 1);
    }
    this.#renew();
    this.#begin();
  }

  async #putPart(): Promise<void> {
    if (this.#multipart === null) {
      const key = this.#newKey();
      const write = this.#chunks.createMultipart(key);
      // A failure surfaces where it is awaited. Until then it must not count as unhandled.
      write.catch(() => undefined);
      this.#multipart = { key, write, parts: 0 };
    }
    const { write } = this.#multipart;
    const number = ++this.#multipart.parts;
    const bytes = this.#buffer.subarray(0, this.#buffered);
    this.#renew();
    // Parts are large: only one is uploaded while the next is filled.
    await this.#awaitWrites(0);
    this.#partBytes = bytes.length;
    void this.#send(async () => {
      await (await write).putPart(number, bytes);
      freeBytes(bytes);
      this.#partBytes = 0;
    });
    await this.#awaitWrites(MAX_WRITES_IN_FLIGHT - 1);
  }

  /** A new buffer: the old one is being uploaded. */
  #renew(): void {
    this.#buffer = new Uint8Array(this.#multipart === null ? CHUNK_BUFFER_BYTES : MULTIPART_PART_BYTES);
    this.#buffered = 0;
  }

  #chunk(key: string | null, bytes: Uint8Array | null): WrittenChunk {
    const checksum = new Uint8Array(this.#hash.digest());
    return { key, bytes, packOffset: this.#start, sizeBytes: this.#end - this.#start, checksum };
  }

  #newKey(): string {
    if (this.#keys.length === 0) this.#options.beforeFirstWrite();
    const key = `${this.#options.keyPrefix}${this.#keys.length}`;
    this.#keys.push(key);
    return key;
  }

  /** Begins a write.
   * @returns fulfilled when it has ended, well or not */
  #send(write: () => Promise<void>): Promise<void> {
    const sent = write().catch((error: unknown) => {
      this.#failure ??= error;
    });
    this.#inFlight.add(sent);
    void sent.then(() => this.#inFlight.delete(sent));
    return sent;
  }

  /** Waits until at most `most` writes are in flight. */
  async #awaitWrites(most: number): Promise<void> {
    while (this.#inFlight.size > most) await Promise.race(this.#inFlight);
    if (this.#failure === null) return;
    throw this.#failure instanceof GitError
      ? this.#failure
      : new GitError("storage-failed", { key: this.#options.keyPrefix }, { cause: this.#failure });
  }
}

/** Size of a buffer for this many bytes: most chunks fit the second size, and larger ones are
 * uploaded in parts. */
function bufferBytes(needed: number): number {
  if (needed <= CHUNK_BUFFER_BYTES / 4) return 2 * needed;
  return needed <= CHUNK_BUFFER_BYTES ? CHUNK_BUFFER_BYTES : MULTIPART_PART_BYTES;
}
