import { createHash } from "node:crypto";
import { GitError } from "../../format/errors.ts";
import { equalOids } from "../../format/oid.ts";
import type { ChunkStore } from "../../store/chunk-store.ts";
import type { ChunkRow, ChunkTable } from "../../store/chunk-table.ts";

/** Reads a chunk, wherever it is, and holds it against its checksum: what housekeeping moves it moves intact.
 * @throws GitError "storage-failed" */
export async function readChunk(chunks: ChunkTable, store: ChunkStore, row: ChunkRow): Promise<Uint8Array> {
  const { id, key, start, size, checksum } = row;
  const bytes = key === null ? chunks.hotBytesOf(id)! : await store.read(key, start, size);
  if (!equalOids(hashChunk(bytes), checksum)) {
    throw new GitError("storage-failed", { key: key ?? "chunks", reason: `chunk ${id} does not match its checksum` });
  }
  return bytes;
}

/** The checksum of a chunk's bytes. */
export function hashChunk(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash("sha1").update(bytes).digest());
}
