// The registry learns about a repository from the repository itself. Every transaction that changes
// what a list shows, or deletes the repository, adds the job `announce`. A creation is also
// announced at once, so that its author finds it in the list.
import type { RepositoryStanding } from "../../store/registry/registry-answers.ts";
import { useOf } from "../state/quota-check.ts";
import type { RepositoryState } from "../state/repository-state.ts";

const BRANCHES = "refs/heads/";

/** Reports the repository's state to the registry, one report at a time, so that the last one is
 * the newest.
 * @throws whatever the registry throws */
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

/** Announces without waiting for the job. Should this fail, the job does it soon. */
export async function announceNow(repository: RepositoryState): Promise<void> {
  try {
    await announce(repository);
  } catch (error) {
    const attempt = { event: "job-failed", kind: "announce", key: "", attempts: 0 } as const;
    repository.platform.observe({ ...attempt, error: String(error) });
  }
}

/** The repository's state; null: a running push may yet create it. Reads a row per ref. */
function readStanding(repository: RepositoryState): RepositoryStanding | null {
  const { tables, createdMs, isDeleted, pushesUnderWay, parent, expiresMs } = repository;
  if (isDeleted) return { kind: "deleted" };
  if (tables === null) return pushesUnderWay > 0 ? null : { kind: "absent" };
  const { refs, pushes } = tables;
  const head = refs.head();
  return {
    kind: "live",
    defaultBranch: head?.startsWith(BRANCHES) === true ? head.slice(BRANCHES.length) : null,
    createdMs,
    pushedMs: pushes.newestMs(),
    parentId: parent,
    expiresMs,
    ...useOf(tables),
  };
}
