// What the registry knows of a repository, it knows from the repository: every transaction that changes what a list shows adds the job
// `announce`, and so does the one that deletes. A creation is announced at once as well, so that whoever created finds it in the list.
import type { RepositoryStanding } from "../../store/registry/registry.ts";
import { useOf } from "../state/quota-check.ts";
import type { RepositoryState } from "../state/repository-state.ts";

const BRANCHES = "refs/heads/";

/** Tells the registry how the repository stands, one announcement after the other, so that the last one told is the newest.
 * @throws what the registry throws */
export async function announce(repository: RepositoryState): Promise<void> {
  const { announceSemaphore, platform } = repository;
  const permit = await announceSemaphore.acquire();
  try {
    const standing = readStanding(repository);
    repository.isAnnouncementDue = false;
    if (standing !== null) await platform.registry.report(platform.id, standing);
  } finally {
    permit.release();
  }
}

/** Announces without waiting for the job, which does it again: should this fail, that is soon enough. */
export async function announceNow(repository: RepositoryState): Promise<void> {
  try {
    await announce(repository);
  } catch (error) {
    const attempt = { event: "job-failed", kind: "announce", key: "", attempts: 0 } as const;
    repository.platform.observe({ ...attempt, error: String(error) });
  }
}

/** Tells how a repository stands; null: a push is under way that may create it. Reads a row per chunk, from an index, and per ref. */
function readStanding({ tables, createdMs, isDeleted, pushesUnderWay }: RepositoryState): RepositoryStanding | null {
  if (isDeleted) return { kind: "deleted" };
  if (tables === null) return pushesUnderWay > 0 ? null : { kind: "absent" };
  const { refs, pushes } = tables;
  const head = refs.head();
  return {
    kind: "live",
    defaultBranch: head?.startsWith(BRANCHES) === true ? head.slice(BRANCHES.length) : null,
    createdMs,
    pushedMs: pushes.newestMs(),
    ...useOf(tables),
  };
}
