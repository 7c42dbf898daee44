// Worktrees: the files of some branches as R2 objects, for those who read the bucket, and their list in SQLite, for those who ask the
// repository. Here is which branches these are, and when they are brought up to date; `maintenance/materialize` does it.
import type { Limits } from "../../format/limits.ts";
import type { Oid } from "../../format/oid.ts";
import type { Tables } from "../../store/tables.ts";
import type { RefCommand } from "../push.ts";

const BRANCHES = "refs/heads/";

/** Has the worktrees brought up to date whose branches were created, moved or deleted; belongs in the transaction that did it.
 * @param moved the commands that moved their refs */
export function callMaterialize(tables: Tables, moved: readonly RefCommand[], limits: Limits, nowMs: number): void {
  const names = new Set(moved.map(({ name }) => name));
  addJobs(tables, limits, nowMs, (branch) => names.has(BRANCHES + branch));
}

/** Has every worktree looked at; belongs in a transaction that changes which branches are materialized, or where HEAD points. */
export function callAllWorktrees(tables: Tables, limits: Limits, nowMs: number): void {
  addJobs(tables, limits, nowMs, () => true);
}

/** The branches that are to be materialized, there or not, as byte strings without `refs/heads/`. */
export function wantedBranches({ worktrees, refs }: Tables, limits: Limits): string[] {
  if (limits.maxWorktreePathBytes === 0) return [];
  const wanted = worktrees.wanted();
  if (wanted !== null) return wanted;
  const head = refs.head();
  return head?.startsWith(BRANCHES) ? [head.slice(BRANCHES.length)] : [];
}

/** The tip of a branch that is to be materialized; null: it is not, or is not there. */
export function wantedTip(tables: Tables, branch: string, limits: Limits): Oid | null {
  return wantedBranches(tables, limits).includes(branch) ? (tables.refs.get(BRANCHES + branch)?.oid ?? null) : null;
}

function addJobs(tables: Tables, limits: Limits, nowMs: number, isConcerned: (branch: string) => boolean): void {
  const existing = tables.worktrees.all().map(({ branch }) => branch);
  for (const branch of new Set([...wantedBranches(tables, limits), ...existing])) {
    if (isConcerned(branch)) tables.jobs.add("materialize", branch, nowMs + limits.materializeDelayMs);
  }
}
