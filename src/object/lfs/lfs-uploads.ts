// Uploads of LFS objects that fit into one request: through the Worker, or directly to the bucket
// by a signed request. In both cases a job that removes the bytes is scheduled before the first
// byte, until the object has its row.
import { GitError } from "../../base/format/errors.ts";
import type { LfsOid } from "../../base/format/lfs.ts";
import { checkLimit, MAX_LFS_OBJECTS, MAX_LFS_UPLOADS } from "../../base/format/limits.ts";
import { SIGNED_LIFE_S } from "../../base/chunks/signed-requests.ts";
import { lfsKey, lfsPrefix, newLfsKey } from "../store/lfs/lfs-table.ts";
import { type StoredLfsObject, lfsWaitMs, type LfsObject } from "../../contract/lfs.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { QuotaCheck } from "../state/quota-check.ts";

/** Delay after the grace period of an uploaded object before it may be collected: other objects
 * arrive with it. */
const COLLECT_DELAY_MS = 60 * 60_000;

/** Decides whether an object is accepted, before it is read. If the upload fails, a job removes its
 * bytes.
 * @returns the R2 key to store it at; null: it is stored already
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

/** Begins uploads that the client sends to the bucket directly. The quota is checked now, and again
 * when each object has arrived.
 * @param objects not stored yet, and within the quota
 * @returns their places in the bucket
 * @throws GitError "too-large" */
export function beginSigned(repository: OpenRepository, objects: readonly LfsObject[]): StoredLfsObject[] {
  if (objects.length === 0) return [];
  const { state, tables } = repository;
  const waiting = tables.jobs.count("sweep", lfsPrefix(state.key));
  const reason = "wait an hour until what failed is removed";
  checkLimit("the LFS objects under way", MAX_LFS_UPLOADS, waiting + objects.length, reason);
  const begun = objects.map((object) => ({ ...object, key: newLfsKey(state.key, object.oid) }));
  const endMs = Date.now() + SIGNED_LIFE_S * 1_000;
  state.transactAside(() => {
    for (const { key, sizeBytes } of begun) tables.jobs.add("sweep", key, endMs + lfsWaitMs(sizeBytes));
  });
  state.scheduleJobs();
  return begun;
}

/** Finds an object that a client has sent to the bucket, or may still be sending.
 * @param upload the end of its key
 * @returns its key
 * @throws GitError "not-found" when the upload does not exist (any more) */
export async function findSignedUpload(
  { state, tables }: OpenRepository,
  { oid, upload }: { readonly oid: LfsOid; readonly upload: string },
): Promise<string> {
  const key = lfsKey(state.key, oid, upload);
  if (!tables.jobs.has("sweep", key)) throw new GitError("not-found", { what: "LFS object's upload" });
  return key;
}

/** Adds an object that is stored.
 * @returns false: another upload of it was first, and that one stays
 * @throws GitError "timeout" when the upload took so long that its bytes may be gone, and as
 * `beginLfsObject`: the quota may have been used meanwhile */
export async function addLfsObject(repository: OpenRepository, object: StoredLfsObject): Promise<boolean> {
  const { state } = repository;
  const nowMs = Date.now();
  const { key, oid } = object;
  const isNew = state.transactAside(() => {
    const { jobs, lfs } = repository.tables;
    const sweep = jobs.find("sweep", key);
    if (sweep === null || sweep.attempts > 0 || sweep.dueMs <= nowMs) {
      throw new GitError("timeout", { what: "LFS object's upload", reason: "send it again" });
    }
    if (lfs.find(oid) !== null) return false;
    checkRoom(repository, [object]);
    enterLfsObject(repository, object, nowMs);
    jobs.cancel("sweep", key);
    return true;
  });
  state.scheduleJobs();
  return isNew;
}

/** Adds an object that is complete and not in the table. Must run in a transaction. */
export function enterLfsObject({ state, tables }: OpenRepository, object: StoredLfsObject, nowMs: number): void {
  const { jobs, lfs } = tables;
  lfs.begin(tables.objects.lastNumber());
  lfs.add(object, nowMs);
  // Forks wait until all pointer files are known. Otherwise the object is collected unless a push
  // names it by then.
  const waitMs = lfs.unread() > 0 ? 0 : state.platform.limits.pruneGraceMs + COLLECT_DELAY_MS;
  if (waitMs === 0 || !jobs.has("collect", "")) jobs.add("collect", "", nowMs + waitMs);
}

/** Has the bytes of an upload through the Worker removed now. An upload to the bucket is left to
 * its job, since the client could send it again. */
export async function dropLfsObject({ state, tables }: OpenRepository, key: string): Promise<void> {
  if (!key.startsWith(`${state.key}/`)) return;
  tables.jobs.add("sweep", key, Date.now());
  state.scheduleJobs();
}

/** Refuses objects that exceed a limit or the quota.
 * @param replacedBytes stored bytes that do not count, since the added ones replace them
 * @throws GitError "too-large" when the repository cannot have more objects, or the caller's quota
 * is exceeded */
export function checkRoom(
  { state, tables, requester }: OpenRepository,
  added: readonly LfsObject[],
  replacedBytes = 0,
): void {
  if (added.length === 0) return;
  const { limits } = state.platform;
  const reason = "keep other files elsewhere, or in another repository";
  checkLimit("the LFS objects of the repository", MAX_LFS_OBJECTS, tables.lfs.sums().count + added.length, reason);
  const addedBytes = added.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  new QuotaCheck(tables, requester, limits, replacedBytes).check(addedBytes, 0);
}
