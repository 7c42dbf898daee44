import { CR, LF } from "../../base/format/byte-string.ts";
import { isBinary } from "../../base/lines/text-lines.ts";

/** The score of two equal contents. */
export const MAX_SCORE = 60_000;

/** A piece of a content ends after a newline, or after this many bytes. */
const PIECE_BYTES = 64;
/** Hashes of pieces are below this prime. */
const HASH_BOUND = 107_927;
const HASH_FACTOR = 0x61;

/** What a content is made of. */
export interface Fingerprint {
  readonly sizeBytes: number;
  /** The hashes of its pieces, ascending, each once. */
  readonly hashes: Uint32Array;
  /** Bytes of the pieces with each hash. */
  readonly bytes: Uint32Array;
}

/** Makes a content's fingerprint: hashes of its lines, long ones cut up. In a text, CR LF counts as
 * LF. Bytes after the last newline or full piece are left out.
 * @see git's diffcore-delta.c: hash_chars() */
export function takeFingerprint(content: Uint8Array): Fingerprint {
  const bytesOf = new Map<number, number>();
  const ignoresCr = !isBinary(content);
  let low = 0;
  let high = 0;
  let pieceBytes = 0;
  for (let at = 0; at < content.length; at++) {
    const byte = content[at]!;
    if (byte === CR && ignoresCr && content[at + 1] === LF) continue;
    const lowBefore = low;
    low = (((low << 7) ^ (high >>> 25)) + byte) | 0;
    high = (high << 7) ^ (lowBefore >>> 25);
    if (++pieceBytes < PIECE_BYTES && byte !== LF) continue;
    const hash = ((low + Math.imul(high, HASH_FACTOR)) >>> 0) % HASH_BOUND;
    bytesOf.set(hash, (bytesOf.get(hash) ?? 0) + pieceBytes);
    low = high = pieceBytes = 0;
  }
  const hashes = Uint32Array.from(bytesOf.keys()).sort();
  return { sizeBytes: content.length, hashes, bytes: hashes.map((hash) => bytesOf.get(hash)!) };
}

/** Whether two sizes allow a score at all. If not, the contents need not be read. */
export function mayBeSimilar(oldSizeBytes: number, nextSizeBytes: number, minimumScore: number): boolean {
  const larger = Math.max(oldSizeBytes, nextSizeBytes);
  const difference = Math.abs(oldSizeBytes - nextSizeBytes);
  return larger * (MAX_SCORE - minimumScore) >= difference * MAX_SCORE;
}

/** How similar two contents are: the bytes of the pieces they share relative to the larger size, in
 * parts of `MAX_SCORE`.
 * @see git's diffcore-rename.c: estimate_similarity() */
export function scoreSimilarity(old: Fingerprint, next: Fingerprint): number {
  if (next.sizeBytes === 0) return 0;
  let shared = 0;
  for (let i = 0, j = 0; i < old.hashes.length && j < next.hashes.length;) {
    const difference = old.hashes[i]! - next.hashes[j]!;
    if (difference === 0) shared += Math.min(old.bytes[i++]!, next.bytes[j++]!);
    else if (difference < 0) i++;
    else j++;
  }
  return Math.floor((shared * MAX_SCORE) / Math.max(old.sizeBytes, next.sizeBytes));
}
