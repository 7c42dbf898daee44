import type { Context } from "hono";
import { checkConditions } from "../../../base/format/conditional-request.ts";

/** Version in every entity tag. Increase it when the shape of an answer changes, so that old tags
 * no longer match. */
const SHAPE = 2;

/** Caching for URLs that contain a whole object id: the answer never changes. */
export const FOR_EVER = "private, max-age=31536000, immutable";

/** Answers with content that the URL and some ids determine, or 304 if the client has it already.
 * @param ids all values that the answer depends on besides the URL
 * @param isImmutable whether the URL itself contains the ids, so that the answer never needs
 * revalidation
 * @see RFC 9110, section 13 */
export async function answerByIds(
  context: Context,
  ids: readonly string[],
  isImmutable: boolean,
  produce: () => Promise<Response> | Response,
): Promise<Response> {
  const etag = `"${SHAPE}-${ids.join("-")}"`;
  const headers = { ETag: etag, "Cache-Control": isImmutable ? FOR_EVER : "private, no-cache" };
  if (checkConditions(context.req.raw.headers, etag) === 304) return new Response(null, { status: 304, headers });
  const response = await produce();
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}

/** Digests an answer that depends on more than ids but is cheap to make. The digest is an id for
 * `answerByIds`. */
export async function digestOf(value: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return new Uint8Array(await crypto.subtle.digest("SHA-1", bytes)).toHex();
}
