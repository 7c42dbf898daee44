import { GitError } from "../../format/errors.ts";
import { MAX_PLAN_BYTES } from "../../format/limits.ts";

/** Where bytes of a chunk lie: in an R2 object, or in the plan itself while the chunk is hot. */
export type Extent =
  | {
      readonly key: string;
      readonly start: number;
      readonly length: number;
      /** SHA-1 of these bytes, where they are the whole chunk. */
      readonly checksum?: Uint8Array;
    }
  | { readonly bytes: Uint8Array };

/** How a pack is put together from stored bytes. Made where the index is (the Durable Object), carried out where the bytes
 * flow (the Worker); it survives structured cloning. Offsets and lengths are bytes. */
export interface PackPlan {
  /** Objects in the pack, for its header. */
  readonly objectCount: number;
  /** Bytes of all entries, without header and trailer; -1 when undeltified make it unknown. */
  readonly entriesBytes: number;
  readonly extents: Extent[];
  /** Rows of `PIECE_STRIDE`: operation (see `PIECE`), extent, offset in it, length as stored, argument. */
  readonly pieces: Uint32Array;
  /** Packed ids that deltas re-headed as REF_DELTA name. */
  readonly bases: Uint8Array;
  /** Delta chains of the objects below, rows of `CHAIN_STRIDE`: extent, offset in it, length as stored, row of the delta's base
   * or `NO_BASE`. A base precedes its deltas; chains share rows. */
  readonly chains: Uint32Array;
  /** Rows of `chains` sent as whole objects, before all pieces: their delta bases are neither sent nor had, or come later. */
  readonly undeltified: Uint32Array;
}

/** Bytes that a plan takes in memory, the inline chunks included. */
export function planSizeBytes({ extents, pieces, bases, chains, undeltified }: PackPlan): number {
  const inlineBytes = extents.reduce((sum, extent) => sum + ("bytes" in extent ? extent.bytes.length : 0), 0);
  return inlineBytes + [pieces, bases, chains, undeltified].reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** Refuses a plan that cannot be handed from the object to the Worker.
 * @throws GitError "too-large" */
export function checkPlanSize(plan: PackPlan): void {
  const sizeBytes = planSizeBytes(plan);
  if (sizeBytes <= MAX_PLAN_BYTES) return;
  const reason =
    "ask for less at a time: for fewer refs (--single-branch), or for less history (--depth, deepened step by step)";
  throw new GitError("too-large", {
    what: "the plan of this pack (bytes)",
    limit: MAX_PLAN_BYTES,
    actual: sizeBytes,
    reason,
  });
}

/** About how many bytes the pack has: an object that is made whole counts as what its chain of deltas begins with, which is a like object,
 * stored whole. */
export function sentBytes({ pieces, chains, undeltified }: PackPlan): number {
  let bytes = 0;
  for (let at = 3; at < pieces.length; at += PIECE_STRIDE) bytes += pieces[at]!;
  const wholeBytes = new Float64Array(chains.length / CHAIN_STRIDE);
  for (let row = 0; row < wholeBytes.length; row++) {
    const [length, base] = chains.subarray(row * CHAIN_STRIDE + 2);
    wholeBytes[row] = base === NO_BASE ? length! : wholeBytes[base!]!;
  }
  return undeltified.reduce((sum, row) => sum + wholeBytes[row]!, bytes);
}

/** Words of one row of `PackPlan.pieces`. */
export const PIECE_STRIDE = 5;

/** What is done with a piece, and what its argument means. */
export const PIECE = {
  /** Whole entries, sent as they are stored. */
  verbatim: 0,
  /** One delta, sent as OFS_DELTA; argument: distance back to its base in the pack being sent, bytes. */
  ofsDelta: 1,
  /** One delta, sent as REF_DELTA; argument: index of its base's id in `PackPlan.bases`. */
  refDelta: 2,
} as const;

/** Words of one row of `PackPlan.chains`. */
export const CHAIN_STRIDE = 4;

/** In `PackPlan.chains`: the entry is no delta. */
export const NO_BASE = 0xffff_ffff;
