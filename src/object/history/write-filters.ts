import { NumberSet } from "../../base/numbers/number-set.ts";
import type { Tables } from "../store/tables.ts";
import { makePathFilters } from "../diff/changed-paths.ts";
import type { ObjectReader } from "../objects/object-reader.ts";

/** A worker that may be interrupted before all is done. */
interface Worker {
  readonly isInterrupted: boolean;
  rest(): Promise<void>;
}

/** Commits whose filters are made and stored at a time. */
const SLICE_COMMITS = 4_000;

/** Makes the filters of the commits pushed since the last call, in table `path_filters`. An
 * interruption loses at most the current slice, which the next call repeats.
 * @param most the most commits and other graph nodes to handle
 * @param worker rests during a slice, and may be interrupted after it
 * @returns how many nodes were handled, and whether that was all
 * @throws GitError "storage-failed" when a tree cannot be read */
export async function writeFilters(
  { tables, reader }: { readonly tables: Tables; readonly reader: ObjectReader },
  most: number,
  worker: Worker,
): Promise<{ commits: number; isAll: boolean }> {
  const { pathFilters } = tables;
  const missing = pathFilters.missing();
  const taken = missing.subarray(0, Math.min(most, missing.length));
  await worker.rest();
  const trees = reader.hold();
  let commits = 0;
  while (commits < taken.length) {
    const slice = NumberSet.fromSorted(taken.subarray(commits, commits + SLICE_COMMITS));
    pathFilters.add(await makePathFilters({ tables, trees }, slice, () => worker.rest()));
    commits += slice.size;
    if (worker.isInterrupted) break;
  }
  return { commits, isAll: commits === missing.length };
}
