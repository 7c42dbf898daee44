// How a push that the Worker makes is answered: with values, where git is told in words. Whoever asks for this media type gets it.
import { GitError, type GitErrorCode, type GitErrorData } from "../format/errors.ts";
import type { PushResult } from "../repository/state/push.ts";
import { NO_CACHE } from "./error-response.ts";

/** What `Accept` of such a push says. */
export const PUSH_OUTCOME_TYPE = "application/vnd.holdfast.push-outcome+json";

/** An error as JSON: errors would lose their values on the way. */
interface ShownError {
  readonly code: GitErrorCode;
  readonly data: GitErrorData;
}

type ShownOutcome =
  | { readonly kind: "settled"; readonly unpack: ShownError | null; readonly refs: PushResult["refs"] }
  /** It was neither accepted nor refused. */
  | { readonly kind: "failed"; readonly error: ShownError };

/** Whether a push is to be answered so. */
export function asksForOutcome(request: Request): boolean {
  return request.headers.get("Accept") === PUSH_OUTCOME_TYPE;
}

/** Answers with how a push ended, or with the failure for which it did not. */
export function outcomeResponse(outcome: PushResult | GitError): Response {
  const shown: ShownOutcome =
    outcome instanceof GitError
      ? { kind: "failed", error: showError(outcome) }
      : { kind: "settled", unpack: outcome.unpack && showError(outcome.unpack), refs: outcome.refs };
  return Response.json(shown, { headers: { ...NO_CACHE, "Content-Type": PUSH_OUTCOME_TYPE } });
}

/** Reads such an answer.
 * @throws GitError the failure; "storage-failed" for one that nobody foresaw */
export async function readOutcome(response: Response): Promise<PushResult> {
  if (response.headers.get("Content-Type") !== PUSH_OUTCOME_TYPE)
    throw new GitError("storage-failed", { what: "push", reason: (await response.text()).trim() });
  const outcome = await response.json<ShownOutcome>();
  if (outcome.kind === "failed") throw readError(outcome.error);
  return { unpack: outcome.unpack && readError(outcome.unpack), refs: outcome.refs };
}

function showError({ code, data }: GitError): ShownError {
  return { code, data };
}

function readError({ code, data }: ShownError): GitError {
  return new GitError(code, data);
}
