import { createHash } from "node:crypto";
import { MULTIPART_PART_BYTES } from "../format/limits.ts";
import type { ChunkStore, MultipartWrite } from "../chunks/chunk-store.ts";
import { freeBytes } from "./held-bytes.ts";

/** Writes one object of unknown length to a chunk store: whole if it fits one part, else in
 * parts. Takes `MULTIPART_PART_BYTES` of memory. The last call must be `finish` or `abort`. */
export class PartWriter {
  readonly #store: ChunkStore;
  readonly #key: string;
  readonly #hash = createHash("sha1");
  readonly #buffer = new Uint8Array(MULTIPART_PART_BYTES);
  #buffered = 0;
  #sizeBytes = 0;
  #write: MultipartWrite | null = null;
  #parts = 0;

  constructor(store: ChunkStore, key: string) {
    this.#store = store;
    this.#key = key;
  }

  /** Copies bytes to the object. Wait for each call before the next. */
  async add(bytes: Uint8Array): Promise<void> {
    this.#hash.update(bytes);
    this.#sizeBytes += bytes.length;
    for (let at = 0; at < bytes.length;) {
      if (this.#buffered === this.#buffer.length) await this.#putPart();
      const taken = Math.min(bytes.length - at, this.#buffer.length - this.#buffered);
      this.#buffer.set(bytes.subarray(at, at + taken), this.#buffered);
      this.#buffered += taken;
      at += taken;
    }
  }

  /** Writes the rest. The object is readable when the promise is fulfilled.
   * @returns its size, and the SHA-1 of its bytes */
  async finish(): Promise<{ sizeBytes: number; checksum: Uint8Array }> {
    const checksum = new Uint8Array(this.#hash.digest());
    if (this.#write === null) {
      await this.#store.put(this.#key, this.#buffer.subarray(0, this.#buffered), checksum);
    } else {
      await this.#putPart();
      await this.#write.complete();
    }
    freeBytes(this.#buffer);
    return { sizeBytes: this.#sizeBytes, checksum };
  }

  /** Gives up the object. Never throws: a job of the key's owner removes leftovers. */
  async abort(): Promise<void> {
    await this.#write?.abort().catch(() => undefined);
  }

  async #putPart(): Promise<void> {
    this.#write ??= await this.#store.createMultipart(this.#key);
    await this.#write.putPart(++this.#parts, this.#buffer.subarray(0, this.#buffered));
    this.#buffered = 0;
  }
}
