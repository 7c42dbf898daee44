import { GitError } from "../../format/errors.ts";
import { type ChunkStore, wrongLength } from "./chunk-store.ts";

/** Bytes of one stored object. The transfer starts at once and is read on demand; until then none
 * of it is held here. A broken transfer is reopened where it stopped: a slow client keeps one
 * waiting for longer than a backend may allow. */
export class OpenRange {
  readonly #store: ChunkStore;
  readonly #key: string;
  readonly #end: number;
  #position: number;
  #openedAt: number;
  #reader: Promise<ReadableStreamBYOBReader>;

  constructor(store: ChunkStore, key: string, offset: number, length: number) {
    this.#store = store;
    this.#key = key;
    this.#end = offset + length;
    this.#position = this.#openedAt = offset;
    this.#reader = this.#open();
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
        if (this.#position === this.#openedAt) throw this.#failure(cause);
      }
      this.#reader = this.#open();
    }
  }

  /** Cancels the rest of the transfer. */
  async cancel(): Promise<void> {
    // A failed transfer needs no cancelling, and the reader has seen its error.
    await this.#reader.then((reader) => reader.cancel()).catch(() => undefined);
  }

  #open(): Promise<ReadableStreamBYOBReader> {
    this.#openedAt = this.#position;
    const opening = this.#store
      .open(this.#key, this.#position, this.#end - this.#position)
      .then((body) => body.getReader({ mode: "byob" }));
    // The error surfaces when the bytes are read; until then it must not count as unhandled.
    opening.catch(() => undefined);
    return opening;
  }

  async #fill(view: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
    const wanted = view.length;
    const { value } = await (await this.#reader).readAtLeast(wanted, view);
    if (value?.length !== wanted) throw wrongLength(this.#key, wanted, value?.length ?? 0);
    return value;
  }

  #failure(cause: unknown): GitError {
    if (cause instanceof GitError) return cause;
    const reason = `get broke off: ${cause instanceof Error ? cause.message : String(cause)}`;
    return new GitError("storage-failed", { key: this.#key, reason }, { cause });
  }
}
