import type { ChunkRow } from "../store/index/chunk-row.ts";
import type { SealedChunk } from "../store/index/chunk-table.ts";
import { readChunk } from "../objects/chunk-bytes.ts";
import {
  type JobOutcome,
  type JobRun,
  isSealDue,
  RUN_BYTES,
  SEAL_BYTES,
  SMALL_OBJECT_BYTES,
} from "./maintenance-jobs.ts";
import { retireObjects, storeObjects } from "./sweep.ts";

/** Moves hot chunks, and those in small R2 objects, end to end into objects of 2 MB to 4 MB, once
 * there are enough of either. A rest too small for an object stays. */
export async function seal(run: JobRun): Promise<JobOutcome> {
  const { tables } = run.repository;
  const counts = { chunks: 0, bytes: 0, peakBytes: 0 };
  if (tables === null || !isSealDue(tables.chunks)) return { counts, again: false };
  for (const group of groupChunks(tables.chunks.sealable(SMALL_OBJECT_BYTES))) {
    if (counts.bytes >= RUN_BYTES || run.pace.isInterrupted) return { counts, again: true };
    const sizeBytes = await sealGroup(run, group);
    counts.chunks += group.length;
    counts.bytes += sizeBytes;
    // The object, and the chunk being copied into it.
    counts.peakBytes = Math.max(
      counts.peakBytes,
      sizeBytes + group.reduce((most, { size }) => Math.max(most, size), 0),
    );
    await run.pace.rest();
  }
  return { counts, again: false };
}

/** @returns bytes of the object */
async function sealGroup(run: JobRun, group: readonly ChunkRow[]): Promise<number> {
  const { chunks } = run.repository.tables!;
  const bytes = new Uint8Array(group.reduce((sum, { size }) => sum + size, 0));
  let start = 0;
  const sealed: SealedChunk[] = [];
  for (const chunk of group) {
    bytes.set(await readChunk(chunks, run.store, chunk), start);
    sealed.push({ id: chunk.id, start });
    start += chunk.size;
  }
  await storeObjects(run, [bytes], ([key]) => {
    chunks.seal(key!, sealed);
    retireObjects(
      run.repository,
      run.repository.tables!,
      group.map(({ key: former }) => former),
      run.nowMs,
    );
  });
  return bytes.length;
}

/** Groups chunks into objects, leaving out a rest that is too small.
 * @param chunks by number: neighbours stay neighbours */
function groupChunks(chunks: readonly ChunkRow[]): ChunkRow[][] {
  const groups: ChunkRow[][] = [];
  let group: ChunkRow[] = [];
  let groupBytes = 0;
  for (const chunk of chunks) {
    group.push(chunk);
    groupBytes += chunk.size;
    if (groupBytes < SEAL_BYTES) continue;
    groups.push(group);
    group = [];
    groupBytes = 0;
  }
  return groups;
}
