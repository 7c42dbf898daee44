import { GitError } from "../format/errors.ts";
import { checkLimit } from "../format/limits.ts";
import { ByteReader } from "../format/pkt-line.ts";
import { GzipBody } from "./gzip-body.ts";
import { PacedBody } from "../pacing/paced-body.ts";

/** A request's body. */
export class RequestBody extends ByteReader {
  /** Returns the number of bytes, before decoding, that must arrive in each `BODY_WAIT_MS` of
   * waiting. Called at the end of each such period. */
  minBytes: () => number = () => 0;
}

/** Opens the body of an RPC request, decoding `Content-Encoding: gzip`.
 * @param limitBytes limit for the decoded body, bytes
 * @returns a reader whose reads throw GitError "bad-request" when the body or its encoding is
 * broken or truncated, "too-large" above the limit, "timeout" when the client is too slow
 * @throws GitError "unsupported" for any other content encoding */
export function openRequestBody(request: Request, limitBytes: number): RequestBody {
  const encoding = request.headers.get("Content-Encoding")?.trim().toLowerCase() ?? "identity";
  const gzipped = encoding === "gzip" || encoding === "x-gzip";
  if (!gzipped && encoding !== "identity")
    throw new GitError("unsupported", { what: `content encoding '${encoding}'` });
  if (request.body === null) return new RequestBody(() => Promise.resolve(null));
  const paced = new PacedBody(request.body, () => opened.minBytes());
  const body = gzipped ? new GzipBody(paced) : paced;
  let totalBytes = 0;
  const opened = new RequestBody(async () => {
    const piece = await body.read();
    totalBytes += piece?.length ?? 0;
    checkLimit("the request", limitBytes, totalBytes);
    return piece;
  });
  return opened;
}
