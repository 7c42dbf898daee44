import { isGitError, statusOf } from "../format/errors.ts";
import { logFailure } from "../format/failure-log.ts";
import { encodePkt } from "../format/pkt-line.ts";
import { ERROR_BAND } from "../format/side-band.ts";
import { explainFailure } from "../failures/known-failures.ts";

/** Message to the client when the server is at fault. */
const INTERNAL = "internal error";

/** Answers a failed Git request. Git shows a plain-text body to its user as `remote: …`.
 * @returns a response with the failure's status, or 500 without details for an unexpected
 * failure */
export function errorResponse(thrown: unknown): Response {
  const error = explainFailure(thrown);
  return textResponse(httpStatus(error), errorText(error), errorHeaders(error));
}

/** The HTTP status of a failure that ends a Git request before the protocol can report it. Git's
 * protocol does not distinguish malformed requests from well-formed but invalid ones. */
function httpStatus(error: unknown): number {
  const status = isGitError(error) ? statusOf(error.code) : 500;
  return status === 422 ? 400 : status;
}

/** Headers for a failure. Git asks its user for a password when the server offers Basic
 * authentication. */
function errorHeaders(error: unknown): Record<string, string> {
  if (!isGitError(error)) return {};
  const { retryAfterMs } = error.data;
  return {
    ...(error.code === "unauthenticated" && { "WWW-Authenticate": 'Basic realm="Holdfast", charset="UTF-8"' }),
    ...(typeof retryAfterMs === "number" && { "Retry-After": String(Math.ceil(retryAfterMs / 1000)) }),
  };
}

/** A plain-text response that is not cached. */
export function textResponse(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(`${text}\n`, {
    status,
    headers: { "Content-Type": "text/plain; charset=utf-8", ...NO_CACHE, ...headers },
  });
}

/** Headers that forbid caching, as git's own HTTP server sends them. @see gitprotocol-http(5) */
export const NO_CACHE: Readonly<Record<string, string>> = {
  Expires: "Fri, 01 Jan 1980 00:00:00 GMT",
  Pragma: "no-cache",
  "Cache-Control": "no-cache, max-age=0, must-revalidate",
};

/** Describes a failure to its client. Details of a server error go to the log only. */
export function errorText(thrown: unknown): string {
  logServerError(thrown);
  const error = explainFailure(thrown);
  return isGitError(error) ? error.message : INTERNAL;
}

/** Logs a failure if the server is at fault. */
export function logServerError(thrown: unknown): void {
  const error = explainFailure(thrown);
  if (httpStatus(error) >= 500) logFailure(error);
}

/** Byte limit of an ERR packet's message, which may quote a whole packet. */
const ERR_BYTES = 1_000;

/** Encodes the refusal of a fetch, whose message git shows: an ERR packet, or the same on band 3.
 * It has no LF, like git's.
 * @param message byte string, truncated to `ERR_BYTES`
 * @see gitprotocol-pack(5), gitprotocol-v2(5) "sideband-all" */
export function encodeErrPkt(message: string, sidebandAll = false): Uint8Array {
  return encodePkt(`${sidebandAll ? String.fromCharCode(ERROR_BAND) : "ERR "}${message.slice(0, ERR_BYTES)}`);
}
