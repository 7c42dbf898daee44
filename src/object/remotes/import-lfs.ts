// Fetches the LFS objects that imported pointer files name. It runs after the history has arrived
// and before the refs move, some objects with each run of the job.
import { type GitErrorCode, isGitError } from "../../base/format/errors.ts";
import { type LfsObject, lfsWaitMs } from "../../contract/lfs.ts";
import { checkLink } from "./address.ts";
import { failed, type GitServer, MAX_REDIRECTS } from "./git-server.ts";
import { askBatch, type LfsAction, LFS_BATCH_OBJECTS } from "./lfs-server.ts";
import { MAX_PUT_BYTES } from "../../base/format/limits.ts";
import type { ImportedLfs } from "../../contract/remotes.ts";
import { addLfsObject, beginLfsObject, dropLfsObject } from "../lfs/lfs-uploads.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { type PutBytes, storePart } from "../../base/bytes/part-upload.ts";

/** Maximum number of objects fetched in a run. */
const RUN_LFS_OBJECTS = LFS_BATCH_OBJECTS;

/** Number of objects fetched in parallel. */
const LFS_LINES = 4;

/** Errors of a single object, after which the others are still fetched. */
const OF_ONE: ReadonlySet<GitErrorCode> = new Set(["invalid", "not-found"]);

/** Fetches some of the missing objects that pointer files name. After any failure, objects that
 * have arrived stay, and the next run does not request them.
 * @returns the new progress
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
 * @returns whether it is stored now */
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
    // The reader of bodies words this error for a client.
    if (isGitError(error, "bad-request")) throw failed("upstream", "an object of its Git LFS was cut", error);
    throw error;
  }
}

/** Requests the addresses of objects.
 * @returns by id; without those that the upstream does not have
 * @throws GitError as `askBatch` */
export async function findDownloads(
  upstream: GitServer,
  objects: readonly LfsObject[],
): Promise<Map<string, LfsAction>> {
  const answers = await askBatch(upstream, "download", objects);
  return new Map(
    Array.from(answers).flatMap(([oid, { actions, error }]): [string, LfsAction][] => {
      const download = actions?.download ?? null;
      return download !== null && (error ?? null) === null ? [[oid, download]] : [];
    }),
  );
}

/** Opens an object at the address that the upstream has given. Redirects are followed, each checked
 * as the first address was; any other origin gets none of the headers.
 * @returns null: the object is missing
 * @throws GitError "unavailable", "invalid" for an address that may not be requested */
export async function openDownload(upstream: GitServer, { href, header }: LfsAction): Promise<Response | null> {
  const first = checkLink(href, upstream.allowsPrivate);
  let url = first;
  for (let redirects = 0; ; redirects++) {
    const headers = url.origin === first.origin ? (header ?? {}) : {};
    const response = await upstream.send(url.href, headers);
    const location = response.headers.get("Location");
    const isRedirect = response.status >= 300 && response.status < 400 && location !== null;
    if (response.status === 200) return response;
    await response.body?.cancel();
    if (response.status === 404 || response.status === 410) return null;
    if (!isRedirect) throw failed("upstream", `its Git LFS answered ${response.status} for an object`);
    if (redirects === MAX_REDIRECTS)
      throw failed("upstream", `its Git LFS redirected more than ${MAX_REDIRECTS} times`);
    const next = checkLink(URL.parse(location, url)?.href ?? "", upstream.allowsPrivate);
    if (next.protocol === "http:" && url.protocol === "https:")
      throw failed("upstream", "it redirected from https: to http:");
    url = next;
  }
}
