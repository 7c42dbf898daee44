// A full check of a repository: a walk over all its rows and bytes, in calls of bounded work.
// Nothing is kept between calls. Each continues where the previous one ended, and checks the
// repository as it is by then.
import { maskRefused } from "../../base/codec/fsck-messages.ts";
import { CALL_STEPS } from "../../base/format/limits.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { checkChunks } from "./check-chunks.ts";
import { checkBundle, checkParts, checkResponses, checkWorktrees } from "./check-files.ts";
import { checkIndex } from "./check-index.ts";
import { checkKeys } from "./check-keys.ts";
import { checkLfs } from "./check-lfs.ts";
import { checkPathFilters } from "./check-path-filters.ts";
import { checkReachability } from "./check-reachability.ts";
import { checkRefs } from "./check-refs.ts";
import { checkRows } from "./check-rows.ts";
import { FsckRun, type FsckStage } from "./fsck-run.ts";
import {
  type FsckStageName,
  FSCK_STAGES,
  type FsckRequest,
  type FsckReport,
  type FsckPlace,
} from "../../contract/upkeep.ts";

/** What each stage does. */
const STAGES: Readonly<Record<FsckStageName, FsckStage>> = {
  index: checkIndex,
  chunks: checkChunks,
  reachability: checkReachability,
  filters: checkPathFilters,
  refs: checkRefs,
  bundle: checkBundle,
  responses: checkResponses,
  worktrees: checkWorktrees,
  lfs: checkLfs,
  parts: checkParts,
  rows: checkRows,
  keys: checkKeys,
};

/** Checks part of a repository: for a second, or up to 64 MiB of chunks. Damage is a problem, and
 * the check goes on with what is left.
 * @throws GitError "storage-failed" when the store fails: what could not be read is not reported as
 * damaged */
export async function fsck(
  repository: OpenRepository,
  { place, rules, repair, budgetSteps = CALL_STEPS }: FsckRequest,
): Promise<FsckReport> {
  const refused = rules === null ? 0n : maskRefused(rules);
  const run = new FsckRun(repository, refused, repair, budgetSteps, place?.hasLostRows ?? false);
  let stage = FSCK_STAGES.indexOf(place?.stage ?? "index");
  let after = place?.after ?? "";
  for (; stage < FSCK_STAGES.length; stage++) {
    const name = FSCK_STAGES[stage]!;
    const from = after;
    // What a stage cannot read at all ends it, and the next one begins.
    const reached = await run.attempt(`stage ${name}`, () => STAGES[name](run, from), null);
    if (reached !== null) return toReport(run, { stage: name, after: reached });
    after = "";
  }
  return toReport(run, null);
}

function toReport(run: FsckRun, next: FsckPlace | null): FsckReport {
  const { checked, problems, problemCount, hasLostRows } = run;
  return { checked, problems, problemCount, next: next && { ...next, ...(hasLostRows && { hasLostRows }) } };
}
