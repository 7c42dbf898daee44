import type { MiddlewareHandler } from "hono";
import { GitError } from "../../../base/format/errors.ts";
import { MAX_JSON_BYTES, MAX_JSON_DEPTH, MAX_PART_BYTES } from "../../../base/format/limits.ts";
import { PacedBody, readRest } from "../../../base/pacing/paced-body.ts";

/** Reads a request's JSON body, if there is one, limited in size and depth before it is parsed. An
 * empty body counts as none, whatever its type: clients declare `Content-Length: 0` for it.
 * @throws GitError "unsupported" for another type, "too-large", "bad-request" when it is nested too
 * deep, truncated or not UTF-8, "timeout" when it arrives too slowly */
export const checkBody: MiddlewareHandler = async (context, next) => {
  const { raw } = context.req;
  if (raw.body === null || raw.method === "GET" || raw.method === "HEAD") return next();
  const declared = Number(raw.headers.get("Content-Length") ?? 0);
  checkSize(declared);
  const text = await readText(raw.body);
  const headers = new Headers(raw.headers);
  // Later handlers read the request again, but its own body is consumed.
  const replace = (body: string | null) =>
    (context.req.raw = new Request(raw.url, { method: raw.method, headers, body }));
  if (text === "") {
    headers.delete("Content-Type");
    replace(null);
    return next();
  }
  const type = headers.get("Content-Type") ?? "none";
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new GitError("unsupported", { what: `a body of type ${type}`, reason: "it must be application/json" });
  }
  checkDepth(text);
  replace(text);
  return next();
};

/** Refuses a body where a route takes none, so that no condition in it is ignored. `{}` is
 * accepted, since clients send it for an empty body. Must follow `checkBody`.
 * @throws GitError "invalid", "bad-request" when it is not JSON */
export const refuseBody: MiddlewareHandler = async ({ req }, next) => {
  if (req.raw.body === null || req.method === "GET" || req.method === "HEAD") return next();
  const value: unknown = await req.json().catch((cause: unknown) => {
    throw new GitError("bad-request", { reason: "the body is not JSON" }, { cause });
  });
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const field = isObject ? Object.keys(value)[0] : "";
  if (field !== undefined)
    throw new GitError("invalid", { what: field.slice(0, 100) || "body", field, reason: "this request takes no body" });
  return next();
};

/** Reads the rest of a body that is not JSON, before the route answers. */
export const endBody: MiddlewareHandler = async (context, next) => {
  await next();
  await readRest(context.req.raw, MAX_PART_BYTES);
};

async function readText(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  let sizeBytes = 0;
  let text = "";
  const paced = new PacedBody(body);
  try {
    for (let piece; (piece = await paced.read()) !== null;) {
      checkSize((sizeBytes += piece.length));
      text += decoder.decode(piece, { stream: true });
    }
    return text + decoder.decode();
  } catch (error) {
    // The rest of the body would keep the connection busy. An error of `cancel` is ignored: the
    // first error is reported.
    paced.cancel().catch(() => undefined);
    if (error instanceof TypeError)
      throw new GitError("bad-request", { reason: "the body is not UTF-8" }, { cause: error });
    throw error;
  }
}

function checkSize(actual: number): void {
  if (actual <= MAX_JSON_BYTES) return;
  const reason = "files that are too large for one body come by a push, an upload or Git LFS";
  throw new GitError("too-large", { what: "the body (bytes)", limit: MAX_JSON_BYTES, actual, reason });
}

/** Refuses deep nesting, which would overflow the stack of a parser or of a recursive walk. */
function checkDepth(text: string): void {
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (isString) {
      if (char === 0x5c) at++;
      else if (char === 0x22) isString = false;
    } else if (char === 0x22) isString = true;
    else if (char === 0x5b || char === 0x7b) {
      if (++depth > MAX_JSON_DEPTH)
        throw new GitError("bad-request", { reason: `JSON is nested deeper than ${MAX_JSON_DEPTH}` });
    } else if (char === 0x5d || char === 0x7d) depth--;
  }
}
