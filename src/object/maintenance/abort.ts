import { parseAbortKey } from "../lfs/lfs-part-uploads.ts";
import type { JobOutcome, JobRun } from "./maintenance-jobs.ts";

/** Ends an upload of an LFS object in parts that nobody has continued, and removes what it has
 * stored. */
export async function abort({ repository, job, store, nowMs }: JobRun): Promise<JobOutcome> {
  const { key, write } = parseAbortKey(job.key);
  const { tables, jobs } = repository;
  const upload = tables?.lfsUploads.findKey(key) ?? null;
  if (tables !== null && upload !== null) {
    if (upload.endsMs > nowMs) {
      jobs.add("abort", job.key, upload.endsMs);
      return { counts: {}, again: false };
    }
    repository.lfsChecks.delete(upload.id);
    repository.transactAside(() => tables.lfsUploads.remove(upload.id));
  }
  await store.resumeMultipart(key, write).abort();
  // The parts may have become the object.
  jobs.add("sweep", key, nowMs);
  return { counts: {}, again: false };
}
