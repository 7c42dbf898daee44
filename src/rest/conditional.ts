import type { Context } from "hono";
import { checkConditions } from "../format/conditional-request.ts";

/** Changes with the shape of what is answered: an entity tag of before names another representation. */
const SHAPE = 1;

/** How long what a URL with a whole id in it answers may be kept: for ever. */
export const FOR_EVER = "private, max-age=31536000, immutable";

/** Answers with what the URL and some ids determine, unless the client says that it has it already.
 * @param ids all that it depends on besides the URL
 * @param isImmutable whether the URL itself names the ids, so that the answer is kept without asking again
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

/** Stands for what is answered where that depends on more than some ids: the id of `answerByIds` for what is cheap to make. */
export async function digestOf(value: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return new Uint8Array(await crypto.subtle.digest("SHA-1", bytes)).toHex();
}
