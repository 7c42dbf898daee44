import { encodeText, fromByteString } from "../../base/format/byte-string.ts";
import { type Commit, type ParsedCommit, parseCommit } from "../../base/format/commit.ts";
import { GitError } from "../../base/format/errors.ts";
import { equalOids, type Oid, toHex } from "../../base/format/oid.ts";
import { withBranchLock } from "../push/branch-lock.ts";
import { NewObjects } from "../push/new-objects.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { resolveCommit, revisionOf } from "../objects/revision.ts";
import type { BranchAnswer, CherryPickRequest, RevertRequest, PickRequest } from "../../contract/merges.ts";
import { BranchTip, subjectOf } from "./branch-tip.ts";
import { mergeConflict } from "./merge-conflict.ts";
import { mergeTrees } from "./merge-trees.ts";

/** Characters of a subject in the marker of a conflict. */
const MAX_LABEL = 200;

/** A commit, and the parent that its change is relative to. */
interface Change {
  readonly oid: Oid;
  readonly commit: ParsedCommit;
  /** Null: the commit is a root. */
  readonly parent: { readonly oid: Oid; readonly tree: Oid } | null;
}

/** Applies the change of a commit again, on top of a branch, as `git cherry-pick` does.
 * @returns "unchanged": the branch already has the change, and there is no new commit
 * @throws GitError "not-found" for branch or commit, "invalid" for the mainline, "stale" when the
 * branch's tip is not the expected one, "conflict" with `conflicts` when the change cannot be
 * merged, and the errors that refuse a push's objects */
export function cherryPick(
  repository: OpenRepository,
  request: CherryPickRequest,
): Promise<BranchAnswer<"picked" | "unchanged">> {
  return pick(repository, request, "picked", ({ commit, parent }) => ({
    from: parent?.tree ?? null,
    to: commit.tree,
    author: commit.author,
    // The message keeps its encoding.
    extraHeaders: commit.extraHeaders.filter(({ name }) => name === "encoding" && request.message === null),
    message: request.message === null ? commit.message : fromByteString(request.message),
  }));
}

/** Undoes the change of a commit, on top of a branch, as `git revert` does.
 * @returns "unchanged": the branch has no part of the change, and there is no new commit
 * @throws GitError as `cherryPick` */
export function revert(
  repository: OpenRepository,
  request: RevertRequest,
): Promise<BranchAnswer<"reverted" | "unchanged">> {
  return pick(repository, request, "reverted", (change) => ({
    from: change.commit.tree,
    to: change.parent?.tree ?? null,
    author: request.author,
    extraHeaders: [],
    message: fromByteString(request.message ?? revertMessage(change)),
  }));
}

type Effect = Pick<Commit, "author" | "extraHeaders" | "message"> & {
  /** Trees; null: empty ones. */
  readonly from: Oid | null;
  readonly to: Oid | null;
};

function pick<Kind extends string>(
  repository: OpenRepository,
  request: PickRequest,
  kind: Kind,
  effectOf: (change: Change) => Effect,
): Promise<BranchAnswer<Kind | "unchanged">> {
  return withBranchLock<BranchAnswer<Kind | "unchanged">>(
    repository,
    BranchTip.refOf(request),
    request.expected !== null,
    async () => {
      const change = await findChange(repository, request);
      const tip = new BranchTip(repository, request, "branch", kind === "picked" ? change.oid : null);
      const { committer } = request;
      const { from, to, ...rest } = effectOf(change);
      const made = new NewObjects(repository.state.platform.codec);
      const labels = {
        ours: request.branch,
        theirs: `${toHex(change.oid).slice(0, 7)} (${subjectOf(change.commit).slice(0, MAX_LABEL)})`,
      };
      const roots = { base: from, ours: tip.treeOf(tip.position), theirs: to };
      const merged = await mergeTrees(repository, roots, labels, made);
      if (merged.kind === "conflicts") throw mergeConflict("change", merged.conflicts);
      if (equalOids(merged.tree, roots.ours)) return tip.moveTo("unchanged", tip.position);
      return tip.commit(kind, { ...rest, tree: merged.tree, parents: [tip.oid], committer }, made, merged.newObjects);
    },
  );
}

/** @throws GitError "not-found", "invalid" when the mainline is missing or does not fit */
async function findChange(repository: OpenRepository, { commit: text, mainline }: PickRequest): Promise<Change> {
  const { oid, number } = await resolveCommit(repository, encodeText(text));
  const commit = parseCommit((await repository.reader.read(number)).bytes, mainline ?? 1);
  const count = commit.parentCount;
  if (count > 1 && mainline === null) {
    throw new GitError("invalid", {
      what: "mainline",
      field: "mainline",
      reason: `${text} is a merge: say which parent its change is relative to`,
    });
  }
  if (mainline !== null && mainline > Math.max(1, count)) {
    throw new GitError("invalid", {
      what: "mainline",
      actual: mainline,
      field: "mainline",
      reason: `${text} has ${count} parents`,
    });
  }
  const parent = commit.parents[(mainline ?? 1) - 1];
  if (parent === undefined) return { oid, commit, parent: null };
  const { graph } = repository.tables;
  const tree = graph.tree(graph.position(repository.numberOf(parent)));
  return { oid, commit, parent: { oid: parent, tree: revisionOf(repository, tree).oid } };
}

/** @see "revert" in git's sequencer.c, also for the title of a reverted revert */
function revertMessage({ oid, commit, parent }: Change): string {
  const subject = subjectOf(commit);
  const undone = /^Revert "(?!Revert ")(.*)$/.exec(subject)?.[1];
  const against = commit.parentCount > 1 ? `, reversing\nchanges made to ${toHex(parent!.oid)}` : "";
  const title = undone === undefined ? `Revert "${subject}"` : `Reapply "${undone}`;
  return `${title}\n\nThis reverts commit ${toHex(oid)}${against}.\n`;
}
