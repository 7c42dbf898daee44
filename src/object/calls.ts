// The functions that answer the calls of `contract/calls.ts`, each of the open repository and one
// argument. They throw GitErrors for errors that the client is told.
import type { Requester } from "../base/access/caller.ts";
import { isGitError } from "../base/format/errors.ts";
import type { Answers, CallName, CallOutcome, RepositoryClient } from "../contract/calls.ts";
import { checkRestore, planBackup } from "./fetch/backup.ts";
import { completeUpload } from "./upload/complete-upload.ts";
import { findLfsObject, lfsBatch, lfsState, listLfsObjects } from "./lfs/lfs-objects.ts";
import { addLfsObject, beginLfsObject, dropLfsObject, findSignedUpload } from "./lfs/lfs-uploads.ts";
import { addLfsPart, beginLfsPart, beginLfsUpload, endLfsUpload, readLfsUpload } from "./lfs/lfs-part-uploads.ts";
import { completeLfsUpload } from "./lfs/complete-lfs-upload.ts";
import { listLocks, lockFile, unlockFile, verifyLocks } from "./lfs/lfs-locks.ts";
import { beginUpload, endUpload, readUpload } from "./upload/upload.ts";
import { addPart, beginPart } from "./upload/upload-parts.ts";
import { indexStep } from "./upload/upload-steps.ts";
import { beginImport, changeImport, endImport, readImport, syncImport } from "./remotes/import.ts";
import { commit } from "./commit/commit.ts";
import { commitsBetween, compare } from "./history/compare.ts";
import { diff, patch, fileDiff, showCommit } from "./diff/diff.ts";
import { blame } from "./history/blame.ts";
import {
  checkDefaultBranch,
  setDefaultBranch,
  branch,
  branches,
  createBranch,
  moveBranch,
  renameBranch,
} from "./refs/branches.ts";
import { fsck } from "./fsck/fsck.ts";
import { log } from "./history/log.ts";
import { ancestry, commonAncestors, mergeBase } from "./history/merge-base.ts";
import {
  changeMirror,
  createMirror,
  deleteMirror,
  mirror,
  mirrorRefs,
  mirrors,
  syncMirror,
} from "./remotes/mirrors.ts";
import { listDirectory, listFiles, listTree } from "./files/list-files.ts";
import { locateBlob, locateFile, readCommit, readTag } from "./files/locate-file.ts";
import { planFiles } from "./files/plan-files.ts";
import { maintain, maintenance } from "./maintenance/maintain.ts";
import { merge, syncBranch } from "./merge/merge-branch.ts";
import { cherryPick, revert } from "./merge/pick-commit.ts";
import { OpenRepository } from "./objects/open-repository.ts";
import type { RepositoryState } from "./state/repository-state.ts";
import { deleteRef, putRef } from "./refs/move-ref.ts";
import { configureProtectedRefs, protectedRefs } from "./refs/protected-refs.ts";
import { createTag, moveTag, renameTag, tag, tags } from "./refs/tags.ts";
import { resolve } from "./objects/revision.ts";
import { WEBHOOK_CALLS } from "./events/webhooks.ts";
import { setStatus, statuses } from "./events/statuses.ts";
import { events } from "./events/events.ts";
import { noteRepositoryChange } from "./events/owner-changes.ts";
import { editPage } from "./pages/edit-page.ts";
import { findPage } from "./pages/find-page.ts";
import { commitPage, comparePage, logPage, fileBefore } from "./pages/history-pages.ts";
import { stableName } from "./pages/page-revision.ts";
import { pathPage } from "./pages/path-page.ts";
import { branchesPage, tagsPage } from "./pages/refs-page.ts";
import { repositoryPage } from "./pages/repository-page.ts";
import { activity } from "./tally/activity.ts";
import { contributors } from "./tally/contributors.ts";
import { languages } from "./tally/languages.ts";
import { pushes, stats } from "./tally/stats.ts";
import { configureWorktrees, worktrees } from "./worktree/worktree-status.ts";

