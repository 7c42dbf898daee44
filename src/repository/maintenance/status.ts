import type { JobKind, JobRecord, WaitingJob } from "../../store/jobs/jobs.ts";
import type { OpenRepository } from "../objects/open-repository.ts";

/** What housekeeping has to do with, and does: sizes in bytes. */
export interface MaintenanceStatus {
  readonly objects: number;
  readonly commits: number;
  readonly refs: number;
  readonly chunks: {
    readonly hot: number;
    /** Of the hot ones, those that are as they were pushed. */
    readonly unmerged: number;
    readonly sealed: number;
    /** Those that hold bytes of no use, or cannot be sent as they are for another reason. */
    readonly unwhole: number;
  };
  readonly bytes: number;
  readonly hotBytes: number;
  /** Objects in R2 that chunks lie in. */
  readonly r2Objects: number;
  readonly jobs: readonly WaitingJob[];
  /** The last run of each kind that succeeded. */
  readonly lastRuns: Partial<Record<JobKind, JobRecord>>;
}

/** Tells how housekeeping stands; every chunk's row is read, no object's. */
export async function maintenance({ tables }: OpenRepository): Promise<MaintenanceStatus> {
  const { objects, graph, refs, chunks, jobs } = tables;
  const rows = chunks.allInOrder();
  const hot = rows.filter(({ key }) => key === null);
  const sum = (some: typeof rows): number => some.reduce((bytes, { size }) => bytes + size, 0);
  return {
    objects: objects.present().size,
    commits: graph.length,
    refs: refs.all().names.length,
    chunks: {
      hot: hot.length,
      unmerged: hot.filter(({ packOffset }) => packOffset > 0).length,
      sealed: rows.length - hot.length,
      unwhole: rows.filter(({ whole }) => !whole).length,
    },
    bytes: sum(rows),
    hotBytes: sum(hot),
    r2Objects: chunks.keys().size,
    // What the registry is told is no housekeeping.
    jobs: jobs.all().filter(({ kind }) => kind !== "announce"),
    lastRuns: jobs.lastRuns(),
  };
}
