import { maskRefused } from "../../base/codec/fsck-messages.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import type { CommitAnswer, CommitRequest } from "../../contract/commits.ts";
import { checkOperations } from "./operation.ts";
import { saveInGroup } from "./save-group.ts";

/** Changes files of a branch, in one commit. The branch moves only if nothing conflicts; changes of
 * concurrent commits and pushes are kept.
 * @throws GitError "invalid", "not-found" and "conflict" for an operation, with its field;
 * "not-found" for a branch or revision; "stale" when the branch has moved and the request does not
 * allow that; "conflict" with `conflicts` when the change cannot be merged; and the errors that
 * refuse a push's objects, also "too-large" for too many directories */
export async function commit(repository: OpenRepository, request: CommitRequest): Promise<CommitAnswer> {
  const { platform, fsck } = repository.state;
  await checkOperations(platform.codec, maskRefused(fsck), request.operations);
  return saveInGroup(repository, request);
}
