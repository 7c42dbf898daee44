// The registry learns about a repository from the repository itself, soon after each transaction
// that changes what a list shows, or deletes the repository. A creation is announced at once, so
// that its author finds it in the list.
import type { RepositoryStanding } from "../../contract/registry.ts";
import { useOf } from "../state/quota-check.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import { HEADS } from "../../base/format/ref-name.ts";

/** Reports the repository's state to the registry, one report at a time, so that the last one is
 * the newest. The registry answers whether somebody listens to the repository's owner.
 * @throws whatever the registry throws */
export async function announce(repository: RepositoryState): Promise<void> {
  const { announcement, platform, teller } = repository;
  const permit = await announcement.semaphore.acquire();
  try {
    const standing = readStanding(repository);
    if (standing === null) return;
    announcement.begin();
    const owner = await platform.registry.report(platform.id, standing);
    if (owner !== null) teller.hearOwner(owner);
  } catch (error) {
    announcement.fail(Date.now());
    throw error;
  } finally {
    permit.release();
  }
}

/** Announces without waiting for the alarm. Should this fail, it is tried again later. What does
 * not exist is not announced: a first push that failed may be repeated, and the registry asks
 * whether a name that it has reserved is used. */
export async function announceNow(repository: RepositoryState): Promise<void> {
  if (repository.tables === null && !repository.isDeleted) return repository.announcement.begin();
  try {
    await announce(repository);
  } catch (error) {
    repository.platform.observe({ event: "announcement-failed", error: String(error) });
    repository.scheduleJobs();
  }
}

/** The repository's state; null: a running push may yet create it. Reads a row per ref. */
function readStanding(repository: RepositoryState): RepositoryStanding | null {
  const { tables, createdMs, isDeleted, holds, parent, expiresMs } = repository;
  if (isDeleted) return { kind: "deleted" };
  if (tables === null) return holds.has("create") ? null : { kind: "absent" };
  const { refs, pushes } = tables;
  const head = refs.head();
  return {
    kind: "live",
    defaultBranch: head?.startsWith(HEADS) === true ? head.slice(HEADS.length) : null,
    createdMs,
    pushedMs: pushes.newestMs(),
    parentId: parent,
    expiresMs,
    ...useOf(tables),
  };
}
