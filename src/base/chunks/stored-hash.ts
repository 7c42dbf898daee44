import { createHash } from "node:crypto";
import type { ChunkStore } from "./chunk-store.ts";

/** Bytes read at a time. The next window is in flight while the last one is hashed. */
const WINDOW_BYTES = 4 * 1024 * 1024;

/** Bytes of memory that hashing an object takes. */
export const HASH_BYTES = 2 * WINDOW_BYTES;

/** Computes the SHA-256 of a stored object, in one or more calls. */
export class StoredHash {
  readonly #key: string;
  readonly #sizeBytes: number;
  readonly #hash = createHash("sha256");
  #readBytes = 0;

  constructor(key: string, sizeBytes: number) {
    this.#key = key;
    this.#sizeBytes = sizeBytes;
  }

  /** Number of bytes read so far. */
  get readBytes(): number {
    return this.#readBytes;
  }

  /** Continues reading. Wait for each call before the next; after a failed call, the next one
   * continues at the same position.
   * @param isOver whether to leave the rest to the next call
   * @param onRead receives the size of each window after it was read; reading waits for it
   * @returns the hash, hex, returned once; null: there is more to read
   * @throws GitError "storage-failed" when the object is missing or shorter */
  async advance(
    store: ChunkStore,
    isOver: () => boolean,
    onRead: (bytes: number) => Promise<void> = async () => undefined,
  ): Promise<string | null> {
    let coming = this.#read(store, this.#readBytes);
    for (;;) {
      const bytes = await coming;
      const end = this.#readBytes + bytes.length;
      const isWhole = end === this.#sizeBytes;
      const isLast = isWhole || isOver();
      if (!isLast) coming = this.#read(store, end);
      // Ignores the failure for now: the code that awaits the read sees it.
      coming.catch(() => undefined);
      this.#hash.update(bytes);
      this.#readBytes = end;
      await onRead(bytes.length);
      if (isWhole) return this.#hash.digest("hex");
      if (isLast) return null;
    }
  }

  async #read(store: ChunkStore, from: number): Promise<Uint8Array> {
    const length = Math.min(WINDOW_BYTES, this.#sizeBytes - from);
    return length === 0 ? new Uint8Array(0) : store.read(this.#key, from, length);
  }
}

/** Computes the SHA-256 of a stored object, hex.
 * @param onRead as for `StoredHash.advance`
 * @throws GitError "storage-failed" when the object is missing or shorter */
export async function hashStored(
  store: ChunkStore,
  key: string,
  sizeBytes: number,
  onRead?: (bytes: number) => Promise<void>,
): Promise<string> {
  return (await new StoredHash(key, sizeBytes).advance(store, () => false, onRead))!;
}
