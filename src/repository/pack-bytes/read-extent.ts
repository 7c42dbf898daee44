import { createHash } from "node:crypto";
import type { ChunkStore } from "../../store/chunks/chunk-store.ts";
import type { Extent } from "../pack/pack-plan.ts";
import { ISOLATE_MEMORY } from "../pacing/memory-budget.ts";
import { Semaphore } from "../pacing/semaphore.ts";
import { ByteCache } from "./byte-cache.ts";
import { checkChunk } from "./chunk-checksum.ts";

// Chunks that were read are cached for the isolate, by where they are stored: stored bytes never
// change, keys are never reused, and clients that fetch neighbouring commits need nearly the same.

/** Chunks up to this size are read whole: a delta chain often continues in the chunk where it
 * began. */
export const WHOLE_READ_BYTES = 4 * 1024 * 1024;

/** Chunks that were read whole. A walk through a long history comes back to some sixteen chunks of
 * 2 MB: those with the trees and blobs of one time. */
const KEPT_CHUNK_BYTES = 32 * 1024 * 1024;
const CHUNKS = new ByteCache<Uint8Array>(KEPT_CHUNK_BYTES, ISOLATE_MEMORY);

/** The most chunks that an isolate reads at a time. */
const READING = new Semaphore(2, 30_000);

/** Bytes of the isolate's cached chunks. */
export function keptChunkBytes(): number {
  return CHUNKS.sizeBytes;
}

/** Reads a part of an extent; of one that is not large, all of it, for what is read next.
 * @returns bytes that must not be changed
 * @throws GitError "storage-failed" */
export async function readExtent(
  store: ChunkStore,
  extent: Extent,
  offset: number,
  length: number,
): Promise<Uint8Array> {
  if ("bytes" in extent) return extent.bytes.subarray(offset, offset + length);
  if (extent.length > WHOLE_READ_BYTES) return store.read(extent.key, extent.start + offset, length);
  return (await readWhole(store, extent)).subarray(offset, offset + length);
}

async function readWhole(
  store: ChunkStore,
  { key, start, length, checksum }: Exclude<Extent, { bytes: Uint8Array }>,
): Promise<Uint8Array> {
  const name = `${key} ${start}`;
  const cached = CHUNKS.get(name);
  if (cached !== undefined) return cached;
  const permit = await READING.acquire();
  try {
    // Another request may have read the same chunk meanwhile.
    let chunk = CHUNKS.get(name);
    if (chunk === undefined) {
      chunk = await store.read(key, start, length);
      // Cached bytes serve many requests, so they are verified.
      if (checksum !== undefined) checkChunk(key, checksum, createHash("sha1").update(chunk).digest());
    }
    CHUNKS.set(name, chunk, chunk.length);
    return chunk;
  } finally {
    permit.release();
  }
}
