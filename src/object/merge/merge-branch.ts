import { nameOf } from "../../base/access/caller.ts";
import { decodeText, encodeText, fromByteString } from "../../base/format/byte-string.ts";
import { GitError } from "../../base/format/errors.ts";
import { withBranch } from "../forks/borrow.ts";
import { equalOids, toHex } from "../../base/format/oid.ts";
import type { ForeignBranch, BranchAnswer, MergeRequest, MergeKind, SyncAnswer } from "../../contract/merges.ts";
import { withBranchLock } from "../push/branch-lock.ts";
import { NewObjects } from "../push/new-objects.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { resolveCommit, type Revision, revisionOf } from "../objects/revision.ts";
import { publish } from "../push/publish.ts";
import { BranchTip } from "./branch-tip.ts";
import { mergeCommits } from "./merge-commits.ts";
import { mergeConflict } from "./merge-conflict.ts";

/** The branches that git's default messages omit. @see git-fmt-merge-msg(1), merge.suppressDest */
const UNNAMED_BRANCHES: ReadonlySet<string> = new Set(["main", "master"]);

/** Merges a commit into a branch, as `git merge` does.
 * @throws GitError "not-found" for branch or head, "stale" when the branch's tip is not the
 * expected one, "conflict" with `conflicts` when the two cannot be merged, and the errors that
 * refuse a push's objects */
export function merge(repository: OpenRepository, request: MergeRequest): Promise<BranchAnswer<MergeKind>> {
  const { state, requester } = repository;
  return withBranchLock(repository, BranchTip.refOf(request), request.expected !== null, async () => {
    if (request.source === null) {
      return mergeOnce(repository, request, await resolveCommit(repository, encodeText(request.head)));
    }
    return withBranch(state, request.source, nameOf(requester.caller), (oid) =>
      mergeOnce(repository, request, revisionOf(repository, repository.numberOf(oid))),
    );
  });
}

async function mergeOnce(
  repository: OpenRepository,
  request: MergeRequest,
  head: Revision,
): Promise<BranchAnswer<MergeKind>> {
  const { branch, fastForward, author, committer } = request;
  const tip = new BranchTip(repository, request, "base", head.oid);
  const { graph } = repository.tables;
  const theirs = graph.position(head.number);
  if (graph.isAncestor(theirs, tip.position)) return tip.moveTo("up-to-date", tip.position);
  const isAhead = graph.isAncestor(tip.position, theirs);
  if (isAhead && fastForward !== "never") return tip.moveTo("fast-forward", theirs);
  if (fastForward === "only") {
    const reason = `${decodeText(branch)} has commits that ${request.head} lacks, so it cannot be fast-forwarded`;
    throw new GitError("conflict", { what: "merge", reason });
  }
  const made = new NewObjects(repository.state.platform.codec);
  const labels = { ours: branch, theirs: encodeText(request.head) };
  const merged = await mergeCommits(repository, tip.position, theirs, labels, made);
  if (merged.kind === "conflicts") throw mergeConflict("merge", merged.conflicts);
  const commit = {
    tree: merged.tree,
    parents: [tip.oid, head.oid],
    author,
    committer,
    extraHeaders: [],
    message: fromByteString(request.message ?? defaultMessage(repository, request)),
  };
  return tip.commit("merge", commit, made, merged.newObjects);
}

/** @see git-fmt-merge-msg(1) */
function defaultMessage({ tables }: OpenRepository, { branch, head, source }: MergeRequest): string {
  const name = encodeText(head);
  const into = UNNAMED_BRANCHES.has(branch) ? "" : ` into ${branch}`;
  if (source !== null) return `Merge branch '${source.branch}' of ${name.slice(0, name.indexOf(":"))}${into}\n`;
  const ref = ["", "refs/", "refs/tags/", "refs/heads/"]
    .map((prefix) => prefix + name)
    .find((at) => tables.refs.get(at));
  const [, place, short] = /^refs\/(heads|tags)\/(.*)$/.exec(ref ?? "") ?? [];
  const kind = place === "heads" ? "branch" : place === "tags" ? "tag" : "commit";
  return `Merge ${kind} '${short ?? name}'${into}\n`;
}

/** Brings a branch forward to a branch of another repository of the family, or creates it there.
 * @param branch without `refs/heads/`, byte string
 * @throws GitError "conflict" when the branch has commits that the other one lacks, and as
 * `withBranch` and `publish` */
export function syncBranch(
  repository: OpenRepository,
  { branch, source }: { branch: string; source: ForeignBranch },
): Promise<SyncAnswer> {
  const { state, requester } = repository;
  const ref = `refs/heads/${branch}`;
  const sync = () =>
    withBranch(state, source, nameOf(requester.caller), async (tip): Promise<SyncAnswer> => {
      const { refs, graph } = repository.tables;
      const old = refs.get(ref)?.oid ?? null;
      const answer = (kind: SyncAnswer["kind"], commit = tip) => ({
        kind,
        branch: decodeText(branch),
        commit: toHex(commit),
      });
      if (old !== null) {
        const [from, to] = [old, tip].map((oid) => graph.position(repository.numberOf(oid)));
        if (equalOids(old, tip) || graph.isAncestor(to!, from!)) return answer("up-to-date", old);
        if (!graph.isAncestor(from!, to!)) {
          const reason = `${decodeText(branch)} has commits of its own; merge the other branch into it instead`;
          throw new GitError("conflict", { what: "branch", reason });
        }
      }
      await publish(repository, [{ name: ref, old, new: tip }], []);
      return answer(old === null ? "created" : "fast-forward");
    });
  return withBranchLock(repository, ref, false, sync);
}
