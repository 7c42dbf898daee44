import { type JobOutcome, type JobRun, REFLOG_MS, RUN_OBJECTS } from "./maintenance-jobs.ts";

const DAY_MS = 24 * 60 * 60_000;

/** Removes recorded pushes that are older than both the reflog and pruning need, except for the
 * newest. Runs again while others remain. */
export async function expire({ repository, nowMs }: JobRun): Promise<JobOutcome> {
  const { tables, platform } = repository;
  if (tables === null) return { counts: { pushes: 0 }, again: false };
  const keepMs = Math.max(REFLOG_MS, platform.limits.pruneGraceMs);
  const pushes = tables.pushes.removeBefore(nowMs - keepMs, RUN_OBJECTS);
  const oldestMs = tables.pushes.oldestMs();
  // Once a day is enough, however much has been pushed.
  if (oldestMs !== null) tables.jobs.add("expire", "", Math.max(nowMs + DAY_MS, oldestMs + keepMs + 1));
  return { counts: { pushes }, again: pushes === RUN_OBJECTS };
}
