import { isGitError } from "../../base/format/errors.ts";
import { errorResponse, NO_CACHE } from "../../base/http/error-response.ts";

/** The media type of the API. */
export const LFS_TYPE = "application/vnd.git-lfs+json";

/** Where its errors lead. */
const DOCUMENTATION = "https://github.com/git-lfs/git-lfs/tree/main/docs/api";

/** An answer in JSON. */
export function lfsAnswer(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  const all = { "Content-Type": LFS_TYPE, ...NO_CACHE, ...headers };
  return new Response(JSON.stringify(body), { status, headers: all });
}

/** An error document, whose message the client shows. */
export function lfsRefusal(status: number, message: string, headers: Record<string, string> = {}): Response {
  return lfsAnswer(status, { message, documentation_url: DOCUMENTATION }, headers);
}

/** Answers a failed request. A caller without a token learns where the client may look for one. */
export async function lfsFailure(thrown: unknown): Promise<Response> {
  const { status, headers, text } = await describe(thrown);
  const challenge = headers.get("WWW-Authenticate");
  const retryAfter = headers.get("Retry-After");
  return lfsRefusal(status, text, {
    ...(challenge !== null && { "WWW-Authenticate": challenge, "LFS-Authenticate": challenge }),
    ...(retryAfter !== null && { "Retry-After": retryAfter }),
  });
}

/** What git would be told of it, but with the API's status for a value that is not valid. */
async function describe(thrown: unknown): Promise<{ status: number; headers: Headers; text: string }> {
  const response = errorResponse(thrown);
  const text = (await response.text()).trim();
  return { status: isGitError(thrown, "invalid") ? 422 : response.status, headers: response.headers, text };
}
