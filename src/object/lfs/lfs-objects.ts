// The LFS objects of a repository. The Worker carries their bytes; this file decides which are
// stored, and under which key.
import type { OpenRepository } from "../objects/open-repository.ts";
import { RefRules } from "../../base/access/ref-rules.ts";
import { decodeText, encodeText } from "../../base/format/byte-string.ts";
import { GitError } from "../../base/format/errors.ts";
import type {
  LfsObject,
  LfsState,
  LfsListRequest,
  StoredLfsObject,
  LfsBatch,
  LfsBatchAnswer,
} from "../../contract/lfs.ts";
import type { LfsOid } from "../../base/format/lfs.ts";
import { MAX_PUT_BYTES } from "../../base/format/limits.ts";
import { beginSigned, checkRoom } from "./lfs-uploads.ts";

/** Interval (ms) after which a request for an object renews its time of use. */
const RENEW_MS = 60 * 60_000;

/** Finds the objects of a batch, and begins uploads of those that the client is to send to the
 * bucket directly.
 * @throws GitError "forbidden" when the caller must not change the ref, "too-large" when the
 * missing ones exceed the quota, "unavailable" while a fork's objects are not known */
export async function lfsBatch(repository: OpenRepository, batch: LfsBatch): Promise<LfsBatchAnswer> {
  const { operation, objects, ref, largestBytes, signedAboveBytes } = batch;
  const { tables } = repository;
  const found = tables.lfs.findMany(objects.map(({ oid }) => oid));
  if (operation === "download") {
    if (found.size < objects.length) checkReleased(repository);
    return { found: [...found.values()], begun: [] };
  }
  checkLfsRef(repository, ref);
  const missing = objects.filter(({ oid, sizeBytes }) => !found.has(oid) && sizeBytes <= largestBytes);
  checkRoom(repository, missing);
  // The client does not send objects that are stored. They must still be stored when the push names
  // them.
  const nowMs = Date.now();
  repository.state.transactAside(() => tables.lfs.renew([...found.keys()], nowMs, nowMs - RENEW_MS));
  const signed = missing.filter(
    ({ sizeBytes }) => sizeBytes > (signedAboveBytes ?? Infinity) && sizeBytes <= MAX_PUT_BYTES,
  );
  return { found: [...found.values()], begun: beginSigned(repository, signed) };
}

/** Finds one object.
 * @throws GitError "not-found", "unavailable" while it is not known whether a fork has it */
export async function findLfsObject(repository: OpenRepository, oid: LfsOid): Promise<StoredLfsObject> {
  const found = repository.tables.lfs.find(oid);
  if (found !== null) return found;
  checkReleased(repository);
  throw new GitError("not-found", { what: "LFS object" });
}

/** Refuses a request for missing objects, or for all, while it is not known which of its parent's
 * objects a new fork reaches. The answer is the same for every object.
 * @throws GitError "unavailable" */
function checkReleased({ tables }: OpenRepository): void {
  if (!tables.lfs.isWithholding()) return;
  const reason = "the fork's pointer files are being looked through; try again";
  throw new GitError("unavailable", { what: "list of LFS objects", reason });
}

/** Counts the LFS objects and bytes that a repository stores. */
export async function lfsState({ tables }: OpenRepository): Promise<LfsState> {
  const { count, sizeBytes, ownBytes } = tables.lfs.sums();
  return {
    objects: count,
    sizeBytes,
    sharedBytes: sizeBytes - ownBytes,
    missing: tables.lfs.countMissing(),
    locks: tables.locks.count(),
  };
}

/** Lists objects by id.
 * @returns one more than the limit, if there are more
 * @throws GitError "unavailable" while a fork's objects are not known */
export async function listLfsObjects(repository: OpenRepository, request: LfsListRequest): Promise<LfsObject[]> {
  const { which, after, limit } = request;
  const { tables } = repository;
  checkReleased(repository);
  const found = which === "stored" ? tables.lfs.page(after, limit + 1) : tables.lfs.missing(after, limit + 1);
  return found.map(({ oid, sizeBytes }) => ({ oid, sizeBytes }));
}

/** Refuses callers who could not move a request's ref, whatever they would push.
 * @param ref full name, text; null: the request names none
 * @throws GitError "forbidden" */
export function checkLfsRef({ tables, requester }: OpenRepository, ref: string | null): void {
  const rules = new RefRules(tables.refRules.all(), requester);
  if (ref === null || rules.isEmpty) return;
  const name = encodeText(ref);
  const kind = tables.refs.get(name) === null ? "creation" : "move";
  const reason = rules.refuse({ name, kind, isForward: null });
  if (reason !== null) throw new GitError("forbidden", { what: `a change of ${ref}`, reason: decodeText(reason) });
}
