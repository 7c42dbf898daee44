import { GitError } from "../../base/format/errors.ts";
import { toHex } from "../../base/format/oid.ts";
import type { Tables } from "../store/tables.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { scheduleAllWorktrees, wantedBranches, wantedTip, worktreeBytesLimit } from "./worktrees.ts";
import type { WorktreesStatus, WorktreeStatus, WorktreeStatusState } from "../../contract/upkeep.ts";

/** Returns the state of all worktrees. */
export async function worktrees({ tables, state }: OpenRepository): Promise<WorktreesStatus> {
  const policy = state.platform.worktrees;
  const existing = tables.worktrees.all().map(({ branch }) => branch);
  const branches = new Set([...wantedBranches(tables, policy), ...existing]);
  return {
    branches: tables.worktrees.wanted(),
    sizeBytes: tables.worktrees.sizeBytes(),
    maxBytes: worktreeBytesLimit(tables, state.platform.limits),
    worktrees: [...branches].toSorted().map((branch) => {
      const tip = wantedTip(tables, branch, policy);
      return readStatus(tables, branch, tip === null ? null : toHex(tip));
    }),
  };
}

/** Sets which branches are materialized. The jobs that follow carry it out.
 * @param branches byte strings, without `refs/heads/`; null: the deployment's default
 * @throws GitError "forbidden" where the deployment materializes none */
export async function configureWorktrees(
  repository: OpenRepository,
  { branches }: { branches: readonly string[] | null },
): Promise<WorktreesStatus> {
  const { transactor, worktrees: policy } = repository.state.platform;
  if (policy === "none") {
    const reason = "this server keeps no files of branches (its variable WORKTREES is none)";
    throw new GitError("forbidden", { what: "choosing worktrees", reason });
  }
  transactor.transactionSync(() => {
    repository.tables.worktrees.setWanted(branches === null ? null : [...new Set(branches)]);
    scheduleAllWorktrees(repository.tables, policy, Date.now());
  });
  repository.state.scheduleJobs();
  return worktrees(repository);
}

function readStatus({ worktrees, jobs }: Tables, branch: string, tip: string | null): WorktreeStatus {
  const row = worktrees.get(branch);
  const materialized = row === null || row.materialized === null ? null : toHex(row.materialized);
  const error = row?.refused ?? jobs.find("materialize", branch)?.lastError ?? null;
  const isReady = tip !== null && materialized === tip && row!.pending === 0;
  return {
    branch,
    state: stateOf(row !== null, tip, isReady, row?.refused ?? null, error),
    tip,
    materialized,
    materializedMs: materialized === null ? null : row!.changedMs,
    files: row?.files ?? 0,
    sizeBytes: row?.sizeBytes ?? 0,
    error: isReady ? null : error,
  };
}

function stateOf(
  exists: boolean,
  tip: string | null,
  isReady: boolean,
  refused: string | null,
  error: string | null,
): WorktreeStatusState {
  if (tip === null) return exists ? "leaving" : "absent";
  if (isReady) return "ready";
  if (refused !== null) return "refused";
  return error === null ? "writing" : "failing";
}
