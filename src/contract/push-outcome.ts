// The outcome of a push as values, where a git client gets text. The object sends it to a client
// that asks for this media type, such as the Worker for a push of its own.
import { GitError, type GitErrorCode, type GitErrorData } from "../base/format/errors.ts";
import type { PushResult } from "./push.ts";
import { NO_CACHE } from "../base/http/error-response.ts";

/** The `Accept` header of such a push. */
export const PUSH_OUTCOME_TYPE = "application/vnd.holdfast.push-outcome+json";

/** An error as JSON. A cloned Error would lose its values. */
interface ShownError {
  readonly code: GitErrorCode;
  readonly data: GitErrorData;
}

type ShownOutcome =
  | { readonly kind: "ended"; readonly unpack: ShownError | null; readonly refs: PushResult["refs"] }
  /** The push was neither accepted nor refused. */
  | { readonly kind: "failed"; readonly error: ShownError };

/** Whether the sender of a push asks for a `PushOutcome`. */
export function asksForOutcome(request: Request): boolean {
  return request.headers.get("Accept") === PUSH_OUTCOME_TYPE;
}

/** Encodes the result of a push, or the failure that prevented one. */
export function outcomeResponse(outcome: PushResult | GitError): Response {
  const shown: ShownOutcome =
    outcome instanceof GitError
      ? { kind: "failed", error: showError(outcome) }
      : { kind: "ended", unpack: outcome.unpack && showError(outcome.unpack), refs: outcome.refs };
  return Response.json(shown, { headers: { ...NO_CACHE, "Content-Type": PUSH_OUTCOME_TYPE } });
}

/** Decodes an outcome.
 * @throws GitError the failure; "storage-failed" for an unexpected one */
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
