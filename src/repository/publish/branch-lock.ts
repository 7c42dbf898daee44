import { isGitError } from "../../format/errors.ts";
import type { OpenRepository } from "../objects/open-repository.ts";

/** Pushes that may come between while one change is made. Changes through the API take turns, so only those of git clients do. */
const MAX_TRIES = 10;

/** Changes a ref in turn with what else the API changes there. @see tryAgain
 * @param ref full name, byte string */
export function withBranchLock<Result>(
  repository: OpenRepository,
  ref: string,
  isMinded: boolean,
  attempt: () => Promise<Result>,
): Promise<Result> {
  return repository.state.refMutex.take(ref, () => tryAgain(isMinded, attempt));
}

/** Changes a ref, and once more from where it is then when a push came between.
 * @param isMinded whether the caller minds that the ref has moved: then there is one attempt only
 * @param attempt begins with the ref as it is, and publishes
 * @throws what the attempt throws; GitError "stale", if it is not minded, after ten attempts only */
export async function tryAgain<Result>(isMinded: boolean, attempt: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isGitError(error, "stale") || isMinded || tries === MAX_TRIES) throw error;
    }
  }
}
