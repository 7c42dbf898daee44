import { pipeline, Readable } from "node:stream";
import { GitError, isGitError } from "../format/errors.ts";
import { checkLimit, GZIP_FLOOR_BYTES, MAX_GZIP_RATIO } from "../format/limits.ts";
import { createGunzip, type Gunzip } from "node:zlib";
import { ByteReader } from "../format/pkt-line.ts";
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

/** Decodes a body with `Content-Encoding: gzip` as it arrives. DecompressionStream is
 * unsuitable: it inflates all its input, whether or not the output is read. */
class GzipBody {
  readonly #gunzip: Gunzip;
  readonly #decoded: AsyncIterator<Uint8Array>;
  #decodedBytes = 0;

  constructor(source: PacedBody) {
    this.#gunzip = createGunzip();
    this.#decoded = this.#gunzip[Symbol.asyncIterator]();
    // Ignores the pipeline's errors here: they reach the reader, which throws them.
    pipeline(Readable.from(pieces(source)), this.#gunzip, () => undefined);
  }

  /** Reads more than `GZIP_FLOOR_BYTES` at once unless the body ends, so that a decompression bomb
   * is detected before its bytes are used.
   * @returns at least 1 decoded byte, or null at the end
   * @throws GitError "bad-request" when the encoding is broken or truncated, "too-large" when
   *   the compression ratio exceeds that of any honest request; and errors of the source */
  async read(): Promise<Uint8Array | null> {
    const gathered: Uint8Array[] = [];
    for (let bytes = 0; bytes <= GZIP_FLOOR_BYTES;) {
      const piece = await this.#readPiece();
      if (piece === null) break;
      gathered.push(piece);
      bytes += piece.length;
    }
    return gathered.length === 0 ? null : Buffer.concat(gathered);
  }

  async #readPiece(): Promise<Uint8Array | null> {
    let next: IteratorResult<Uint8Array>;
    try {
      next = await this.#decoded.next();
    } catch (cause) {
      throw isGitError(cause) ? cause : new GitError("bad-request", { reason: "the gzip body is broken" }, { cause });
    }
    if (next.done === true) return null;
    this.#decodedBytes += next.value.length;
    if (this.#decodedBytes > Math.max(GZIP_FLOOR_BYTES, MAX_GZIP_RATIO * this.#gunzip.bytesWritten)) {
      throw new GitError("too-large", { what: "the gzip body's ratio", limit: MAX_GZIP_RATIO });
    }
    return next.value;
  }
}

async function* pieces(source: PacedBody): AsyncGenerator<Uint8Array, void, void> {
  for (let piece; (piece = await source.read()) !== null;) yield piece;
}
