// Locks of files: a lock asks others not to change the file. Git itself does not know them; the
// client asks before it pushes.
import { type Caller, includesRight } from "../../base/access/caller.ts";
import { GitError } from "../../base/format/errors.ts";
import { checkLimit, MAX_LFS_LOCKS } from "../../base/format/limits.ts";
import type { LfsLock, LockPage, ShownLock } from "../../contract/lfs.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { addEvent } from "../events/events.ts";
import { checkLfsRef } from "./lfs-objects.ts";

/** Locks a file, which need not exist yet. If several callers try at once, one gets the lock.
 * @param wanted its path and the full name of the caller's current ref, text
 * @returns the lock, and whether it is new: if not, a caller has it already, maybe this one
 * @throws GitError "forbidden" when the caller must not change the ref, "too-large" */
export async function lockFile(
  repository: OpenRepository,
  { path, ref }: { readonly path: string; readonly ref: string | null },
): Promise<{ readonly lock: LfsLock; readonly isNew: boolean }> {
  const { state, requester } = repository;
  checkLfsRef(repository, ref);
  return state.transactAside(() => {
    const { locks } = repository.tables;
    const held = locks.at(path);
    if (held !== null) return { lock: held, isNew: false };
    checkLimit("the number of LFS locks", MAX_LFS_LOCKS, locks.count() + 1, "unlock files that nobody changes");
    const { id: owner, name: ownerName } = ownerOf(requester.caller);
    const lock = { id: crypto.randomUUID(), path, ref, owner, ownerName, lockedMs: Date.now() };
    locks.add(lock);
    noteLock(repository, "locked", lock);
    return { lock, isNew: true };
  });
}

/** Lists locks.
 * @param wanted `after`: only locks of later paths, "": all; `path`, `id`: only the lock with it */
export async function listLocks(
  { tables, requester }: OpenRepository,
  wanted: { readonly after: string; readonly limit: number; readonly path?: string; readonly id?: string },
): Promise<LockPage> {
  const { after, limit, path, id } = wanted;
  const isToldWho = includesRight(requester.right, "write");
  const show = (lock: LfsLock): ShownLock => (isToldWho ? lock : { ...lock, owner: null, ownerName: null });
  if (path === undefined && id === undefined) {
    const locks = tables.locks.page(after, limit + 1);
    const isMore = locks.length > limit;
    const shown = locks.slice(0, limit);
    return { locks: shown.map(show), next: isMore ? shown.at(-1)!.path : null };
  }
  const found = id === undefined ? tables.locks.at(path!) : tables.locks.find(id);
  const isWanted = found !== null && (path === undefined || found.path === path);
  return { locks: isWanted ? [show(found)] : [], next: null };
}

/** Lists locks, with the caller's own id as an owner of locks in `owner`. */
export async function verifyLocks(
  repository: OpenRepository,
  wanted: { readonly after: string; readonly limit: number },
): Promise<LockPage & { readonly owner: string }> {
  return { ...(await listLocks(repository, wanted)), owner: ownerOf(repository.requester.caller).id };
}

/** Unlocks a file.
 * @param wanted `force`: also a lock of another caller, which needs the right 'admin'
 * @returns the removed lock
 * @throws GitError "not-found", "forbidden" */
export async function unlockFile(
  repository: OpenRepository,
  { id, force, ref }: { readonly id: string; readonly force: boolean; readonly ref: string | null },
): Promise<LfsLock> {
  const { state, requester } = repository;
  checkLfsRef(repository, ref);
  return state.transactAside(() => {
    const { locks } = repository.tables;
    const lock = locks.find(id);
    if (lock === null) throw new GitError("not-found", { what: "lock" });
    if (lock.owner !== ownerOf(requester.caller).id) {
      const what = `unlocking ${lock.path}`;
      if (!force)
        throw new GitError("forbidden", { what, reason: `${lock.ownerName} has locked it; --force unlocks it` });
      if (!includesRight(requester.right, "admin"))
        throw new GitError("forbidden", {
          what,
          reason: `${lock.ownerName} has locked it, and --force needs the right 'admin'`,
        });
    }
    locks.remove(id);
    noteLock(repository, "unlocked", lock);
    return lock;
  });
}

function noteLock({ state, tables, requester }: OpenRepository, action: string, { id, path, ref }: LfsLock): void {
  addEvent(state, tables, requester, "lock", { action, id, path, ref });
}

/** Identifies a caller as an owner of locks. With open access, everyone is the same owner. */
function ownerOf(caller: Caller): { readonly id: string; readonly name: string } {
  if (caller.kind === "token") return { id: caller.token.id, name: caller.token.name };
  return caller.kind === "operator" ? { id: "operator", name: "operator" } : { id: "anyone", name: "anyone" };
}
