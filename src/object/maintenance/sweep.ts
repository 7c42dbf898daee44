import { GitError } from "../../base/format/errors.ts";
import type { ChunkStore } from "../../base/chunks/chunk-store.ts";
import type { Tables } from "../store/tables.ts";
import { ownerOf } from "../state/chunk-owners.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import { type JobOutcome, type JobRun, PLAN_LIFE_MS } from "./maintenance-jobs.ts";

/** When an object that a job was writing counts as left behind by a crash; and how much later a
 * second check follows. */
const SWEEP_AFTER_MS = 60 * 60_000;

/** Prefix of the key of a job that checks again. No R2 key has it. */
const AGAIN = "again ";

/** Removes R2 objects that no row names: the one of the job's key or, if the key ends with a slash,
 * all below it, which a failed push left. An hour later it checks again: the writer may have died
 * only just now, and its last writes may still arrive. */
export async function sweep({ repository, job, store, nowMs }: JobRun): Promise<JobOutcome> {
  const { jobs, activePrefixes } = repository;
  const isAgain = job.key.startsWith(AGAIN);
  const target = isAgain ? job.key.slice(AGAIN.length) : job.key;
  if (activePrefixes.has(target)) throw new GitError("unavailable", { what: target, reason: "still written to" });
  const garbage = await findGarbage(repository, store, target);
  if (garbage.length > 0) await store.delete(garbage);
  if (!isAgain) jobs.add("sweep", `${AGAIN}${target}`, nowMs + SWEEP_AFTER_MS);
  return { counts: { deletedObjects: garbage.length }, again: false };
}

async function findGarbage(repository: RepositoryState, store: ChunkStore, target: string): Promise<string[]> {
  const { tables, jobs, pins } = repository;
  const isGarbage = (key: string): boolean =>
    !pins.has(key) &&
    !tables?.chunks.hasKey(key) &&
    !tables?.responses.hasObject(key) &&
    tables?.uploads.hasKey(key) !== true &&
    tables?.lfs.hasKey(key) !== true &&
    tables?.bundles.current()?.key !== key;
  if (!target.endsWith("/")) return isGarbage(target) ? [target] : [];
  const garbage: string[] = [];
  // A key with a job of its own is left to that job: fetches may still need it.
  for await (const key of store.list(target)) if (isGarbage(key) && !jobs.has("sweep", key)) garbage.push(key);
  return garbage;
}

/** Schedules `sweep` for R2 objects that hold no chunk any more, for when no fetch can need them;
 * for those of another repository, `unpin`. Must run in the transaction that removed the chunks. */
export function retireObjects(
  { key: own }: RepositoryState,
  { chunks, jobs }: Tables,
  keys: Iterable<string | null>,
  nowMs: number,
): void {
  for (const key of new Set(keys)) {
    if (key === null || chunks.hasKey(key)) continue;
    if (ownerOf(key) === own) {
      jobs.add("sweep", key, nowMs + PLAN_LIFE_MS);
      continue;
    }
    // Together with what it was due for: each object of others is retired once.
    jobs.cancel("unpin", ownerOf(key));
    jobs.add("unpin", ownerOf(key), nowMs + PLAN_LIFE_MS);
  }
}

/** Writes R2 objects and names them in one transaction. If that fails, sweeps remove them.
 * @param use names them, inside the transaction; if it throws, the transaction is rolled back */
export async function storeObjects(
  { repository, store, nowMs }: JobRun,
  objects: readonly Uint8Array[],
  use: (keys: readonly string[]) => void,
): Promise<void> {
  const { key: prefix, jobs, activePrefixes, platform } = repository;
  const keys = objects.map(() => `${prefix}/chunks/sealed-${crypto.randomUUID()}`);
  for (const key of keys) activePrefixes.add(key);
  try {
    for (const [i, key] of keys.entries()) {
      jobs.add("sweep", key, nowMs + SWEEP_AFTER_MS);
      await store.put(key, objects[i]!);
    }
    platform.transactor.transactionSync(() => {
      use(keys);
      for (const key of keys) jobs.cancel("sweep", key);
    });
  } finally {
    for (const key of keys) activePrefixes.delete(key);
  }
}
