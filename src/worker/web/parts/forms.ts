import { checkLimit } from "../../../base/format/limits.ts";
import { GitError } from "../../../base/format/errors.ts";
import { PacedBody } from "../../../base/pacing/paced-body.ts";

/** Bytes of a form over its limit that are still read, and dropped: a browser shows the answer only
 * after it has sent everything. */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024;

/** Refuses a request that another site may have made a browser send. Our own forms are sent with
 * `Sec-Fetch-Site: same-origin`; a browser without this header, or over plain http, sends our own
 * origin.
 * @throws GitError "forbidden"
 * @see https://www.w3.org/TR/fetch-metadata/ */
export function refuseCrossSite({ url, headers }: Request): void {
  const site = headers.get("Sec-Fetch-Site");
  const isOurs = site === null ? headers.get("Origin") === new URL(url).origin : site === "same-origin";
  if (!isOurs) throw new GitError("forbidden", { what: "a form of another site" });
}

/** Reads a form's fields, limited in size while they arrive.
 * @param maxBytes of the body
 * @throws GitError "too-large", "unsupported", "timeout" when it arrives too slowly */
export async function readForm(request: Request, maxBytes: number): Promise<URLSearchParams> {
  demandType(request, /^application\/x-www-form-urlencoded\s*(;|$)/i);
  return new URLSearchParams(new TextDecoder().decode(await readBody(request, maxBytes)));
}

/** Reads a form's fields and files, as `readForm`, for a form whose `enctype` is
 * `multipart/form-data`, where text is not percent-encoded.
 * @throws GitError also "bad-request" */
export async function readLargeForm(request: Request, maxBytes: number): Promise<FormData> {
  const type = demandType(request, /^multipart\/form-data\s*;/i);
  const body = await readBody(request, maxBytes);
  try {
    return await new Response(body, { headers: { "Content-Type": type } }).formData();
  } catch (cause) {
    throw new GitError("bad-request", { reason: "the form cannot be read" }, { cause });
  }
}

/** Reads a text of a form; "": the field is missing, or is a file. */
export function textOf(form: FormData | URLSearchParams, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
}

/** Checks the type of a form's body, and returns it.
 * @throws GitError "unsupported" for another type */
function demandType({ headers }: Request, wanted: RegExp): string {
  const type = headers.get("Content-Type") ?? "none";
  if (!wanted.test(type)) throw new GitError("unsupported", { what: `a form of type ${type}` });
  return type;
}

async function readBody(request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const what = "the form (bytes)";
  checkLimit(what, MAX_DRAINED_BYTES, Number(request.headers.get("Content-Length") ?? 0));
  if (request.body === null) return new Uint8Array(0);
  const paced = new PacedBody(request.body);
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  try {
    for (let piece; (piece = await paced.read()) !== null;) {
      checkLimit(what, MAX_DRAINED_BYTES, (sizeBytes += piece.length));
      if (sizeBytes <= maxBytes) pieces.push(piece);
      else pieces.length = 0;
    }
  } catch (error) {
    paced.cancel().catch(() => undefined);
    throw error;
  }
  checkLimit(what, maxBytes, sizeBytes);
  const body = new Uint8Array(sizeBytes);
  let at = 0;
  for (const piece of pieces) {
    body.set(piece, at);
    at += piece.length;
  }
  return body;
}
