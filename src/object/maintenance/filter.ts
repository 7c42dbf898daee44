import { writeFilters } from "../history/write-filters.ts";
import { ObjectReader } from "../objects/object-reader.ts";
import { type JobOutcome, type JobRun, RUN_OBJECTS } from "./maintenance-jobs.ts";

/** Makes the filters of the paths that pushed commits change, by which histories of a path are
 * found without reading their trees. */
export async function filter({ repository, store, pace }: JobRun): Promise<JobOutcome> {
  const { tables, platform } = repository;
  if (tables === null) return { counts: { commits: 0 }, again: false };
  const reader = new ObjectReader(tables, store, platform.codec);
  const { commits, isAll } = await writeFilters({ tables, reader }, RUN_OBJECTS, pace);
  return { counts: { commits }, again: !isAll };
}
