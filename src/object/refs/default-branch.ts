import { GitError } from "../../base/format/errors.ts";
import { announceNow } from "./announce.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { scheduleAllWorktrees } from "../worktree/worktrees.ts";

const BRANCHES = "refs/heads/";

/** Checks that a branch may become the default: it exists, or no branch does.
 * @param branch without `refs/heads/`, byte string
 * @throws GitError "invalid" when it may not */
export async function checkDefaultBranch({ tables }: OpenRepository, branch: string): Promise<void> {
  const { refs } = tables;
  if (refs.get(BRANCHES + branch) === null && refs.withPrefixes([BRANCHES]).names.length > 0) {
    throw new GitError("invalid", {
      what: "default branch",
      field: "defaultBranch",
      reason: "the branch does not exist",
    });
  }
}

/** Points HEAD at another branch. @see checkDefaultBranch */
export async function setDefaultBranch(repository: OpenRepository, branch: string): Promise<void> {
  await checkDefaultBranch(repository, branch);
  const { state } = repository;
  state.transact(null, (tables) => {
    tables.refs.setHead(BRANCHES + branch);
    scheduleAllWorktrees(tables, state.platform.worktrees, Date.now());
    return { result: undefined, isKept: true };
  });
  state.scheduleJobs();
  await announceNow(state);
}
