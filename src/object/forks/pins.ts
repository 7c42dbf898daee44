import { GitError } from "../../base/format/errors.ts";
import type { RepositoryState } from "../state/repository-state.ts";

/** After this time, pins of what has not been entered count as left behind by a crash. */
export const UNPIN_AFTER_MS = 60 * 60_000;

let lastVersion = 0;

/** The version of the next pin of this isolate: higher than any before. */
export function nextPinVersion(): number {
  return (lastVersion = Math.max(lastVersion + 1, Date.now()));
}

/** Sets what another repository needs of this one's R2 objects. What nobody needs any more is
 * removed by jobs, at the time that is set already where fetches may still need it.
 * @see FamilyMember.pin */
export function setPin(repository: RepositoryState, holder: string, version: number, keys: readonly string[]): boolean {
  const { tables, pins, isDeleted } = repository;
  const isNeeded = (key: string): boolean =>
    tables?.chunks.hasKey(key) === true || tables?.lfs.hasKey(key) === true || pins.has(key);
  if (!keys.every(isNeeded)) return false;
  // This object may be empty: the repository is gone, and nobody needed it.
  if (tables === null && pins.isEmpty()) return true;
  const isSet = repository.transactAside(() => {
    const released = pins.set(holder, version, new Set(keys))?.filter((key) => !isNeeded(key));
    if (released === undefined || released.length === 0) return released !== undefined;
    const { jobs } = repository;
    if (isDeleted) jobs.add("erase", "", Date.now());
    else for (const key of released) if (!jobs.has("sweep", key)) jobs.add("sweep", key, Date.now());
    return true;
  });
  repository.scheduleJobs();
  return isSet;
}

/** Sets this repository's pin in another one to what its chunks need now.
 * @param also needed soon
 * @throws GitError "unavailable" when something is not there any more */
export async function pinNeeded(
  repository: RepositoryState,
  owner: string,
  also: Iterable<string> = [],
): Promise<void> {
  const { platform } = repository;
  const keys = new Set([...(repository.neededElsewhere().get(owner) ?? []), ...also]);
  const version = nextPinVersion();
  if (await platform.family.open(owner).pin(platform.id, version, [...keys])) return;
  throw new GitError("unavailable", { what: "objects of the family", reason: "they have just moved; try again" });
}

/** Has pins in another repository looked at later: those that nothing needs by then are taken
 * back. */
export function unpinLater(repository: RepositoryState, owner: string, delayMs: number): void {
  repository.jobs.add("unpin", owner, Date.now() + delayMs);
  // If the process dies now, the alarm wakes the next one.
  repository.scheduleJobs();
}
