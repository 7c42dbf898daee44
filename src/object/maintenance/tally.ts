import { ObjectReader } from "../objects/object-reader.ts";
import { noteAuthors } from "../tally/note-authors.ts";
import { sumTree } from "../tally/tree-sums.ts";
import { type JobOutcome, type JobRun, RUN_OBJECTS } from "./maintenance-jobs.ts";

/** Records the authors of pushed commits, and sums up the files of the default branch, so that
 * requests for either need not wait. */
export async function tally({ repository, store, pace }: JobRun): Promise<JobOutcome> {
  const { tables, platform } = repository;
  if (tables === null) return { counts: { commits: 0 }, again: false };
  const reader = new ObjectReader(tables, store, platform.codec);
  const { commits, isAll } = await noteAuthors({ tables, reader }, RUN_OBJECTS, pace);
  const head = repository.advertised.head?.oid ?? null;
  if (isAll && head !== null) {
    const { number } = tables.objects.find(head)!;
    await sumTree({ tables, reader }, tables.graph.tree(tables.graph.position(number)), () => pace.rest());
  }
  return { counts: { commits }, again: !isAll };
}
