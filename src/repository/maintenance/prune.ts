import { GitError } from "../../format/errors.ts";
import { NumberSet } from "../../store/numbers/number-set.ts";
import type { Tables } from "../../store/tables.ts";
import { ObjectReader } from "../objects/object-reader.ts";
import { walkTrees } from "../objects/tree-walk.ts";
import { type Doomed, findDoomed, findKept, looseTrees } from "./doomed.ts";
import { scheduleSeal, PRUNE_DELAY_MS, type JobOutcome, type JobRun, RUN_OBJECTS } from "./housekeeping.ts";
import { installChunks } from "./install.ts";
import { rewriteEntries } from "./rewrite.ts";
import { retireObjects } from "./sweep.ts";

/** How often a run begins anew because pushes changed what it had found. */
const ATTEMPTS = 3;

/** Objects rewritten at a time, and their bytes, inflated. */
const SLICE_OBJECTS = 5_000;
const SLICE_BYTES = 4_000_000;

/**
 * Removes objects to which no ref has led for the grace period. What stays as a delta on what goes becomes whole first; then one
 * transaction looks again, with all that pushes have done meanwhile, and removes rows. Bytes go with `compact` and `sweep`.
 */
export async function prune(run: JobRun): Promise<JobOutcome> {
  const { repository, nowMs } = run;
  const graceMs = repository.platform.limits.pruneGraceMs;
  const counts = { objects: 0, nodes: 0, expanded: 0 };
  if (repository.tables === null) return { counts, again: false };
  if (isPastForgotten(run)) {
    const { pushes, jobs } = repository.tables;
    jobs.add("prune", "", pushes.forgottenMs()! + graceMs + PRUNE_DELAY_MS);
    return { counts, again: false };
  }
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { tables } = repository;
    const kept = findKept(tables, nowMs - graceMs);
    const roots = looseTrees(tables, kept);
    const reader = new ObjectReader(tables, run.store, repository.platform.codec);
    const none = (): NumberSet => NumberSet.EMPTY;
    const walked = await walkTrees(reader, roots, none, Infinity, tables.objects.lastNumber() + 1);
    const doomed = findDoomed(tables, findKept(tables, nowMs - graceMs), walked, RUN_OBJECTS);
    if (doomed.objects.size === 0) {
      if (isLeft(tables)) tables.jobs.add("prune", "", nowMs + graceMs + PRUNE_DELAY_MS);
      return { counts, again: false };
    }
    const expanded = await expandDependents(run, doomed);
    counts.expanded += expanded.count;
    if (expanded.isPart) return { counts, again: true };
    const removed = remove(run, roots, walked);
    if (removed === null) continue;
    return { counts: { ...counts, objects: removed.objects.size, nodes: removed.nodes.size }, again: true };
  }
  throw new GitError("unavailable", { what: "pruning", reason: "pushes or fetches were under way each time" });
}

/** Whether a push within the grace period went to make room in the reflog: then nobody knows what it moved refs from. */
function isPastForgotten({ repository, nowMs }: JobRun): boolean {
  const forgottenMs = repository.tables!.pushes.forgottenMs();
  return forgottenMs !== null && forgottenMs > nowMs - repository.platform.limits.pruneGraceMs;
}

/** Whether something is there that no ref leads to: its time comes. */
function isLeft({ refs, objects, graph }: Tables): boolean {
  const tips = objects.lookupMany(refs.all().oids).number;
  const reached = graph.ancestors(Array.from(tips, (number) => graph.position(number)));
  return reached.count() < graph.length || objects.hasUnintroduced();
}

/** Makes whole what is to stay and is stored as a delta on what is to go. */
async function expandDependents(run: JobRun, { objects: doomed }: Doomed): Promise<{ count: number; isPart: boolean }> {
  const { tables, platform } = run.repository;
  const { objects } = tables!;
  const dependents = objects.dependents(doomed).toArray();
  let count = 0;
  while (count < dependents.length) {
    if (count >= RUN_OBJECTS || run.pace.isInterrupted) return { count, isPart: true };
    const rows = objects.locate(NumberSet.fromSorted(dependents.subarray(count, count + SLICE_OBJECTS)));
    let bytes = 0;
    const end = rows.size.findIndex((size, i) => (bytes += size) > SLICE_BYTES && i > 0);
    const numbers = NumberSet.fromSorted(end < 0 ? rows.number : rows.number.subarray(0, end));
    const rewritten = await rewriteEntries(tables!, run.store, platform.codec, {
      numbers,
      expanded: new Set(numbers.toArray()),
      splitAtGaps: false,
    });
    await installChunks(run, rewritten);
    count += numbers.size;
    await run.pace.rest();
  }
  return { count, isPart: false };
}

/** Looks again, and removes what may go as things are now.
 * @param roots the recent loose trees that were walked
 * @returns null when something came between: nothing was done */
function remove(run: JobRun, roots: NumberSet, walked: NumberSet): Doomed | null {
  const { repository, nowMs } = run;
  const { platform } = repository;
  const tables = repository.tables!;
  if (repository.isNumbersHeld || isPastForgotten(run)) return null;
  const kept = findKept(tables, nowMs - platform.limits.pruneGraceMs);
  if (looseTrees(tables, kept).difference(roots).size > 0) return null;
  const doomed = findDoomed(tables, kept, walked, RUN_OBJECTS);
  if (doomed.objects.size === 0 || tables.objects.dependents(doomed.objects).size > 0) return null;
  platform.transactor.transactionSync(() => {
    const chunks = tables.chunks.byIds(tables.objects.chunksOf(doomed.objects));
    for (const { object, introducer } of doomed.orphaned) tables.reachability.promote(object, introducer);
    tables.remove(doomed.objects, doomed.nodes);
    tables.chunks.release(chunks.map(({ id }) => id));
    retireObjects(
      tables,
      chunks.map(({ key }) => key),
      nowMs,
    );
    scheduleSeal(tables, nowMs);
    tables.jobs.add("compact", "", nowMs);
  });
  repository.reload();
  return doomed;
}
