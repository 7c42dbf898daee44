import { pipeline, Readable } from "node:stream";
import { createGunzip, type Gunzip } from "node:zlib";
import { GitError, isGitError } from "../format/errors.ts";
import { GZIP_FLOOR_BYTES, MAX_GZIP_RATIO } from "../format/limits.ts";
import type { PacedBody } from "../repository/pacing/paced-body.ts";

/** Decodes a body with `Content-Encoding: gzip` as it arrives. Not through DecompressionStream: that inflates all it is given,
 * whether anybody reads it or not. */
export class GzipBody {
  readonly #gunzip: Gunzip;
  readonly #decoded: AsyncIterator<Uint8Array>;
  #decodedBytes = 0;

  constructor(source: PacedBody) {
    this.#gunzip = createGunzip();
    this.#decoded = this.#gunzip[Symbol.asyncIterator]();
    // What breaks the pipeline is thrown to the reader.
    pipeline(Readable.from(pieces(source)), this.#gunzip, () => undefined);
  }

  /** Reads on, more than `GZIP_FLOOR_BYTES` at once unless the body ends: a bomb shows before anything is made of it.
   * @returns at least 1 decoded byte, or null at the end
   * @throws GitError "bad-request" when the encoding is broken or cut, "too-large" when it inflates more than any honest request,
   * and what the source threw */
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
