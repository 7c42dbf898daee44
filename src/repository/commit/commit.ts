import { maskRefused } from "../../codec/fsck-messages.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import type { CommitAnswer, CommitRequest } from "./commit-request.ts";
import { checkOperations } from "./operation.ts";
import { saveInGroup } from "./save-group.ts";

/** Changes files of a branch, in one commit. The branch moves only if nothing stands against it; what commits and pushes that come
 * meanwhile have changed stays.
 * @throws GitError "invalid", "not-found" and "conflict" for an operation, with its field; "not-found" for a branch or revision; "stale" when
 * the branch has moved on and that is not wanted; "conflict" with `conflicts` when it cannot be merged; and what refuses a push's objects */
export async function commit(repository: OpenRepository, request: CommitRequest): Promise<CommitAnswer> {
  const { platform, fsck } = repository.state;
  checkOperations(platform.codec, maskRefused(fsck), request.operations);
  return saveInGroup(repository, request);
}
