import type { JobKind, JobRecord, WaitingJob } from "../../store/jobs/jobs.ts";
import type { OpenRepository } from "../objects/open-repository.ts";

/** The state of maintenance; sizes in bytes. */
export interface MaintenanceStatus {
  readonly objects: number;
  readonly commits: number;
  readonly refs: number;
  readonly chunks: {
    readonly hot: number;
    /** Hot chunks that have not been repacked. */
    readonly unmerged: number;
    readonly sealed: number;
    /** Chunks that hold unused bytes, or cannot be sent whole for another reason. */
    readonly unwhole: number;
  };
  readonly bytes: number;
  readonly hotBytes: number;
  /** R2 objects that hold chunks. */
  readonly r2Objects: number;
  readonly jobs: readonly WaitingJob[];
  /** The last successful run of each kind. */
  readonly lastRuns: Partial<Record<JobKind, JobRecord>>;
}

/** Returns the state of maintenance. Reads no object's row. */
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
    jobs: jobs.all(),
    lastRuns: jobs.lastRuns(),
  };
}
