import { nameOf } from "../../base/access/caller.ts";
import { decodeText } from "../../base/format/byte-string.ts";
import { GitError } from "../../base/format/errors.ts";
import { equalOids, toHex } from "../../base/format/oid.ts";
import type { ForeignBranch } from "../../contract/forks.ts";
import { withBranch } from "../forks/borrow.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { withBranchLock } from "../push/branch-lock.ts";
import { publish } from "../push/publish.ts";
import type { SyncAnswer } from "../../contract/merges.ts";

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
