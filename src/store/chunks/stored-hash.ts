import { createHash } from "node:crypto";
import type { ChunkStore } from "./chunk-store.ts";

/** Bytes read at a time. */
const WINDOW_BYTES = 8 * 1024 * 1024;

/** The SHA-256 of a stored object, hex.
 * @param onRead told after each window how many bytes it had; the next one waits for it
 * @throws GitError "storage-failed" when the object is missing or shorter */
export async function hashStored(
  store: ChunkStore,
  key: string,
  sizeBytes: number,
  onRead: (bytes: number) => Promise<void> = async () => undefined,
): Promise<string> {
  const hash = createHash("sha256");
  for (let from = 0; from < sizeBytes; from += WINDOW_BYTES) {
    const bytes = await store.read(key, from, Math.min(WINDOW_BYTES, sizeBytes - from));
    hash.update(bytes);
    await onRead(bytes.length);
  }
  return hash.digest("hex");
}
