// What the REST API asks of a repository. The API's Worker checks requests and writes JSON; what is asked runs in the
// repository's object, by the name of an entry of this table. A new call is one row here: a function of the open repository and one
// argument, whose result can be cloned (structured clone; at most 32 MiB). It throws GitErrors for what the client is told.
import type { Requester } from "../access/caller.ts";
import { GitError, type GitErrorCode, type GitErrorData, isGitError } from "../format/errors.ts";
import { checkRestore, planBackup } from "./bundle/backup.ts";
import { commit } from "./commit/commit.ts";
import { commitsBetween, compare } from "./history/compare.ts";
import { diff, patch } from "./diff/diff.ts";
import { showCommit } from "./diff/show-commit.ts";
import { blame } from "./history/blame.ts";
import { checkDefaultBranch, setDefaultBranch } from "./refs/default-branch.ts";
import { fsck } from "./fsck/fsck.ts";
import { log } from "./history/log.ts";
import { mergeBase } from "./history/merge-base.ts";
import { listDirectory, listFiles } from "./files/list-files.ts";
import { locateBlob, locateFile } from "./files/locate-file.ts";
import { planFiles } from "./files/plan-files.ts";
import { readObject } from "./files/read-object.ts";
import { maintain } from "./maintenance/maintain.ts";
import { maintenance } from "./maintenance/status.ts";
import { merge } from "./merge/merge-branch.ts";
import { cherryPick, revert } from "./merge/pick-commit.ts";
import { OpenRepository } from "./objects/open-repository.ts";
import type { RepositoryState } from "./state/repository-state.ts";
import { branch, branches, createBranch, moveBranch, renameBranch } from "./refs/branches.ts";
import { deleteRef, putRef } from "./refs/move-ref.ts";
import { configureProtectedRefs, protectedRefs } from "./refs/protected-refs.ts";
import { createTag, moveTag, renameTag, tag, tags } from "./refs/tags.ts";
import { resolve } from "./objects/revision.ts";
import { activity } from "./tally/activity.ts";
import { contributors } from "./tally/contributors.ts";
import { languages } from "./tally/languages.ts";
import { pushes } from "./tally/pushes.ts";
import { stats } from "./tally/stats.ts";
import { configureWorktrees, worktrees } from "./worktree/worktree-status.ts";

const CALLS = {
  checkDefaultBranch,
  setDefaultBranch,
  maintenance,
  maintain,
  fsck,
  planBackup,
  checkRestore,
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
  cherryPick,
  revert,
  log,
  blame,
  mergeBase,
  listDirectory,
  listFiles,
  locateBlob,
  locateFile,
  planFiles,
  readObject,
  showCommit,
  compare,
  commitsBetween,
  diff,
  patch,
  activity,
  contributors,
  languages,
  pushes,
  stats,
} satisfies Record<string, (repository: OpenRepository, argument: never) => Promise<unknown>>;

type Calls = typeof CALLS;

/** Calls that hold no object numbers across waits, so that jobs may remove objects meanwhile. */
const HOLDS_NO_NUMBERS: ReadonlySet<CallName> = new Set(["maintain"]);

/** Names one of the calls. */
export type CallName = keyof Calls;

/** What names that stand for several things stand for. @see OpenRepository.ambiguities */
export type Ambiguities = readonly (readonly string[])[];

/** How a call ended, as it crosses from the object to the Worker: errors would lose their values there. */
export type CallOutcome =
  | { readonly kind: "done"; readonly value: unknown; readonly ambiguities: Ambiguities }
  /** There is no repository in this object: the name that led here may lead elsewhere by now. */
  | { readonly kind: "unknown-repository" }
  | {
      readonly kind: "failed";
      readonly code: GitErrorCode;
      readonly data: GitErrorData;
      readonly ambiguities: Ambiguities;
    };

/** A repository as the API sees it: every call of the table as a method.
 * @throws GitError "not-found" when there is no such repository, and what the call throws */
export type RepositoryClient = {
  readonly [Name in CallName]: (
    ...argument: Parameters<Calls[Name]> extends [unknown, infer Argument] ? [Argument] : []
  ) => ReturnType<Calls[Name]>;
};

/** Makes the methods of a client.
 * @param send carries a call to the object
 * @param noteAmbiguities hears of the names in a call that stand for several things */
export function newRepositoryClient(
  send: (name: CallName, argument: unknown) => Promise<CallOutcome>,
  noteAmbiguities: (ambiguities: Ambiguities) => void = () => undefined,
): RepositoryClient {
  const method = (name: CallName) => async (argument: unknown) => {
    const outcome = await send(name, argument);
    if (outcome.kind === "unknown-repository") throw new GitError("not-found", { what: "repository" });
    noteAmbiguities(outcome.ambiguities);
    if (outcome.kind === "failed") throw new GitError(outcome.code, outcome.data);
    return outcome.value;
  };
  // A request uses one or two of them: each is made as it is asked for.
  return new Proxy({} as RepositoryClient, {
    get: (_, name) => (Object.hasOwn(CALLS, name) ? method(name as CallName) : undefined),
  });
}

/** Runs a call. Object numbers that it holds stay what they are meanwhile.
 * @param runJobs runs the jobs that are due
 * @throws what is no GitError: the failure is the server's own */
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
