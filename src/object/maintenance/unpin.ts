import { GitError } from "../../base/format/errors.ts";
import { pinNeeded } from "../forks/pins.ts";
import type { JobOutcome, JobRun } from "./maintenance-jobs.ts";

/** Tells another repository, the job's key, which of its R2 objects this one still needs; after
 * its deletion, or when it was never made, none. */
export async function unpin({ repository, job }: JobRun): Promise<JobOutcome> {
  if (repository.holds.has("pin")) throw new GitError("unavailable", { what: job.key, reason: "still being pinned" });
  await pinNeeded(repository, job.key);
  return { counts: {}, again: false };
}
