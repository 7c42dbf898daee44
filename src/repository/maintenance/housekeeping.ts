// What housekeeping is for, and when: the figures that the jobs share. Every job may be cut off at any `await`, and run
// twice; one runs at a time, beside pushes and fetches. A push only adds rows; a fetch has planned before and needs of
// what a job replaces nothing but its R2 objects, which live on for `PLAN_LIFE_MS`.
import { CHUNK_TARGET_BYTES, type Limits } from "../../format/limits.ts";
import type { ChunkStore } from "../../store/chunks/chunk-store.ts";
import type { Job, JobKind } from "../../store/jobs/jobs.ts";
import type { ChunkTable } from "../../store/index/chunk-table.ts";
import type { Tables } from "../../store/tables.ts";
import { isRewound } from "../bundle/bundle-job.ts";
import type { RefCommand } from "../state/push.ts";
import type { JobCounts } from "../state/repository-event.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import type { Pace } from "../pacing/pace.ts";

/** Chunks as they were pushed, from which it is worth merging them. */
export const MERGE_CHUNKS = 64;

/** Bytes from which sealing is worth an R2 operation: they make a chunk of the usual size. */
export const SEAL_BYTES = CHUNK_TARGET_BYTES;

/** R2 objects below this are small: what a medium push leaves, or what pruning left of a larger one. */
export const SMALL_OBJECT_BYTES = CHUNK_TARGET_BYTES / 2;

/** Small R2 objects from which it is worth joining them. */
export const SEAL_OBJECTS = 8;

/** How long an R2 object stays that no chunk lies in any more: a fetch under way holds a plan that names it. */
export const PLAN_LIFE_MS = 24 * 60 * 60_000;

/** How long the reflog tells of a push. git's own default for what is reachable (gc.reflogExpire). */
export const REFLOG_MS = 90 * 24 * 60 * 60_000;

/** Objects that are new since authors were last noted, from which a job sums up what was pushed. Who asks has the rest of it done at once; as
 * much as this takes 0.1 s. */
export const TALLY_OBJECTS = 2_000;

/** How much later than its grace period a pruning is due: what becomes unreachable one after the other goes at once. */
export const PRUNE_DELAY_MS = 60 * 60_000;

/** What one run of a job does at the most before it leaves the rest to the next: an alarm's time and memory are bounded. */
export const RUN_BYTES = 32_000_000;
export const RUN_OBJECTS = 20_000;

/** The jobs that somebody may ask for at any time. `compact` follows `prune`. */
export const MAINTENANCE_KINDS = ["repack", "seal", "prune", "compact", "expire"] as const satisfies JobKind[];

/** One of them. */
export type MaintenanceKind = (typeof MAINTENANCE_KINDS)[number];

/** One run of a job. */
export interface JobRun {
  readonly repository: RepositoryState;
  readonly job: Job;
  readonly nowMs: number;
  /** Counts what it does. */
  readonly store: ChunkStore;
  /** Lets requests through. */
  readonly pace: Pace;
}

/** What a run came to. */
export interface JobOutcome {
  readonly counts: JobCounts;
  /** There is more to do, for a run of its own. */
  readonly again: boolean;
}

/** Adds the job `repack` when hot chunks call for it; belongs in the transaction that added some.
 *
 * Chunks are merged before they are sealed: what went to R2 as it was pushed would keep its long delta chains for good, and the next
 * thin push reads its bases through them. */
export function scheduleMerge({ chunks, jobs }: Tables, nowMs: number): void {
  const { sizeBytes, unmerged } = chunks.hot();
  if (unmerged >= MERGE_CHUNKS || (unmerged > 0 && sizeBytes >= SEAL_BYTES)) jobs.add("repack", "", nowMs);
}

/** Adds the job `prune` after a push that left something to which no ref leads; belongs in its transaction.
 * @param moved the commands that moved their refs
 * @param isRefused whether others did not */
export function schedulePrune(
  tables: Tables,
  moved: readonly RefCommand[],
  isRefused: boolean,
  { pruneGraceMs }: Limits,
  nowMs: number,
): void {
  // A run that finds more to do later sees to it itself.
  if (tables.jobs.has("prune", "")) return;
  if (isRefused || tables.objects.hasUnintroduced() || isRewound(tables, moved)) {
    tables.jobs.add("prune", "", nowMs + pruneGraceMs + PRUNE_DELAY_MS);
  }
}

/** Adds the job `tally` when so much has been pushed; belongs in the push's transaction. */
export function scheduleTally({ authors, objects, jobs }: Tables, nowMs: number): void {
  if (objects.lastNumber() - authors.lastNumber() >= TALLY_OBJECTS) jobs.add("tally", "", nowMs);
}

/** Adds the job `expire` when there are pushes to forget. */
export function scheduleExpire({ pushes, jobs }: Tables, nowMs: number): void {
  const oldestMs = pushes.oldestMs();
  if (oldestMs !== null && oldestMs < nowMs - REFLOG_MS) jobs.add("expire", "", nowMs);
}

/** Adds the job `seal` when merged chunks or small objects call for it; belongs in the transaction that added some. */
export function scheduleSeal({ chunks, jobs }: Tables, nowMs: number): void {
  if (isSealDue(chunks)) jobs.add("seal", "", nowMs);
}

/** Whether there is enough to seal, of one kind or the other. */
export function isSealDue(chunks: ChunkTable): boolean {
  if (chunks.hot().mergedBytes >= SEAL_BYTES) return true;
  const small = chunks.objectsBelow(SMALL_OBJECT_BYTES);
  return small.count >= SEAL_OBJECTS && small.sizeBytes >= SEAL_BYTES;
}
