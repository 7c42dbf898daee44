// Uploads in parts of LFS objects that are larger than one request; the bucket joins the parts. An
// upload is kept for a day after it was last continued; a job then removes its stored bytes.
import { GitError } from "../../base/format/errors.ts";
import { LFS_PART_BYTES, MAX_LFS_PART_UPLOADS, MAX_LFS_PARTS, UPLOAD_LIFE_MS } from "../../base/format/limits.ts";
import { newLfsKey } from "../store/lfs/lfs-table.ts";
import type { StoredLfsUpload, NewLfsUpload, LfsUploadStatus, LfsUploadName, NewLfsPart } from "../../contract/lfs.ts";
import type { Tables } from "../store/tables.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { QuotaCheck } from "../state/quota-check.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import { renewedEnd } from "../upload/upload.ts";
import { checkRoom } from "./lfs-uploads.ts";

const MIB = 1024 * 1024;

/** Begins an upload.
 * @returns null: the object is stored already
 * @throws GitError "too-large" beyond a limit or the quota, "conflict" when there are too many
 * uploads */
export async function beginLfsUpload(
  repository: OpenRepository,
  { oid, sizeBytes, largestPartBytes }: NewLfsUpload,
): Promise<LfsUploadStatus | null> {
  const { state } = repository;
  const check = (): boolean => {
    if (repository.tables.lfs.find(oid) !== null) return false;
    checkRoom(repository, [{ oid, sizeBytes }]);
    if (repository.tables.lfsUploads.count() < MAX_LFS_PART_UPLOADS) return true;
    const reason = `the repository has ${MAX_LFS_PART_UPLOADS} of them; DELETE some, or wait: each ends a day after it was last continued`;
    throw new GitError("conflict", { what: "upload of an LFS object", reason });
  };
  if (!check()) return null;
  const key = newLfsKey(state.key, oid);
  const { id: write } = await repository.chunks.createMultipart(key);
  const endsMs = Date.now() + UPLOAD_LIFE_MS;
  const id = crypto.randomUUID();
  const partBytes = choosePartBytes(sizeBytes, largestPartBytes);
  let isBegun = false;
  try {
    isBegun = state.transactAside(() => {
      if (!check()) return false;
      repository.tables.lfsUploads.begin({ id, oid, sizeBytes, partBytes, key, write, endsMs });
      repository.tables.jobs.add("abort", abortKey({ key, write }), endsMs);
      return true;
    });
  } finally {
    // If this fails, the bucket itself drops uploads that are not completed for a week.
    if (!isBegun)
      await repository.chunks
        .resumeMultipart(key, write)
        .abort()
        .catch(() => undefined);
  }
  state.scheduleJobs();
  return isBegun ? { id, partBytes, endsMs, parts: [] } : null;
}

/** Chooses the size in bytes of each part but the last, so that there are at most
 * `MAX_LFS_PARTS`. */
function choosePartBytes(sizeBytes: number, largestPartBytes: number): number {
  const needed = Math.ceil(sizeBytes / MAX_LFS_PARTS / MIB) * MIB;
  return Math.min(Math.max(needed, LFS_PART_BYTES), largestPartBytes);
}

/** Reads which parts of an upload have arrived.
 * @throws GitError "not-found" */
export async function readLfsUpload({ tables }: OpenRepository, name: LfsUploadName): Promise<LfsUploadStatus> {
  const { id, partBytes, endsMs } = findOpen(tables, name);
  return { id, partBytes, endsMs, parts: tables.lfsUploads.parts(id).map(({ part }) => part) };
}

/** Ends an upload; its bytes are removed.
 * @throws GitError "not-found" */
export async function endLfsUpload({ state, tables }: OpenRepository, name: LfsUploadName): Promise<void> {
  const upload = findOpen(tables, name);
  state.transactAside(() => dropUpload(state, tables, upload));
  state.scheduleJobs();
}

/** Decides whether a part is accepted, before it is read.
 * @returns the place to store it; null: it is stored already
 * @throws GitError "not-found", "invalid" when the object has no such part, "conflict" when the
 * parts are joined already, "too-large" beyond the quota */
