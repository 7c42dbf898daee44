// What maintenance does, and when: the limits that the jobs share. Every job may be interrupted at
// any `await`, and run twice. One runs at a time, beside pushes and fetches. A push only adds rows.
// A fetch is already planned, and of the replaced data it needs only the R2 objects, which stay for
// `PLAN_LIFE_MS`.
import type { Limits } from "../../base/format/configured-limits.ts";
import { CHUNK_TARGET_BYTES } from "../../base/format/limits.ts";
import type { ChunkStore } from "../../base/chunks/chunk-store.ts";
import type { Job } from "../store/jobs/jobs.ts";
import type { ChunkTable } from "../store/index/chunk-table.ts";
import type { Tables } from "../store/tables.ts";
import { isRewound } from "../fetch/bundle-job.ts";
import type { RefCommand } from "../../contract/push.ts";
import type { JobCounts } from "../../contract/log-events.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import type { Pace } from "../../base/pacing/pace.ts";

/** This many freshly pushed chunks are worth a repack. */
export const REPACK_CHUNKS = 64;

/** This many bytes are worth an R2 operation for sealing: a chunk of the usual size. */
export const SEAL_BYTES = CHUNK_TARGET_BYTES;

/** R2 objects below this size are small: written by a medium push, or what pruning left of a larger
 * one. */
export const SMALL_OBJECT_BYTES = CHUNK_TARGET_BYTES / 2;

/** This many small R2 objects are worth joining. */
export const SEAL_OBJECTS = 8;

/** How long an R2 object stays after its last chunk was removed: a running fetch may have a plan
 * that names it. */
export const PLAN_LIFE_MS = 24 * 60 * 60_000;

/** How long the reflog keeps a push. Git's default for reachable entries (gc.reflogExpire). */
export const REFLOG_MS = 90 * 24 * 60 * 60_000;

/** After this many new objects a job records the authors. A request for them does the rest itself;
 * this many take 0.1 s. */
export const TALLY_OBJECTS = 2_000;

/** After this many new objects a job makes the filters of their commits' paths: some 100 commits,
 * whose trees a request reads meanwhile. */
export const FILTER_OBJECTS = 500;

/** How long after its grace period a pruning is due, so that objects which become unreachable one
 * after the other are removed together. */
export const PRUNE_DELAY_MS = 60 * 60_000;

/** The most that one run of a job does before it leaves the rest to the next: an alarm has limited
 * time and memory. */
export const RUN_BYTES = 32_000_000;
export const RUN_OBJECTS = 20_000;

/** One run of a job. */
export interface JobRun {
  readonly repository: RepositoryState;
  readonly job: Job;
  readonly nowMs: number;
  /** Counts its operations. */
  readonly store: ChunkStore;
  /** Lets other requests run. */
  readonly pace: Pace;
}

/** The result of a run. */
export interface JobOutcome {
  readonly counts: JobCounts;
  /** Whether another run has to continue. */
  readonly again: boolean;
}

/** Adds the job `repack` when there are enough hot chunks, or runs of ids to merge. Must run in the
 * transaction that added them.
 *
 * Chunks are repacked before they are sealed. If they went to R2 as pushed, they would keep their
 * long delta chains for good, and the next thin push would read its bases through them. */
export function scheduleRepack({ chunks, objects, jobs }: Tables, nowMs: number): void {
  const { sizeBytes, unmerged } = chunks.hot();
  const isManyChunks = unmerged >= REPACK_CHUNKS || (unmerged > 0 && sizeBytes >= SEAL_BYTES);
  if (isManyChunks || objects.isMergeDue()) jobs.add("repack", "", nowMs);
}

/** Adds the job `prune` after a push that left unreachable objects. Must run in the push's
 * transaction.
 * @param moved the commands that moved their refs
 * @param isRefused whether other commands were refused */
export function schedulePrune(
  tables: Tables,
  moved: readonly RefCommand[],
  isRefused: boolean,
  { pruneGraceMs }: Limits,
  nowMs: number,
): void {
  // A run schedules its successor itself if needed.
  if (tables.jobs.has("prune", "")) return;
  if (isRefused || tables.objects.hasUnintroduced() || isRewound(tables, moved)) {
    tables.jobs.add("prune", "", nowMs + pruneGraceMs + PRUNE_DELAY_MS);
  }
}

/** Adds the job `tally` when enough was pushed. Must run in the push's transaction. */
export function scheduleTally({ authors, objects, jobs }: Tables, nowMs: number): void {
  if (objects.lastNumber() - authors.lastNumber() >= TALLY_OBJECTS) jobs.add("tally", "", nowMs);
}

/** Adds the job `filter` when enough was pushed. Must run in the push's transaction. */
export function scheduleFilter({ pathFilters, objects, jobs }: Tables, nowMs: number): void {
  if (objects.lastNumber() - pathFilters.lastNumber() >= FILTER_OBJECTS) jobs.add("filter", "", nowMs);
}

/** Adds the job `expire` when there are old pushes. */
export function scheduleExpire({ pushes, jobs }: Tables, nowMs: number): void {
  const oldestMs = pushes.oldestMs();
  if (oldestMs !== null && oldestMs < nowMs - REFLOG_MS) jobs.add("expire", "", nowMs);
}

/** Adds the job `seal` when there are enough repacked chunks or small R2 objects. Must run in the
 * transaction that added them. */
export function scheduleSeal({ chunks, jobs }: Tables, nowMs: number): void {
  if (isSealDue(chunks)) jobs.add("seal", "", nowMs);
}

/** Whether there is enough of either to seal. */
export function isSealDue(chunks: ChunkTable): boolean {
  if (chunks.hot().mergedBytes >= SEAL_BYTES) return true;
  const small = chunks.objectsBelow(SMALL_OBJECT_BYTES);
  return small.count >= SEAL_OBJECTS && small.sizeBytes >= SEAL_BYTES;
}
