// The LFS objects of a repository. The Worker carries their bytes; what is here decides what is
// stored, and under which key.
import { GitError } from "../../format/errors.ts";
import type { LfsOid } from "../../format/lfs.ts";
import { checkLimit, MAX_LFS_OBJECTS, MIN_LFS_BYTES_PER_SECOND } from "../../format/limits.ts";
import { newLfsKey, type StoredLfsObject } from "../../store/lfs/lfs-table.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { QuotaCheck } from "../state/quota-check.ts";
import { checkLfsRef } from "./lfs-rights.ts";

/** The least time (ms) for which an object may arrive. */
const MIN_WAIT_MS = 60 * 60_000;

/** How long after its grace period an object is looked at that was sent: others come with it. */
const COLLECT_DELAY_MS = 60 * 60_000;

/** After this long (ms), asking for an object writes anew that it is wanted. */
const RENEW_MS = 60 * 60_000;

/** An object that a client has. */
export interface LfsObject {
  readonly oid: LfsOid;
  readonly sizeBytes: number;
}

/** What a client wants to do with objects. */
export interface LfsBatch {
  readonly operation: "upload" | "download";
  /** Without repetition. */
  readonly objects: readonly LfsObject[];
  /** Full name of the ref that the objects are for, text; null: unknown. */
  readonly ref: string | null;
}

/** For how long (ms) an object may arrive. */
export function lfsWaitMs(sizeBytes: number): number {
  return Math.max(MIN_WAIT_MS, (sizeBytes / MIN_LFS_BYTES_PER_SECOND) * 1_000);
}

/** Finds the objects of a batch.
 * @returns those that are there
 * @throws GitError "forbidden" when the caller must not change the ref, "too-large" when the
 * missing ones exceed the quota */
export async function lfsBatch(
  repository: OpenRepository,
  { operation, objects, ref }: LfsBatch,
): Promise<StoredLfsObject[]> {
  const { tables } = repository;
  const found = tables.lfs.findMany(objects.map(({ oid }) => oid));
  if (operation === "upload") {
    checkLfsRef(repository, ref);
    const missing = objects.filter(({ oid }) => !found.has(oid));
    checkRoom(repository, missing);
    // The client does not send what is there. It must be there still when the push names it.
    const nowMs = Date.now();
    repository.state.transactAside(() => tables.lfs.renew([...found.keys()], nowMs, nowMs - RENEW_MS));
  }
  return [...found.values()];
}

/** One object.
 * @throws GitError "not-found" */
export async function findLfsObject({ tables }: OpenRepository, oid: LfsOid): Promise<StoredLfsObject> {
  const found = tables.lfs.find(oid);
  if (found === null) throw new GitError("not-found", { what: "LFS object" });
  return found;
}

/** Decides whether an object is taken, before it is read. What its upload leaves if it fails, a job
 * removes.
 * @returns the R2 key to store it at; null: it is there already
 * @throws GitError "too-large" beyond a limit or the quota */
export async function beginLfsObject(repository: OpenRepository, object: LfsObject): Promise<string | null> {
  const { state, tables } = repository;
  if (tables.lfs.find(object.oid) !== null) return null;
  checkRoom(repository, [object]);
  const key = newLfsKey(state.key, object.oid);
  tables.jobs.add("sweep", key, Date.now() + lfsWaitMs(object.sizeBytes));
  state.scheduleJobs();
  return key;
}

/** Enters an object that is stored. If another upload of it came first, that one stays.
 * @throws GitError "timeout" when it took so long that what it stored may be gone, and as
 * `beginLfsObject`: the quota may have been used meanwhile */
export async function addLfsObject(repository: OpenRepository, object: StoredLfsObject): Promise<void> {
  const { state } = repository;
  const nowMs = Date.now();
  const { key, oid } = object;
  state.transactAside(() => {
    const { jobs, lfs } = repository.tables;
    const sweep = jobs.find("sweep", key);
    if (sweep === null || sweep.attempts > 0 || sweep.dueMs <= nowMs) {
      throw new GitError("timeout", { what: "LFS object's upload", reason: "send it again" });
    }
    if (lfs.find(oid) !== null) return jobs.add("sweep", key, nowMs);
    checkRoom(repository, [object]);
    lfs.begin(repository.tables.objects.lastNumber());
    lfs.add(object, nowMs);
    jobs.cancel("sweep", key);
    // Unless a push names it by then.
    if (!jobs.has("collect", ""))
      jobs.add("collect", "", nowMs + state.platform.limits.pruneGraceMs + COLLECT_DELAY_MS);
  });
  state.scheduleJobs();
}

/** Has what a failed upload stored removed now. */
export async function dropLfsObject({ state, tables }: OpenRepository, key: string): Promise<void> {
  if (!key.startsWith(`${state.key}/`)) return;
  tables.jobs.add("sweep", key, Date.now());
  state.scheduleJobs();
}

/** @throws GitError "too-large" when the repository cannot have more objects, or the caller's quota
 * is exceeded */
function checkRoom({ state, tables, requester }: OpenRepository, added: readonly LfsObject[]): void {
  if (added.length === 0) return;
  const { limits } = state.platform;
  const reason = "keep other files elsewhere, or in another repository";
  checkLimit("the LFS objects of the repository", MAX_LFS_OBJECTS, tables.lfs.sums().count + added.length, reason);
  const addedBytes = added.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  new QuotaCheck(tables, requester, limits).check(addedBytes, 0);
}
