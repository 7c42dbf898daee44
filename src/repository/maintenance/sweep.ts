import { GitError } from "../../format/errors.ts";
import type { ChunkStore } from "../../store/chunks/chunk-store.ts";
import type { Tables } from "../../store/tables.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import { type JobOutcome, type JobRun, PLAN_LIFE_MS } from "./housekeeping.ts";

/** When an object that a job was writing counts as left behind by a crash; and how much later it is looked for again. */
const SWEEP_AFTER_MS = 60 * 60_000;

/** Begins the key of a job that looks again; no R2 key begins so. */
const AGAIN = "again ";

/** Removes R2 objects that no row names: the one of the job's key, or, when that ends with a slash, all below it, which a push
 * left when it failed. An hour later it looks again: whoever wrote there may have died just now, and what it had sent may still arrive. */
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

async function findGarbage({ tables, jobs }: RepositoryState, store: ChunkStore, target: string): Promise<string[]> {
  const isGarbage = (key: string): boolean =>
    !tables?.chunks.hasKey(key) && !tables?.responses.hasObject(key) && tables?.bundles.current()?.key !== key;
  if (!target.endsWith("/")) return isGarbage(target) ? [target] : [];
  const garbage: string[] = [];
  // A key with a job of its own waits for that: fetches may need it still.
  for await (const key of store.list(target)) if (isGarbage(key) && !jobs.has("sweep", key)) garbage.push(key);
  return garbage;
}

/** Leaves R2 objects to `sweep` that no chunk lies in any more, once no fetch can need them; belongs in the transaction that took
 * the chunks away. */
export function retireObjects(tables: Tables, keys: Iterable<string | null>, nowMs: number): void {
  for (const key of new Set(keys)) {
    if (key !== null && !tables.chunks.hasKey(key)) tables.jobs.add("sweep", key, nowMs + PLAN_LIFE_MS);
  }
}

/** Writes R2 objects and names them in one transaction; whatever comes between, sweeps take them away.
 * @param use names them; in the transaction, which what it throws takes back */
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
