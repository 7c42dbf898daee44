import { createHash } from "node:crypto";
import type { ChunkStore } from "../chunks/chunk-store.ts";
import type { Extent } from "./pack-plan.ts";
import { ISOLATE_MEMORY } from "../pacing/memory-budget.ts";
import { Semaphore } from "../pacing/semaphore.ts";
import { ByteCache } from "./byte-cache.ts";
import { checkChunk } from "./chunk-checksum.ts";
import { freeBytes } from "./held-bytes.ts";

// The isolate's cache of chunks, by their place. Stored bytes never change, keys are never reused,
// and clients that fetch neighbouring commits need nearly the same chunks.

/** Size up to which a chunk is read whole: a delta chain often continues in the chunk where it
 * began. */
export const WHOLE_READ_BYTES = 4 * 1024 * 1024;

/** Size of the cache of chunks that were read whole. A walk through a long history returns to
 * some twelve chunks of 2 MB: those with the trees of one period. */
const KEPT_CHUNK_BYTES = 24 * 1024 * 1024;
const CHUNKS = new ByteCache<Uint8Array>(KEPT_CHUNK_BYTES, ISOLATE_MEMORY, (chunk) => {
  if (!HOLDERS.has(chunk)) freeBytes(chunk);
});

/** Number of holders of a chunk that was read whole. The chunk is freed when neither they nor
 * the cache need it. */
const HOLDERS = new WeakMap<Uint8Array, number>();

/** Size of the cache of entries that were read ahead. The versions of a file are spread over all
 * chunks: a walk through them by age would read most chunks many times. */
const KEPT_ENTRY_BYTES = 8 * 1024 * 1024;
const ENTRIES = new ByteCache<Uint8Array>(KEPT_ENTRY_BYTES, ISOLATE_MEMORY);

/** Largest gap between two entries that is read and dropped, in bytes: cheaper than another
 * read. */
const GAP_BYTES = 256 * 1024;

/** Limit of the chunks that an isolate reads at a time. */
const READING = new Semaphore(2, 30_000);

/** Bytes of an extent, valid until their release. */
export interface HeldExtent {
  readonly bytes: Uint8Array;
  /** Releases the bytes. Call it once. */
  release(): void;
}

/** An extent in a chunk store. */
type StoredExtent = Exclude<Extent, { bytes: Uint8Array }>;

/** A part of an extent. */
export type ExtentPart = readonly [offset: number, length: number];

/** Bytes of the isolate's cached chunks, and of the cached entries from other chunks. */
export function keptStoredBytes(): number {
  return CHUNKS.sizeBytes + ENTRIES.sizeBytes;
}

/** Reads a part of an extent. Reads all of an extent that is not large, because the next reads
 * probably need it.
 * @returns bytes that must not be changed: a copy, if they are stored
 * @throws GitError "storage-failed" */
export async function readExtent(
  store: ChunkStore,
  extent: Extent,
  offset: number,
  length: number,
): Promise<Uint8Array> {
  if ("bytes" in extent) return extent.bytes.subarray(offset, offset + length);
  if (extent.length > WHOLE_READ_BYTES) return store.read(extent.key, extent.start + offset, length);
  const held = await holdWhole(store, extent);
  const part = held.bytes.slice(offset, offset + length);
  held.release();
  return part;
}

/** Reads an extent of at most `WHOLE_READ_BYTES`, without copying it.
 * @throws GitError "storage-failed" */
export async function holdExtent(store: ChunkStore, extent: Extent): Promise<HeldExtent> {
  return "bytes" in extent ? { bytes: extent.bytes, release: () => {} } : holdWhole(store, extent);
}

/** Reads a part of an extent, and caches nearby parts that are needed later. The parts are entries,
 * whose zlib checksums detect damage.
 * @param later called if a read is necessary: lists the extent's other parts
 * @returns bytes that must not be changed
 * @throws GitError "storage-failed" */
export async function readExtentAhead(
  store: ChunkStore,
  extent: Extent,
  part: ExtentPart,
  later: () => readonly ExtentPart[],
): Promise<Uint8Array> {
  const [offset, length] = part;
  if ("bytes" in extent || extent.length > WHOLE_READ_BYTES) return readExtent(store, extent, offset, length);
  const name = `${extent.key} ${extent.start}`;
  const chunk = CHUNKS.get(name);
  if (chunk !== undefined) return chunk.slice(offset, offset + length);
  const kept = ENTRIES.get(`${name} ${offset}`);
  if (kept !== undefined) return kept;
  const run = findRun(
    later().filter(([at]) => !ENTRIES.has(`${name} ${at}`)),
    part,
  );
  const start = run[0]![0];
  const end = run.at(-1)![0] + run.at(-1)![1];
  const permit = await READING.acquire();
  try {
    const bytes = await store.read(extent.key, extent.start + start, end - start);
    for (const [at, size] of run) ENTRIES.set(`${name} ${at}`, bytes.slice(at - start, at - start + size), size);
    const own = ENTRIES.get(`${name} ${offset}`) ?? bytes.slice(offset - start, offset - start + length);
    freeBytes(bytes);
    return own;
  } finally {
    permit.release();
  }
}

/** Finds the neighbours that one read returns along with a part, in order. */
function findRun(others: readonly ExtentPart[], part: ExtentPart): ExtentPart[] {
  const parts = [...others, part].sort((a, b) => a[0] - b[0]);
  const isNear = (before: ExtentPart, after: ExtentPart): boolean => after[0] - before[0] - before[1] <= GAP_BYTES;
  let first = parts.indexOf(part);
  let last = first;
  while (first > 0 && isNear(parts[first - 1]!, parts[first]!)) first--;
  while (last + 1 < parts.length && isNear(parts[last]!, parts[last + 1]!)) last++;
  return parts.slice(first, last + 1);
}

async function holdWhole(store: ChunkStore, { key, start, length, checksum }: StoredExtent): Promise<HeldExtent> {
  const name = `${key} ${start}`;
  const cached = CHUNKS.get(name);
  if (cached !== undefined) return hold(name, cached);
  const permit = await READING.acquire();
  try {
    // Looks again, because another request may have read the chunk meanwhile.
    let chunk = CHUNKS.get(name);
    if (chunk === undefined) {
      chunk = await store.read(key, start, length);
      // Verifies the bytes, because cached bytes serve many requests.
      if (checksum !== undefined) checkChunk(key, checksum, createHash("sha1").update(chunk).digest());
      CHUNKS.set(name, chunk, chunk.length);
    }
    return hold(name, chunk);
  } finally {
    permit.release();
  }
}

function hold(name: string, bytes: Uint8Array): HeldExtent {
  HOLDERS.set(bytes, (HOLDERS.get(bytes) ?? 0) + 1);
  const release = (): void => {
    const left = HOLDERS.get(bytes)! - 1;
    if (left > 0) return void HOLDERS.set(bytes, left);
    HOLDERS.delete(bytes);
    if (CHUNKS.get(name) !== bytes) freeBytes(bytes);
  };
  return { bytes, release };
}
