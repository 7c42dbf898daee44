import { isGitError } from "../../base/format/errors.ts";
import type { OpenRepository } from "../objects/open-repository.ts";

/** The most pushes that may come between while one change is made. Only git clients' pushes can:
 * changes through the API hold a lock. */
const MAX_TRIES = 10;

/** Changes a ref while holding its lock among the API's changes. @see tryAgain
 * @param ref full name, byte string */
export function withBranchLock<Result>(
  repository: OpenRepository,
  ref: string,
  isTipFixed: boolean,
  attempt: () => Promise<Result>,
): Promise<Result> {
  return repository.state.refMutex.take(ref, () => tryAgain(isTipFixed, attempt));
}

/** Changes a ref, and tries again from its new value when a push came between.
 * @param isTipFixed whether the ref must not have moved: then there is one attempt only
 * @param attempt starts from the ref's current value, and publishes
 * @throws whatever the attempt throws; GitError "stale", unless `isTipFixed`, only after ten
 * attempts */
export async function tryAgain<Result>(isTipFixed: boolean, attempt: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isGitError(error, "stale") || isTipFixed || tries === MAX_TRIES) throw error;
    }
  }
}
