import type { JobOutcome, JobRun } from "./maintenance-jobs.ts";

/** The most R2 objects that one run removes: ten full delete requests. */
const RUN_KEYS = 10_000;

/** How much later a second run checks again: by then, writes that were in flight have ended. */
const LOOK_AGAIN_MS = 60 * 60_000;

/** The job's key for the second run. */
const AGAIN = "again";

/** Removes the R2 objects of a deleted repository and, an hour later, those written meanwhile.
 * After that no jobs are left except sweeps of pushes still in progress. With the last of them the
 * database is removed too (`Repository.runJobs`). What others of the family need stays until they
 * need it no more, and with it the database. */
export async function erase({ repository, job, store, nowMs }: JobRun): Promise<JobOutcome> {
  const { jobs, pins, key: prefix } = repository;
  // Nobody continues an upload in parts any more.
  for (const { kind, key } of jobs.all()) if (kind === "abort") jobs.add(kind, key, nowMs);
  const keys: string[] = [];
  for await (const key of store.list(`${prefix}/`)) {
    if (!pins.has(key) && keys.push(key) === RUN_KEYS) break;
  }
  if (keys.length > 0) await store.delete(keys);
  for (const key of keys) jobs.cancel("sweep", key);
  if (job.key !== AGAIN) jobs.add("erase", AGAIN, nowMs + LOOK_AGAIN_MS);
  return { counts: { deletedObjects: keys.length }, again: keys.length === RUN_KEYS };
}
