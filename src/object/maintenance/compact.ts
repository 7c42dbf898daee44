import type { ChunkUse } from "../store/index/chunk-table.ts";
import { ownerOf } from "../state/chunk-owners.ts";
import { type JobOutcome, type JobRun, RUN_BYTES, RUN_OBJECTS } from "./maintenance-jobs.ts";
import { installChunks } from "./install.ts";
import { rewriteEntries } from "./rewrite.ts";

/** The fraction of a chunk's bytes that may be unused before it is rewritten. */
const WASTED_PART = 1 / 4;

/** Rewrites the chunks with many unused bytes, each on its own. A chunk without objects loses its
 * row. Those in R2 objects of other repositories stay: rewriting them would free nothing here. */
export async function compact(run: JobRun): Promise<JobOutcome> {
  const { tables, platform } = run.repository;
  const counts = { chunks: 0, objects: 0, bytes: 0, peakBytes: 0 };
  if (tables === null) return { counts, again: false };
  const isWasteful = ({ key, size, usedBytes }: ChunkUse): boolean =>
    (key === null || ownerOf(key) === run.repository.key) && size - usedBytes >= size * WASTED_PART;
  for (const chunk of tables.chunks.unwhole().filter(isWasteful)) {
    const isEnough = counts.bytes >= RUN_BYTES || counts.objects >= RUN_OBJECTS;
    if (isEnough || run.pace.isInterrupted) return { counts, again: true };
    const numbers = tables.objects.inChunk(chunk.id, chunk.firstNumber, chunk.lastNumber);
    const rewritten = await rewriteEntries(tables, run.store, platform.codec, {
      numbers,
      undeltified: new Set(),
      splitAtGaps: false,
    });
    await installChunks(run, { ...rewritten, sources: [chunk] });
    counts.chunks += 1;
    counts.objects += numbers.size;
    counts.bytes += chunk.usedBytes;
    counts.peakBytes = Math.max(counts.peakBytes, rewritten.peakBytes);
    await run.pace.rest();
  }
  return { counts, again: false };
}
