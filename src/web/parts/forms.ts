import { checkLimit } from "../../format/limits.ts";
import { GitError } from "../../format/errors.ts";
import { PacedBody } from "../../repository/pacing/paced-body.ts";

/** Refuses a request that another site may have made a browser send. A form of ours is sent with
 * `Sec-Fetch-Site: same-origin`; a browser that does not know this header, or that asks over plain
 * http, sends our own origin.
 * @throws GitError "forbidden"
 * @see https://www.w3.org/TR/fetch-metadata/ */
export function refuseCrossSite({ url, headers }: Request): void {
  const site = headers.get("Sec-Fetch-Site");
  const isOurs = site === null ? headers.get("Origin") === new URL(url).origin : site === "same-origin";
  if (!isOurs) throw new GitError("forbidden", { what: "a form of another site" });
}

/** Reads a form's fields, limited in size before they are parsed. Files are not supported here.
 * @param maxBytes of the body
 * @throws GitError "too-large", "unsupported", "timeout" when it arrives too slowly */
export async function readForm(request: Request, maxBytes: number): Promise<URLSearchParams> {
  const type = request.headers.get("Content-Type") ?? "none";
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type))
    throw new GitError("unsupported", { what: `a form of type ${type}` });
  checkLimit("the form (bytes)", maxBytes, Number(request.headers.get("Content-Length") ?? 0));
  if (request.body === null) return new URLSearchParams();
  const decoder = new TextDecoder();
  const paced = new PacedBody(request.body);
  let sizeBytes = 0;
  let text = "";
  try {
    for (let piece; (piece = await paced.read()) !== null;) {
      checkLimit("the form (bytes)", maxBytes, (sizeBytes += piece.length));
      text += decoder.decode(piece, { stream: true });
    }
  } catch (error) {
    paced.cancel().catch(() => undefined);
    throw error;
  }
  return new URLSearchParams(text + decoder.decode());
}