const CALLS: Answers<RepositoryClient, OpenRepository> = {
  checkDefaultBranch,
  setDefaultBranch,
  maintenance,
  maintain,
  fsck,
  planBackup,
  checkRestore,
  beginUpload,
  readUpload,
  endUpload,
  beginPart,
  addPart,
  indexStep,
  completeUpload,
  beginImport,
  readImport,
  changeImport,
  syncImport,
  endImport,
  mirrors,
  mirror,
  mirrorRefs,
  createMirror,
  changeMirror,
  syncMirror,
  deleteMirror,
  lfsState,
  listLfsObjects,
  lfsBatch,
  findLfsObject,
  beginLfsObject,
  findSignedUpload,
  addLfsObject,
  dropLfsObject,
  beginLfsUpload,
  readLfsUpload,
  endLfsUpload,
  beginLfsPart,
  addLfsPart,
  completeLfsUpload,
  lockFile,
  listLocks,
  verifyLocks,
  unlockFile,
  resolve,
  worktrees,
  configureWorktrees,
  commit,
  branches,
  branch,
  createBranch,
  moveBranch,
  renameBranch,
  tags,
  tag,
  createTag,
  moveTag,
  renameTag,
  putRef,
  deleteRef,
  protectedRefs,
  configureProtectedRefs,
  merge,
  syncBranch,
  ancestry,
  commonAncestors,
  cherryPick,
  revert,
  log,
  blame,
  mergeBase,
  listDirectory,
  listFiles,
  listTree,
  locateBlob,
  locateFile,
  planFiles,
  readCommit,
  readTag,
  showCommit,
  compare,
  commitsBetween,
  diff,
  fileDiff,
  patch,
  activity,
  contributors,
  languages,
  pushes,
  events,
  noteRepositoryChange,
  statuses,
  setStatus,
  ...WEBHOOK_CALLS,
  stats,
  repositoryPage,
  pathPage,
  editPage,
  findPage,
  logPage,
  commitPage,
  comparePage,
  stableName,
  branchesPage,
  tagsPage,
  fileBefore,
};

/** Calls that hold no object numbers across waits, so that jobs may remove objects meanwhile. */
const HOLDS_NO_NUMBERS: ReadonlySet<CallName> = new Set(["maintain", "completeLfsUpload"]);

/** Runs a call. Object numbers that it holds stay valid meanwhile.
 * @param runJobs runs the jobs that are due
 * @throws any error that is not a GitError: a failure of the server itself */
export async function answerCall(
  state: RepositoryState,
  requester: Requester,
  runJobs: (nowMs: number) => Promise<void>,
  name: CallName,
  argument: unknown,
): Promise<CallOutcome> {
  if (state.tables === null) return { kind: "unknown-repository" };
  const startMs = Date.now();
  const { rowsRead, rowsWritten } = state.sqlCounters;
  let repository: OpenRepository | null = null;
  let failure: string | null = null;
  try {
    const opened = (repository = new OpenRepository(state, requester, runJobs));
    const call = CALLS[name] as (repository: OpenRepository, argument: unknown) => Promise<unknown>;
    const run = () => call(opened, argument);
    const value = await (HOLDS_NO_NUMBERS.has(name) ? run() : state.holdNumbers(run));
    return { kind: "done", value, ambiguities: opened.ambiguities };
  } catch (error) {
    failure = String(error);
    if (!isGitError(error)) throw error;
    return { kind: "failed", code: error.code, data: error.data, ambiguities: repository?.ambiguities ?? [] };
  } finally {
    if (repository !== null) {
      const { sqlCounters } = state;
      const rows = { rowsRead: sqlCounters.rowsRead - rowsRead, rowsWritten: sqlCounters.rowsWritten - rowsWritten };
      const operations = { ...repository.operations, ...rows };
      const ms = Date.now() - startMs;
      const { requestId } = requester;
      const { pushes } = repository;
      const event = { event: "call", request: requestId, name, ms, error: failure, operations } as const;
      state.platform.observe(pushes.length === 0 ? event : { ...event, pushes });
    }
  }
}
