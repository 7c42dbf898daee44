import { createHash } from "node:crypto";
import type { ChunkStore } from "./chunk-store.ts";

/** Bytes read at a time. The next are on their way while these are hashed. */
const WINDOW_BYTES = 4 * 1024 * 1024;

/** Bytes of memory that reading an object takes. */
export const HASH_BYTES = 2 * WINDOW_BYTES;

/** Computes the SHA-256 of a stored object, which may take several goes. */
export class StoredHash {
  readonly #key: string;
  readonly #sizeBytes: number;
  readonly #hash = createHash("sha256");
  #readBytes = 0;

  constructor(key: string, sizeBytes: number) {
    this.#key = key;
    this.#sizeBytes = sizeBytes;
  }

  /** How many bytes were read. */
  get readBytes(): number {
    return this.#readBytes;
  }

  /** Reads on. Wait for each call before the next; after a failed one, the next goes on where it
   * was.
   * @param isOver whether to leave the rest to the next call
   * @param onRead told after each window how many bytes it had; what is read waits for it
   * @returns the hash, hex, which can be had once; null: there is more to read
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
      // Whoever waits for it is told of a failure.
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

/** The SHA-256 of a stored object, hex.
 * @param onRead as of `StoredHash.advance`
 * @throws GitError "storage-failed" when the object is missing or shorter */
export async function hashStored(
  store: ChunkStore,
  key: string,
  sizeBytes: number,
  onRead?: (bytes: number) => Promise<void>,
): Promise<string> {
  return (await new StoredHash(key, sizeBytes).advance(store, () => false, onRead))!;
}
