import { pipeline, Readable } from "node:stream";
import { createDeflateRaw, createGzip } from "node:zlib";

/** Bytes produced at a time. */
const PIECE_BYTES = 64 * 1024;

const MAKERS = { gzip: createGzip, "deflate-raw": createDeflateRaw };

/** Compresses pieces on demand. CompressionStream would accept all its input and buffer what nobody
 * takes.
 * @throws whatever reading the pieces throws */
export function compressedPieces(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  format: keyof typeof MAKERS,
): AsyncIterable<Uint8Array> {
  const compressor = MAKERS[format]({ chunkSize: PIECE_BYTES });
  // A failure surfaces where the pieces are consumed. When the consumer stops, the source ends.
  pipeline(Readable.from(pieces), compressor, () => undefined);
  return compressor;
}
