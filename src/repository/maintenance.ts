import { GitError } from "../format/errors.ts";
import { CHUNK_TARGET_BYTES } from "../format/limits.ts";
import { newChunkCounters } from "../store/chunk-store.ts";
import type { Job, JobKind } from "../store/jobs.ts";
import type { SealedChunk } from "../store/chunk-table.ts";
import { buildBundle } from "./bundle-job.ts";
import type { RepositoryState } from "./repository-state.ts";

/** Hot bytes from which sealing them is worth an R2 operation: they make a chunk of the usual size. */
export const SEAL_BYTES = CHUNK_TARGET_BYTES;

/** When an object that a job was writing counts as left behind by a crash. */
const SWEEP_AFTER_MS = 60 * 60_000;

/** What each job does; all of it may happen twice. */
const HANDLERS: Record<JobKind, (repository: RepositoryState, job: Job) => Promise<void>> = {
  seal,
  sweep,
  bundle: buildBundle,
};

/** Runs the jobs that are due, one after the other. One that fails is put off; the error is reported, the others run. */
export async function runJobs(repository: RepositoryState, nowMs: number): Promise<void> {
  const { jobs } = repository;
  for (let job = jobs.take(nowMs); job !== null; job = jobs.take(nowMs)) {
    try {
      await HANDLERS[job.kind](repository, job);
      jobs.done(job);
    } catch (error) {
      repository.platform.observe({
        event: "job-failed",
        kind: job.kind,
        key: job.key,
        attempts: job.attempts,
        error: error instanceof Error ? error.message : String(error),
      });
      jobs.fail(job, nowMs);
    }
  }
}

/** Moves the hot chunks to R2, as many to an object as make `SEAL_BYTES`; what is less stays hot. */
async function seal({ tables, platform, key, jobs, activePrefixes }: RepositoryState): Promise<void> {
  if (tables === null) return;
  const store = platform.openChunks(newChunkCounters());
  for (let group = nextGroup(); group.size >= SEAL_BYTES; group = nextGroup()) {
    const bytes = new Uint8Array(group.size);
    for (const { id, start } of group.chunks) bytes.set(tables.chunks.hotBytesOf(id)!, start);
    const name = `${key}/chunks/sealed-${crypto.randomUUID()}`;
    activePrefixes.add(name);
    try {
      jobs.add("sweep", name, Date.now() + SWEEP_AFTER_MS);
      await store.put(name, bytes);
      platform.transactor.transactionSync(() => {
        tables.chunks.seal(name, group.chunks);
        jobs.cancel("sweep", name);
      });
    } finally {
      activePrefixes.delete(name);
    }
  }

  function nextGroup(): { chunks: SealedChunk[]; size: number } {
    const chunks: SealedChunk[] = [];
    let size = 0;
    for (const chunk of tables!.chunks.hotChunks()) {
      if (size >= SEAL_BYTES) break;
      chunks.push({ id: chunk.id, start: size });
      size += chunk.size;
    }
    return { chunks, size };
  }
}

/** Removes the objects below the job's prefix that no row names: a push or a job left them when it failed, or their time is up. */
async function sweep({ tables, platform, activePrefixes }: RepositoryState, job: Job): Promise<void> {
  if (activePrefixes.has(job.key)) throw new GitError("unavailable", { what: job.key, reason: "still written to" });
  const store = platform.openChunks(newChunkCounters());
  const used = new Set([...(tables?.chunks.keys() ?? []), tables?.bundles.current()?.key]);
  const garbage: string[] = [];
  for await (const key of store.list(job.key)) if (!used.has(key)) garbage.push(key);
  if (garbage.length > 0) await store.delete(garbage);
}
