import { pipeline, Readable } from "node:stream";
import { createDeflateRaw, createGzip } from "node:zlib";

/** Bytes that are made at a time. */
const PIECE_BYTES = 64 * 1024;

const MAKERS = { gzip: createGzip, "deflate-raw": createDeflateRaw };

/** Compresses pieces as what is made of them is taken. Not by CompressionStream: that takes all that it is given, and keeps what nobody takes.
 * @throws what reading the pieces does */
export function compressedPieces(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  format: keyof typeof MAKERS,
): AsyncIterable<Uint8Array> {
  const compressor = MAKERS[format]({ chunkSize: PIECE_BYTES });
  // A failure comes out where the pieces are taken; whoever stops taking ends the source.
  pipeline(Readable.from(pieces), compressor, () => undefined);
  return compressor;
}
