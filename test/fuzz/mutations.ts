/** Ways to make invalid inputs from valid ones. */
import { NULL_HEX } from "../harness/raw-push.ts";
import type { Random } from "../harness/random.ts";

/** Bytes that have a meaning in the formats. */
const TELLING = Buffer.from('\0\n\r \t/<>+-0159afgz"\\[]=*!:.\x7f\x80\xff', "latin1");

/** An object id in hex. */
export function someOid(random: Random): string {
  if (random.below(12) === 0) return NULL_HEX;
  return Buffer.from(random.bytes(20)).toString("hex");
}

/** So many picks, concatenated. */
export function somePicks(random: Random, choices: readonly string[], least: number, most: number): string {
  return Array.from({ length: least + random.below(most - least + 1) }, () => random.pick(choices)).join("");
}

/** The bytes with a few flipped, lost, doubled, inserted or cut off; unchanged one time in four. */
export function damaged(random: Random, bytes: Uint8Array): Buffer {
  let result = Buffer.from(bytes);
  if (random.below(4) === 0) return result;
  for (let count = 1 + random.below(3); count > 0; count--) {
    const at = random.below(result.length + 1);
    const until = Math.min(result.length, at + random.below(random.below(4) === 0 ? 60 : 3));
    const span = result.subarray(at, until);
    const middle = random.pick([
      Buffer.alloc(0),
      Buffer.from([TELLING[random.below(TELLING.length)]!]),
      Buffer.from(random.bytes(span.length)),
      Buffer.concat([span, span]),
      Buffer.concat([span, span, span, span]),
    ]);
    const rest = random.below(12) === 0 ? Buffer.alloc(0) : result.subarray(until);
    result = Buffer.concat([result.subarray(0, at), middle, rest]);
  }
  return result;
}

/** The bytes in pieces, one after the other; null at the end, however often it is called. */
export function inPieces(random: Random, bytes: Uint8Array): () => Promise<Uint8Array | null> {
  const largest = random.pick([1, 3, 100, 100_000]);
  let at = 0;
  return async () => {
    if (at >= bytes.length) return null;
    const piece = bytes.subarray(at, at + 1 + random.below(largest));
    at += piece.length;
    return piece;
  };
}
