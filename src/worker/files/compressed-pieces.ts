import { pipeline, Readable } from "node:stream";
import { constants, createDeflateRaw, createGzip } from "node:zlib";

/** Bytes produced at a time. */
const PIECE_BYTES = 64 * 1024;

const MAKERS = { gzip: createGzip, "deflate-raw": createDeflateRaw };

/** After this many input bytes, the output so far is flushed. A client that has gone is noticed
 * only when a write fails, and highly compressible input would produce no output for long. */
const FLUSH_BYTES = 4 * 1024 * 1024;

/** Pieces read ahead: each may have a megabyte. */
const PIECES_AHEAD = 1;

/** Compresses pieces on demand. CompressionStream would accept all its input and buffer what nobody
 * takes.
 * @throws whatever reading the pieces throws */
export function compressedPieces(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  format: keyof typeof MAKERS,
): AsyncIterable<Uint8Array> {
  const compressor = MAKERS[format]({ chunkSize: PIECE_BYTES });
  const copies = async function* (): AsyncGenerator<Uint8Array, void, void> {
    let unflushedBytes = 0;
    for await (const piece of pieces) {
      // A piece is valid only until the next one is requested.
      yield piece.slice();
      unflushedBytes += piece.length;
      if (unflushedBytes < FLUSH_BYTES) continue;
      unflushedBytes = 0;
      compressor.flush(constants.Z_SYNC_FLUSH);
    }
  };
  // A failure surfaces where the pieces are consumed. When the consumer stops, the source ends.
  pipeline(Readable.from(copies(), { highWaterMark: PIECES_AHEAD }), compressor, () => undefined);
  return compressor;
}
