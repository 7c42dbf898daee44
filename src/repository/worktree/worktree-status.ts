import { GitError } from "../../format/errors.ts";
import { toHex } from "../../format/oid.ts";
import type { Tables } from "../../store/tables.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { scheduleAllWorktrees, wantedBranches, wantedTip, worktreeBytesLimit } from "./worktrees.ts";

/** The state of a worktree. ready: R2 holds the branch's tip. writing: it is being written.
 * failing: writing failed and will be retried. refused: the tip has too many paths or bytes.
 * leaving: the branch was deleted or is no longer materialized, and its files are being removed.
 * absent: no such branch. */
export type WorktreeStatusState = "ready" | "writing" | "failing" | "refused" | "leaving" | "absent";

/** The state of one branch's files in R2; ids in hex. */
export interface WorktreeStatus {
  /** Byte string, without `refs/heads/`. */
  readonly branch: string;
  readonly state: WorktreeStatusState;
  /** The branch's commit; null: it was deleted, or is not to be materialized. */
  readonly tip: string | null;
  /** The last commit that R2 held completely. */
  readonly materialized: string | null;
  /** When it did (ms since 1970). */
  readonly materializedMs: number | null;
  /** Of the commit that is or will be materialized. */
  readonly files: number;
  readonly sizeBytes: number;
  /** Why the tip is not materialized. */
  readonly error: string | null;
}

/** All worktrees, and which branches should have one. */
export interface WorktreesStatus {
  /** Byte strings; null: none were chosen, the deployment's default applies. */
  readonly branches: readonly string[] | null;
  readonly worktrees: readonly WorktreeStatus[];
  /** Of all files. */
  readonly sizeBytes: number;
  /** What they may have. */
  readonly maxBytes: number;
}

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
