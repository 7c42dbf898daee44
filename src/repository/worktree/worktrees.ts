// Worktrees: the files of some branches as R2 objects, for those who read the bucket, and their list in SQLite, for those who ask the
// repository. Here is which branches these are, and when they are brought up to date; `maintenance/materialize` does it.
import type { Oid } from "../../format/oid.ts";
import type { Tables } from "../../store/tables.ts";
import type { RefCommand } from "../state/push.ts";
import type { WorktreePolicy } from "../state/worktree-policy.ts";

const BRANCHES = "refs/heads/";

/** Has the worktrees brought up to date whose branches were created, moved or deleted; belongs in the transaction that did it.
 * @param moved the commands that moved their refs */
export function scheduleWorktrees(
  tables: Tables,
  moved: readonly RefCommand[],
  policy: WorktreePolicy,
  nowMs: number,
): void {
  const names = new Set(moved.map(({ name }) => name));
  addJobs(tables, policy, nowMs, (branch) => names.has(BRANCHES + branch));
}

/** Has every worktree looked at; belongs in a transaction that changes which branches are materialized, or where HEAD points. */
export function scheduleAllWorktrees(tables: Tables, policy: WorktreePolicy, nowMs: number): void {
  addJobs(tables, policy, nowMs, () => true);
}

/** The branches that are to be materialized, there or not, as byte strings without `refs/heads/`. */
export function wantedBranches({ worktrees, refs }: Tables, policy: WorktreePolicy): string[] {
  if (policy === "none") return [];
  const wanted = worktrees.wanted();
  if (wanted !== null) return wanted;
  if (policy === "on-demand") return [];
  const head = refs.head();
  return head?.startsWith(BRANCHES) ? [head.slice(BRANCHES.length)] : [];
}

/** The tip of a branch that is to be materialized; null: it is not, or is not there. */
export function wantedTip(tables: Tables, branch: string, policy: WorktreePolicy): Oid | null {
  return wantedBranches(tables, policy).includes(branch) ? (tables.refs.get(BRANCHES + branch)?.oid ?? null) : null;
}

function addJobs(
  tables: Tables,
  policy: WorktreePolicy,
  nowMs: number,
  isConcerned: (branch: string) => boolean,
): void {
  const existing = tables.worktrees.all().map(({ branch }) => branch);
  for (const branch of new Set([...wantedBranches(tables, policy), ...existing])) {
    if (isConcerned(branch)) tables.jobs.add("materialize", branch, nowMs);
  }
}
