// The objects of Git LFS that imported pointer files name. They come when the history is here and
// before its refs move, some with each run of the job.
import { type GitErrorCode, isGitError } from "../../base/format/errors.ts";
import { MAX_PUT_BYTES } from "../../base/format/limits.ts";
import type { ImportedLfs } from "../../contract/remotes.ts";
import { addLfsObject, beginLfsObject, dropLfsObject } from "../lfs/lfs-uploads.ts";
import { type LfsObject, lfsWaitMs } from "../../contract/lfs.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { type PutBytes, storePart } from "../../base/bytes/part-upload.ts";
import { findDownloads, openDownload } from "./lfs-upstream.ts";
import { failed, type GitServer } from "./git-server.ts";
import { LFS_BATCH_OBJECTS, type LfsAction } from "./lfs-server.ts";

/** Objects of a run. */
const RUN_LFS_OBJECTS = LFS_BATCH_OBJECTS;

/** Objects that come at a time. */
const LFS_LINES = 4;

/** What is wrong with one object, and no reason to give up the others. */
const OF_ONE: ReadonlySet<GitErrorCode> = new Set(["invalid", "not-found"]);

/** Brings some of the objects that pointer files name and that are not here. Whatever ends it, what
 * has come stays, and the next run does not ask for it.
 * @returns how far it is now
 * @throws GitError as `findDownloads`, "too-large" beyond the quota, "storage-failed" */
export async function bringLfs(
  repository: OpenRepository,
  upstream: GitServer,
  soFar: ImportedLfs & { readonly after: string },
): Promise<ImportedLfs> {
  const wanted = repository.tables.lfs.missing(soFar.after, RUN_LFS_OBJECTS);
  if (wanted.length === 0) return { ...soFar, after: null };
  const mostBytes = Math.min(repository.state.platform.limits.maxLfsObjectBytes, MAX_PUT_BYTES);
  const fitting = wanted.filter(({ sizeBytes }) => sizeBytes <= mostBytes);
  const downloads = fitting.length === 0 ? new Map<string, LfsAction>() : await findDownloads(upstream, fitting);
  const here = { objects: 0, bytes: 0 };
  const found = fitting.filter(({ oid }) => downloads.has(oid)).values();
  const bring = async (): Promise<void> => {
    for (const object of found) {
      if (!(await bringOne(repository, upstream, object, downloads.get(object.oid)!))) continue;
      here.objects += 1;
      here.bytes += object.sizeBytes;
    }
  };
  const lines = await Promise.allSettled(Array.from({ length: LFS_LINES }, bring));
  for (const line of lines) if (line.status === "rejected") throw line.reason;
  return {
    after: wanted.at(-1)!.oid,
    objects: soFar.objects + here.objects,
    bytes: soFar.bytes + here.bytes,
    missing: soFar.missing + wanted.length - here.objects,
  };
}

/** Streams one object into the bucket, where its SHA-256 is verified.
 * @returns whether it is here now */
async function bringOne(
  repository: OpenRepository,
  upstream: GitServer,
  object: LfsObject,
  download: LfsAction,
): Promise<boolean> {
  const { oid, sizeBytes } = object;
  let key: string | null = null;
  try {
    const response = await openDownload(upstream, download);
    if (response === null) return false;
    const begun = (key = await beginLfsObject(repository, object));
    if (begun === null) {
      await response.body?.cancel();
      return true;
    }
    const sent = { what: "LFS object", waitMs: lfsWaitMs(sizeBytes) };
    const put: PutBytes<void> = (...bytes) => repository.chunks.putStream(begun, ...bytes);
    await storePart(put, response.body, { sizeBytes, checksum: oid }, sent);
    if (!(await addLfsObject(repository, { ...object, key: begun }))) await dropLfsObject(repository, begun);
    return true;
  } catch (error) {
    if (key !== null) await dropLfsObject(repository, key);
    if (isGitError(error) && OF_ONE.has(error.code)) return false;
    // As the reader of bodies says it of a client.
    if (isGitError(error, "bad-request")) throw failed("upstream", "an object of its Git LFS was cut", error);
    throw error;
  }
}
