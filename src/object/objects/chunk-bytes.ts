import { createHash } from "node:crypto";
import type { ChunkStore } from "../../base/chunks/chunk-store.ts";
import type { ChunkRow } from "../store/index/chunk-row.ts";
import type { ChunkTable } from "../store/index/chunk-table.ts";
import { checkChunk } from "../../base/bytes/chunk-checksum.ts";

/** Reads a chunk, wherever it is stored, and verifies its checksum, so that maintenance moves only
 * intact bytes.
 * @throws GitError "storage-failed" */
export async function readChunk(chunks: ChunkTable, store: ChunkStore, row: ChunkRow): Promise<Uint8Array> {
  const { id, key, start, size, checksum } = row;
  const bytes = key === null ? chunks.hotBytesOf(id)! : await store.read(key, start, size);
  checkChunk(key ?? `chunks ${id}`, checksum, hashChunk(bytes));
  return bytes;
}

/** Computes the checksum of a chunk's bytes. */
export function hashChunk(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash("sha1").update(bytes).digest());
}