export async function beginLfsPart(
  repository: OpenRepository,
  part: NewLfsPart,
): Promise<Pick<StoredLfsUpload, "key" | "write"> | null> {
  const upload = checkPart(repository, part);
  return upload && { key: upload.key, write: upload.write };
}

/** Adds a stored part, in place of one with the same number.
 * @param part with the bucket's tag
 * @throws GitError as `beginLfsPart`: the upload may have ended meanwhile, or the quota been
 * used */
export async function addLfsPart(repository: OpenRepository, part: NewLfsPart & { tag: string }): Promise<void> {
  const { state } = repository;
  state.transactAside(() => {
    const upload = checkPart(repository, part);
    const { lfsUploads } = repository.tables;
    // The bucket keeps the last write, even of equal bytes, so the tag must be that one's.
    lfsUploads.putPart(part.id, part);
    if (upload !== null) renewUpload(repository.tables, upload);
  });
}

/** @returns null: the part is stored with the same bytes */
function checkPart({ state, tables, requester }: OpenRepository, wanted: NewLfsPart): StoredLfsUpload | null {
  const upload = findOpen(tables, wanted);
  const { part, sizeBytes, checksum } = wanted;
  const former = tables.lfsUploads.findPart(upload.id, part);
  if (former?.checksum === checksum && former.sizeBytes === sizeBytes) return null;
  const expectedBytes = bytesOfPart(upload, part);
  if (expectedBytes === 0) throw new GitError("invalid", { what: "part", reason: `there is no part ${part}` });
  if (sizeBytes !== expectedBytes)
    throw new GitError("invalid", {
      what: "part",
      reason: `part ${part} has ${expectedBytes} bytes, not ${sizeBytes}`,
    });
  if (upload.isJoined) throw new GitError("conflict", { what: "part", reason: "the object has all its parts" });
  new QuotaCheck(tables, requester, state.platform.limits, former?.sizeBytes).check(sizeBytes, 0);
  return upload;
}

/** Counts the parts of an upload. */
export function countParts({ sizeBytes, partBytes }: Pick<StoredLfsUpload, "sizeBytes" | "partBytes">): number {
  return Math.ceil(sizeBytes / partBytes);
}

/** Returns the size of a part in bytes; 0: no part has this number. */
function bytesOfPart({ sizeBytes, partBytes }: StoredLfsUpload, part: number): number {
  return Math.max(0, Math.min(partBytes, sizeBytes - (part - 1) * partBytes));
}

/** Keeps an upload for another day. Must run in a transaction. */
export function renewUpload({ lfsUploads }: Tables, upload: StoredLfsUpload): void {
  const endsMs = renewedEnd(upload, Date.now());
  if (endsMs !== null) lfsUploads.renew(upload.id, endsMs);
}

/** Removes an upload, and schedules the removal of its bytes. Must run in a transaction. */
export function dropUpload(state: RepositoryState, { lfsUploads, jobs }: Tables, upload: StoredLfsUpload): void {
  state.lfsChecks.delete(upload.id);
  lfsUploads.remove(upload.id);
  jobs.add("abort", abortKey(upload), Date.now());
}

/** Makes the key of the job that removes an upload's bytes: the job outlives the tables. */
export function abortKey({ key, write }: Pick<StoredLfsUpload, "key" | "write">): string {
  return JSON.stringify({ key, write });
}

export function parseAbortKey(text: string): Pick<StoredLfsUpload, "key" | "write"> {
  return JSON.parse(text) as Pick<StoredLfsUpload, "key" | "write">;
}

/** Finds an upload that can be continued.
 * @throws GitError "not-found" */
export function findOpen({ lfsUploads }: Tables, { id, oid }: LfsUploadName): StoredLfsUpload {
  const upload = lfsUploads.find(id);
  if (upload !== null && upload.oid === oid && upload.endsMs > Date.now()) return upload;
  const reason =
    "there is none with this id, or it has ended: it was deleted, or not continued for a day; begin another";
  throw new GitError("not-found", { what: "upload of the LFS object", reason });
}
