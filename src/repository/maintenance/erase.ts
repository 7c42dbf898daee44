import type { JobOutcome, JobRun } from "./housekeeping.ts";

/** R2 objects that one run removes at the most: ten deletes of as many as one takes. */
const RUN_KEYS = 10_000;

/** How much later it is looked once more: a write that was under way has ended by then. */
const LOOK_AGAIN_MS = 60 * 60_000;

/** The job's key when it looks once more. */
const AGAIN = "again";

/** Removes the R2 objects of a deleted repository, and those that were being written meanwhile an hour later. Then no job is left, but for
 * the sweeps of pushes that are still under way, and with the last of them the database goes as well (`Repository.runJobs`). */
export async function erase({ repository, job, store, nowMs }: JobRun): Promise<JobOutcome> {
  const { jobs, key: prefix } = repository;
  const keys: string[] = [];
  for await (const key of store.list(`${prefix}/`)) {
    if (keys.push(key) === RUN_KEYS) break;
  }
  if (keys.length > 0) await store.delete(keys);
  for (const key of keys) jobs.cancel("sweep", key);
  if (job.key !== AGAIN) jobs.add("erase", AGAIN, nowMs + LOOK_AGAIN_MS);
  return { counts: { deletedObjects: keys.length }, again: keys.length === RUN_KEYS };
}
