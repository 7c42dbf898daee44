import { GitError, isGitError } from "../../base/format/errors.ts";
import { HASH_BYTES, StoredHash } from "../../base/chunks/stored-hash.ts";
import type { StoredLfsUpload, LfsUploadName, LfsCompletion } from "../../contract/lfs.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { ISOLATE_MEMORY } from "../../base/pacing/memory-budget.ts";
import type { LfsCheck } from "../state/lfs-check.ts";
import { abortKey, countParts, dropUpload, findOpen, renewUpload } from "./lfs-part-uploads.ts";
import { checkRoom, enterLfsObject } from "./lfs-uploads.ts";

/** Time (ms) for which one request reads an object back. It is well below ten seconds: a
 * repository's object without a new request for that long may be ended with its last one, and the
 * hash's state would be lost. */
const CHECK_MS = 4_000;

/** Timeout for the memory reservation (ms). */
const MEMORY_WAIT_MS = 20_000;

/** Maximum number of missing parts that an error names. */
const NAMED_PARTS = 10;

/** Has the parts joined, reads the object back, and adds it if its SHA-256 is right. Requests for
 * the same upload share the work. If the process ends, reading begins again.
 * @throws GitError "not-found", "invalid" when parts are missing or the SHA-256 is wrong, which
 * ends the upload, "conflict" when the bucket has other parts than those that arrived, which ends
 * it, too, "too-large" when the quota has been used meanwhile, "unavailable" */
export async function completeLfsUpload(repository: OpenRepository, name: LfsUploadName): Promise<LfsCompletion> {
  const { state } = repository;
  const isThere = (): boolean => repository.tables.lfs.find(name.oid) !== null;
  if (isThere()) {
    // Stored by this upload, whose answer was lost, or by another one.
    const left = repository.tables.lfsUploads.find(name.id);
    if (left?.oid === name.oid) drop(repository, left);
    return { isDone: true, checkedBytes: 0 };
  }
  const upload = findOpen(repository.tables, name);
  state.transactAside(() => renewUpload(repository.tables, upload));
  let check = state.lfsChecks.get(upload.id);
  if (check === undefined) {
    check = { hash: new StoredHash(upload.key, upload.sizeBytes), running: null };
    state.lfsChecks.set(upload.id, check);
  }
  const running = check;
  running.running ??= goOn(repository, upload, running).finally(() => (running.running = null));
  await running.running;
  return { isDone: isThere(), checkedBytes: running.hash.readBytes };
}

async function goOn(repository: OpenRepository, upload: StoredLfsUpload, { hash }: LfsCheck): Promise<void> {
  if (!upload.isJoined) await join(repository, upload);
  const lease = await ISOLATE_MEMORY.take(HASH_BYTES, MEMORY_WAIT_MS);
  try {
    const endMs = Date.now() + CHECK_MS;
    const actual = await hash.advance(repository.chunks, () => Date.now() >= endMs);
    if (actual !== null) enter(repository, upload, actual);
  } catch (error) {
    // The hash can be read only once: after any failure it is computed again.
    repository.state.lfsChecks.delete(upload.id);
    throw error;
  } finally {
    lease.free();
  }
}

/** Joins the parts into the R2 object. */
async function join(repository: OpenRepository, upload: StoredLfsUpload): Promise<void> {
  const { state, chunks } = repository;
  const { id, key, write, sizeBytes } = upload;
  const parts = repository.tables.lfsUploads.parts(id);
  const count = countParts(upload);
  if (parts.length < count) {
    const there = new Set(parts.map(({ part }) => part));
    const missing = Array.from({ length: count }, (_, i) => i + 1).filter((part) => !there.has(part));
    const named = missing.slice(0, NAMED_PARTS).join(", ");
    const more = missing.length > NAMED_PARTS ? ` and ${missing.length - NAMED_PARTS} others` : "";
    const reason = `these of its ${count} parts have not come: ${named}${more}`;
    throw new GitError("invalid", { what: "upload of the LFS object", reason });
  }
  try {
    await chunks.resumeMultipart(key, write).complete(parts.map(({ tag }) => tag));
  } catch (error) {
    // The parts may be joined already, and the answer lost.
    const stat = await chunks.stat(key);
    if (stat?.sizeBytes !== sizeBytes) {
      if (!isGitError(error, "conflict")) throw error;
      drop(repository, upload);
      const reason = "the bucket has other parts than those that came last; send the object again";
      throw new GitError("conflict", { what: "upload of the LFS object", reason }, { cause: error });
    }
  }
  state.transactAside(() => repository.tables.lfsUploads.join(id));
}

/** @throws GitError "invalid" when the bytes are not the object's */
function enter(repository: OpenRepository, upload: StoredLfsUpload, actual: string): void {
  const { state } = repository;
  const { id, oid, key, sizeBytes, storedBytes } = upload;
  if (actual !== oid) {
    drop(repository, upload);
    const reason = `its SHA-256 is ${actual}, not ${oid}; send it again`;
    throw new GitError("invalid", { what: "LFS object", reason });
  }
  state.transactAside(() => {
    const { tables } = repository;
    findOpen(tables, upload);
    // Another upload was first, and its object stays.
    if (tables.lfs.find(oid) !== null) return dropUpload(state, tables, upload);
    checkRoom(repository, [{ oid, sizeBytes }], storedBytes);
    enterLfsObject(repository, { oid, sizeBytes, key }, Date.now());
    tables.lfsUploads.remove(id);
    tables.jobs.cancel("abort", abortKey(upload));
  });
  state.lfsChecks.delete(id);
  state.scheduleJobs();
}

function drop({ state, tables }: OpenRepository, upload: StoredLfsUpload): void {
  state.transactAside(() => dropUpload(state, tables, upload));
  state.scheduleJobs();
}
