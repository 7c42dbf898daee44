import { GitError } from "../format/errors.ts";
import { type ChunkStore, wrongLength } from "./chunk-store.ts";

/** Lower bound of the bytes of one request, and upper bound of the number of requests: a request
 * of the Worker may make some thousand calls. R2 itself needs no windows. The local bucket
 * reads an object that was written in parts as fast as it can, blocks everything else
 * meanwhile, and keeps all bytes that were not taken: of an entry of 6 GB, most of it. */
const WINDOW_BYTES = 4 * 1024 * 1024;
const MAX_WINDOWS = 1_000;

/** A part of the range that the store sends. */
interface Window {
  readonly end: number;
  readonly reader: Promise<ReadableStreamBYOBReader>;
}

/** Bytes of one stored object. The transfer starts at once and is read on demand; until then
 * none of it is held here. A large range is requested window by window, the next one once the
 * current one has begun to arrive. A broken transfer is reopened where it stopped, because a
 * slow client keeps a transfer waiting for longer than a backend may allow. */
export class OpenRange {
  readonly #store: ChunkStore;
  readonly #key: string;
  readonly #start: number;
  readonly #end: number;
  readonly #windowBytes: number;
  #position: number;
  #present: Window;
  #next: Window | null = null;
  /** Position at which the transfer was last reopened. */
  #brokenAt = -1;

  constructor(store: ChunkStore, key: string, offset: number, length: number) {
    this.#store = store;
    this.#key = key;
    this.#end = offset + length;
    this.#windowBytes = Math.max(WINDOW_BYTES, Math.ceil(length / MAX_WINDOWS));
    this.#position = this.#start = offset;
    this.#present = this.#open(offset);
  }

  /** Reads the next bytes, until the buffer is full or the range ends.
   * @param target receives them; its buffer is transferred, and the result's buffer replaces it
   * @throws GitError "storage-failed" when bytes are missing, or when a transfer breaks off before
   * its first byte */
  async read(target: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
    const { byteOffset } = target;
    const { byteLength } = target.buffer;
    const wanted = Math.min(target.length, this.#end - this.#position);
    for (let { buffer } = target; ; buffer = new ArrayBuffer(byteLength)) {
      try {
        const bytes = await this.#fill(new Uint8Array(buffer, byteOffset, wanted));
        this.#position += wanted;
        return bytes;
      } catch (cause) {
        if (this.#position === this.#start || this.#position === this.#brokenAt) throw this.#failure(cause);
      }
      this.#brokenAt = this.#position;
      await this.cancel();
      this.#next = null;
      this.#present = this.#open(this.#position);
    }
  }

  /** Cancels the rest of the transfer. */
  async cancel(): Promise<void> {
    for (const window of [this.#present, this.#next]) {
      // Ignores errors: a failed transfer needs no cancelling, and the reader has seen its error.
      await window?.reader.then((reader) => reader.cancel()).catch(() => undefined);
    }
  }

  #open(start: number): Window {
    const end = Math.min(start + this.#windowBytes, this.#end);
    const reader = this.#store.open(this.#key, start, end - start).then((body) => body.getReader({ mode: "byob" }));
    // Ignores the error for now: it surfaces when the bytes are read, and must not count as
    // unhandled until then.
    reader.catch(() => undefined);
    return { end, reader };
  }

  async #fill({ buffer, byteOffset, length }: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
    let filled = buffer;
    for (let at = 0; at < length;) {
      const position = this.#position + at;
      if (position === this.#present.end) {
        this.#present = this.#next ?? this.#open(position);
        this.#next = null;
      }
      const { end, reader } = this.#present;
      const wanted = Math.min(length - at, end - position);
      const view = new Uint8Array(filled, byteOffset + at, wanted);
      const { value } = await (await reader).readAtLeast(wanted, view);
      if (value?.length !== wanted) throw wrongLength(this.#key, wanted, value?.length ?? 0);
      filled = value.buffer;
      at += wanted;
      if (end < this.#end) this.#next ??= this.#open(end);
    }
    return new Uint8Array(filled, byteOffset, length);
  }

  #failure(cause: unknown): GitError {
    if (cause instanceof GitError) return cause;
    const reason = `get broke off: ${cause instanceof Error ? cause.message : String(cause)}`;
    return new GitError("storage-failed", { key: this.#key, reason }, { cause });
  }
}
