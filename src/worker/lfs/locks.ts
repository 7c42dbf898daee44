import { z } from "zod";
import { isGitError } from "../../base/format/errors.ts";
import { MAX_LFS_LOCKS_PAGE } from "../../base/format/limits.ts";
import type { ShownLock } from "../../contract/lfs.ts";
import { lfsAnswer, type LfsContext, LockedPath, readLfsJson, readLfsQuery, Ref } from "./lfs-request.ts";

const Limit = z.coerce
  .number()
  .int()
  .min(0)
  .nullish()
  // The client sends 0 for the server's own limit.
  .transform((limit) => Math.min(limit || MAX_LFS_LOCKS_PAGE, MAX_LFS_LOCKS_PAGE));

/** The cursor of a page: the last path of the previous one. */
const Cursor = z
  .string()
  .nullish()
  .transform((cursor) => cursor ?? "");

const NewLock = z.object({ path: LockedPath, ref: Ref });
const Unlocking = z.object({
  force: z
    .boolean()
    .nullish()
    .transform((force) => force ?? false),
  ref: Ref,
});
const Verification = z.object({ cursor: Cursor, limit: Limit, ref: Ref });
const Listing = z.object({ path: z.string().optional(), id: z.string().optional(), cursor: Cursor, limit: Limit });

/** Serves `POST locks`. @see git-lfs, docs/api/locking.md */
export async function createLock({ request, open }: LfsContext): Promise<Response> {
  const wanted = await readLfsJson(request, NewLock);
  const { lock, isNew } = await (await open("write")).lockFile(wanted);
  if (isNew) return lfsAnswer(201, { lock: show(lock) });
  return lfsAnswer(409, { lock: show(lock), message: `${lock.path} is locked by ${lock.ownerName} already` });
}

/** Serves `GET locks`. A lock holds for a path on all refs, so `refspec` filters nothing. */
export async function listLocks({ request, open }: LfsContext): Promise<Response> {
  const { path, id, cursor, limit } = readLfsQuery(request, Listing);
  const client = await open("read");
  const { locks, next } = await client.listLocks({
    after: cursor,
    limit,
    ...(path !== undefined && { path }),
    ...(id !== undefined && { id }),
  });
  return lfsAnswer(200, { locks: locks.map(show), ...(next !== null && { next_cursor: next }) });
}

/** Serves `POST locks/verify`, which the client requests before each push: separates the caller's
 * locks from others'. A repository that the push will create has none. */
export async function verifyLocks({ request, open }: LfsContext): Promise<Response> {
  const { cursor, limit } = await readLfsJson(request, Verification);
  const client = await open("write");
  const none = { locks: [], next: null, owner: "" };
  const { locks, next, owner } = await client.verifyLocks({ after: cursor, limit }).catch((error: unknown) => {
    if (isGitError(error, "not-found")) return none;
    throw error;
  });
  return lfsAnswer(200, {
    ours: locks.filter((lock) => lock.owner === owner).map(show),
    theirs: locks.filter((lock) => lock.owner !== owner).map(show),
    ...(next !== null && { next_cursor: next }),
  });
}

/** Serves `POST locks/{id}/unlock`. */
export async function unlock({ request, open }: LfsContext, id: string): Promise<Response> {
  const wanted = await readLfsJson(request, Unlocking);
  return lfsAnswer(200, { lock: show(await (await open("write")).unlockFile({ id, ...wanted })) });
}

function show({ id, path, lockedMs, ownerName }: ShownLock) {
  const lock = { id, path, locked_at: new Date(lockedMs).toISOString() };
  return ownerName === null ? lock : { ...lock, owner: { name: ownerName } };
}
