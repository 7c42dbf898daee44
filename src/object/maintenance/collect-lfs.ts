import { toByteString } from "../../base/format/byte-string.ts";
import { MAX_POINTER_BYTES, parsePointer } from "../../base/format/lfs.ts";
import { BLOB } from "../../base/format/object.ts";
import type { LfsPointer } from "../store/lfs/lfs-table.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { Tables } from "../store/tables.ts";
import { ObjectReader } from "../objects/object-reader.ts";
import { type JobOutcome, type JobRun, PRUNE_DELAY_MS, RUN_OBJECTS } from "./maintenance-jobs.ts";
import { retireObjects } from "./sweep.ts";

/** LFS objects that one run removes. */
const RUN_LFS_OBJECTS = 1_000;

/** Removes LFS objects that no pointer file has named for the grace period. A pointer file is known
 * from its push; those of pushes that came before the first LFS object are found first. In a fork
 * they release what they name of the parent's objects, and the rest of these goes. */
export async function collectLfs(run: JobRun): Promise<JobOutcome> {
  const { repository, nowMs } = run;
  const counts = { pointers: 0, lfsObjects: 0 };
  if (repository.tables === null) return { counts, again: false };
  if (repository.tables.lfs.unread() > 0) {
    return { counts: { ...counts, pointers: await findPointers(run) }, again: true };
  }
  const { pruneGraceMs } = repository.platform.limits;
  const removed = repository.platform.transactor.transactionSync(() => {
    const tables = repository.tables!;
    const unnamed = tables.lfs.unnamed(nowMs - pruneGraceMs, RUN_LFS_OBJECTS);
    tables.lfs.remove(unnamed);
    // Of a fork: no pointer file of its own names these.
    const withheld = tables.lfs.dropWithheld();
    retireObjects(repository, tables, [...unnamed.map(({ key }) => key), ...withheld], nowMs);
    return unnamed.length;
  });
  const { lfs, jobs } = repository.tables;
  // Those that were sent, and not pushed yet.
  if (removed < RUN_LFS_OBJECTS && lfs.unnamed(Infinity, 1).length > 0)
    jobs.add("collect", "", nowMs + pruneGraceMs + PRUNE_DELAY_MS);
  return { counts: { ...counts, lfsObjects: removed }, again: removed === RUN_LFS_OBJECTS };
}

/** Finds the pointer files among some of the objects that came before pointers were noted, the
 * newest first: by size, few of them need be read.
 * @returns how many */
async function findPointers({ repository, store, pace, nowMs }: JobRun): Promise<number> {
  const { tables, platform } = repository;
  const { lfs, objects } = tables!;
  const last = lfs.unread();
  const from = Math.max(1, last + 1 - RUN_OBJECTS);
  const rows = objects.locate(NumberSet.range(from, last + 1).intersection(objects.present()));
  const small = Array.from(rows.number).filter(
    (_, i) => rows.type[i] === BLOB && rows.size[i]! < MAX_POINTER_BYTES && rows.size[i]! > 0,
  );
  const found: LfsPointer[] = [];
  const reader = new ObjectReader(tables!, store, platform.codec);
  for await (const [object, { bytes }] of reader.readEach(NumberSet.fromSorted(Uint32Array.from(small)))) {
    const pointer = parsePointer(toByteString(bytes));
    if (pointer !== null) found.push({ object, ...pointer });
    await pace.rest();
  }
  // Forks copy what this writes.
  platform.transactor.transactionSync(() => {
    lfs.addPointers(found);
    lfs.release(
      found.map(({ oid }) => oid),
      nowMs,
    );
    lfs.setUnread(from - 1);
  });
  return found.length;
}

/** Adds the job `collect` when pointer files may be gone. Must run in the transaction that removed
 * objects. */
export function scheduleCollection({ lfs, jobs }: Tables, nowMs: number): void {
  if (lfs.sums().count > 0) jobs.add("collect", "", nowMs);
}
