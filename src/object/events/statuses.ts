import { includesRight, nameOf } from "../../base/access/caller.ts";
import { decodeText, encodeText } from "../../base/format/byte-string.ts";
import { GitError } from "../../base/format/errors.ts";
import { toHex } from "../../base/format/oid.ts";
import { MAX_CONTEXTS } from "../../base/format/table-limits.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { resolveCommit } from "../objects/revision.ts";
import { addEvent } from "./events.ts";
import type { CommitStatuses, StatusState, CommitStatus } from "../../contract/events.ts";

/** Reads the statuses of a commit, the last of each context.
 * @param ref text, a revision
 * @throws GitError as `resolveCommit` */
export async function statuses(repository: OpenRepository, ref: string): Promise<CommitStatuses> {
  const { oid } = await resolveCommit(repository, encodeText(ref));
  const isShown = includesRight(repository.requester.right, "write");
  const found = repository.tables.statuses.of(oid).map(({ timeMs, who, state, ...rest }) => ({
    ...rest,
    state: state as StatusState,
    timestamp: new Date(timeMs).toISOString(),
    who: isShown && who !== null ? decodeText(who) : null,
  }));
  return { oid: toHex(oid), state: combine(found), statuses: found };
}

/** Sets a commit's status, in place of the previous one of the same context.
 * @throws GitError as `resolveCommit`, "conflict" when the commit has too many contexts */
export async function setStatus(
  repository: OpenRepository,
  { ref, ...status }: Pick<CommitStatus, "context" | "state" | "description" | "url"> & { readonly ref: string },
): Promise<CommitStatuses> {
  const { oid } = await resolveCommit(repository, encodeText(ref));
  const { state, tables, requester } = repository;
  const known = tables.statuses.of(oid);
  if (known.length >= MAX_CONTEXTS && !known.some(({ context }) => context === status.context)) {
    const reason = `the commit has ${MAX_CONTEXTS} contexts already`;
    throw new GitError("conflict", { what: "status", reason });
  }
  state.transactAside(() => {
    tables.statuses.put(oid, { ...status, timeMs: Date.now(), who: nameOf(requester.caller) });
    addEvent(state, tables, requester, "status", { commit: toHex(oid), ...status });
  });
  return statuses(repository, toHex(oid));
}

function combine(found: readonly CommitStatus[]): CommitStatuses["state"] {
  if (found.some(({ state }) => state === "failure" || state === "error")) return "failure";
  return found.length === 0 || found.some(({ state }) => state === "pending") ? "pending" : "success";
}
