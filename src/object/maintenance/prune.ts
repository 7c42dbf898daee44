import { GitError } from "../../base/format/errors.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { Tables } from "../store/tables.ts";
import { ObjectReader } from "../objects/object-reader.ts";
import { walkTrees } from "../objects/tree-walk.ts";
import {
  type Kept,
  type Unreachable,
  findUnreachable,
  findKept,
  recentSince,
  recentTrees,
} from "../objects/unreachable.ts";
import { scheduleCollection } from "./collect-lfs.ts";
import { scheduleSeal, PRUNE_DELAY_MS, type JobOutcome, type JobRun, RUN_OBJECTS } from "./maintenance-jobs.ts";
import { installChunks } from "./install.ts";
import { rewriteEntries } from "./rewrite.ts";
import { retireObjects } from "./sweep.ts";

/** How often a run starts again because pushes invalidated its findings. */
const ATTEMPTS = 3;

/** The most objects rewritten at a time, and their inflated bytes. */
const SLICE_OBJECTS = 5_000;
const SLICE_BYTES = 4_000_000;

/** Removes objects that have been unreachable for the grace period, and hidden ones that are of no
 * use. First, remaining objects that
 * are deltas on removed ones are stored whole. Then one transaction checks again, including all
 * pushes made meanwhile, and removes the rows. `compact` and `sweep` remove the bytes. */
export async function prune(run: JobRun): Promise<JobOutcome> {
  const { repository, nowMs } = run;
  const graceMs = repository.platform.limits.pruneGraceMs;
  const counts = { objects: 0, nodes: 0, undeltified: 0 };
  if (repository.tables === null) return { counts, again: false };
  if (isPastForgotten(run)) {
    const { pushes, jobs } = repository.tables;
    jobs.add("prune", "", pushes.forgottenMs()! + graceMs + PRUNE_DELAY_MS);
    return { counts, again: false };
  }
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { tables } = repository;
    const kept = findKept(tables, recentSince(tables, nowMs, graceMs));
    const roots = recentTrees(tables, kept);
    const reader = new ObjectReader(tables, run.store, repository.platform.codec);
    const none = (): NumberSet => NumberSet.EMPTY;
    const walked = await walkTrees(reader, roots, none, Infinity, tables.objects.lastNumber() + 1);
    const unreachable = findRemovable(tables, findKept(tables, recentSince(tables, nowMs, graceMs)), walked);
    if (unreachable.objects.size === 0) {
      if (isLeft(tables)) tables.jobs.add("prune", "", nowMs + graceMs + PRUNE_DELAY_MS);
      return { counts, again: false };
    }
    const undeltified = await undeltifyDependents(run, unreachable);
    counts.undeltified += undeltified.count;
    if (undeltified.isPart) return { counts, again: true };
    const removed = remove(run, roots, walked);
    if (removed === null) continue;
    return { counts: { ...counts, objects: removed.objects.size, nodes: removed.nodes.size }, again: true };
  }
  throw new GitError("unavailable", { what: "pruning", reason: "pushes or fetches came between each time" });
}

/** Whether a push within the grace period was dropped from a full reflog: then it is unknown where
 * its refs were before. */
function isPastForgotten({ repository, nowMs }: JobRun): boolean {
  const tables = repository.tables!;
  const forgottenMs = tables.pushes.forgottenMs();
  return forgottenMs !== null && forgottenMs > recentSince(tables, nowMs, repository.platform.limits.pruneGraceMs);
}

/** What one run can remove: what is unreachable, and at last the hidden objects on which nothing is
 * a delta any more. */
function findRemovable(tables: Tables, kept: Kept, walked: NumberSet): Unreachable {
  const found = findUnreachable(tables, kept, walked, RUN_OBJECTS);
  const { objects } = tables;
  const hidden = objects.hidden();
  if (found.objects.size > 0 || hidden.size === 0) return found;
  return { ...found, objects: hidden.difference(objects.withBases(objects.dependents(hidden))) };
}

/** Whether unreachable objects remain for a later run. */
function isLeft({ refs, objects, graph }: Tables): boolean {
  const tips = objects.lookupMany(refs.all().oids).number;
  const reached = graph.ancestors(Array.from(tips, (number) => graph.position(number)));
  return reached.count() < graph.length || objects.hasUnintroduced();
}

/** Stores remaining objects whole that are deltas on unreachable ones. */
async function undeltifyDependents(
  run: JobRun,
  { objects: unreachable }: Unreachable,
): Promise<{ count: number; isPart: boolean }> {
  const { tables, platform } = run.repository;
  const { objects } = tables!;
  const dependents = objects.dependents(unreachable).toArray();
  let count = 0;
  while (count < dependents.length) {
    if (count >= RUN_OBJECTS || run.pace.isInterrupted) return { count, isPart: true };
    const rows = objects.locate(NumberSet.fromSorted(dependents.subarray(count, count + SLICE_OBJECTS)));
    let bytes = 0;
    const end = rows.size.findIndex((size, i) => (bytes += size) > SLICE_BYTES && i > 0);
    const numbers = NumberSet.fromSorted(end < 0 ? rows.number : rows.number.subarray(0, end));
    const rewritten = await rewriteEntries(tables!, run.store, platform.codec, {
      numbers,
      undeltified: new Set(numbers.toArray()),
      splitAtGaps: false,
    });
    await installChunks(run, rewritten);
    count += numbers.size;
    await run.pace.rest();
  }
  return { count, isPart: false };
}

/** Checks again, and removes what may be removed now.
 * @param roots the recent, unreferenced trees that were walked
 * @returns null when something changed meanwhile: nothing was done */
function remove(run: JobRun, roots: NumberSet, walked: NumberSet): Unreachable | null {
  const { repository, nowMs } = run;
  const { platform } = repository;
  const tables = repository.tables!;
  if (repository.isNumbersHeld || isPastForgotten(run)) return null;
  const kept = findKept(tables, recentSince(tables, nowMs, platform.limits.pruneGraceMs));
  if (recentTrees(tables, kept).difference(roots).size > 0) return null;
  const unreachable = findRemovable(tables, kept, walked);
  if (unreachable.objects.size === 0 || tables.objects.dependents(unreachable.objects).size > 0) return null;
  platform.transactor.transactionSync(() => {
    const chunks = tables.chunks.byIds(tables.objects.chunksOf(unreachable.objects));
    tables.reachability.promote(unreachable.orphaned);
    tables.remove(unreachable.objects, unreachable.nodes);
    tables.chunks.release(chunks.map(({ id }) => id));
    retireObjects(
      repository,
      tables,
      chunks.map(({ key }) => key),
      nowMs,
    );
    scheduleSeal(tables, nowMs);
    scheduleCollection(tables, nowMs);
    tables.jobs.add("compact", "", nowMs);
  });
  repository.reload();
  return unreachable;
}
