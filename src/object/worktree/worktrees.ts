// Worktrees: the files of some branches as R2 objects, for readers of the bucket, and their list in
// SQLite, for readers of the repository. This module decides which branches have one and when it is
// updated; `maintenance/materialize` does the work.
import type { Limits } from "../../base/format/configured-limits.ts";
import { WORKTREE_BYTES_PER_STORED } from "../../base/format/limits.ts";
import type { Oid } from "../../base/format/oid.ts";
import type { Tables } from "../store/tables.ts";
import type { RefCommand } from "../../contract/push.ts";
import type { WorktreePolicy } from "../../contract/env.ts";
import { HEADS } from "../../base/format/ref-name.ts";

/** Schedules updates for the worktrees whose branches were created, moved or deleted. Must run in
 * the same transaction.
 * @param moved the commands that moved their refs */
export function scheduleWorktrees(
  tables: Tables,
  moved: readonly RefCommand[],
  policy: WorktreePolicy,
  nowMs: number,
): void {
  const names = new Set(moved.map(({ name }) => name));
  addJobs(tables, policy, nowMs, (branch) => names.has(HEADS + branch));
}

/** Schedules a check of every worktree. Must run in the transaction that changes which branches are
 * materialized, or where HEAD points. */
export function scheduleAllWorktrees(tables: Tables, policy: WorktreePolicy, nowMs: number): void {
  addJobs(tables, policy, nowMs, () => true);
}

/** The branches to materialize, whether they exist or not, as byte strings without
 * `refs/heads/`. */
export function wantedBranches({ worktrees, refs }: Tables, policy: WorktreePolicy): string[] {
  if (policy === "none") return [];
  const wanted = worktrees.wanted();
  if (wanted !== null) return wanted;
  if (policy === "on-demand") return [];
  const head = refs.head();
  return head?.startsWith(HEADS) ? [head.slice(HEADS.length)] : [];
}

/** What the files of all materialized branches may take together (bytes): a multiple of what the
 * repository has stored. */
export function worktreeBytesLimit({ chunks }: Pick<Tables, "chunks">, { freeWorktreeBytes }: Limits): number {
  return freeWorktreeBytes + WORKTREE_BYTES_PER_STORED * chunks.totalBytes();
}

/** The tip of a branch to materialize; null: not to be materialized, or missing. */
export function wantedTip(tables: Tables, branch: string, policy: WorktreePolicy): Oid | null {
  return wantedBranches(tables, policy).includes(branch) ? (tables.refs.get(HEADS + branch)?.oid ?? null) : null;
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
