import { GitError } from "../format/errors.ts";
import { MAX_PLAN_BYTES } from "../format/limits.ts";
import { chainBase, chainCount, chainLength, NO_BASE, PIECE_STRIDE, pieceLength } from "./plan-rows.ts";

/** Place of a chunk's bytes: in an R2 object, or in the plan itself while the chunk is hot. */
export type Extent =
  | {
      readonly key: string;
      readonly start: number;
      readonly length: number;
      /** SHA-1 of the bytes, if they are the whole chunk. */
      readonly checksum?: Uint8Array;
    }
  | { readonly bytes: Uint8Array };

/** Instructions to build a pack from stored bytes. The Durable Object makes the plan next to the
 * index, the Worker carries it out where the bytes flow. Structured-cloneable. Offsets and
 * lengths are bytes. */
export interface PackPlan {
  /** Objects in the pack, for its header. */
  readonly objectCount: number;
  /** Bytes of all entries, without header and trailer; -1 when undeltified objects make it
   * unknown. */
  readonly entriesBytes: number;
  readonly extents: Extent[];
  /** The pieces to send, in order: rows of `pieceRow`. */
  readonly pieces: Uint32Array;
  /** Packed ids that deltas re-headed as REF_DELTA refer to. */
  readonly bases: Uint8Array;
  /** Delta chains of the objects in `undeltified`: rows of `chainRow`. A base precedes its deltas;
   * chains share rows. */
  readonly chains: Uint32Array;
  /** Rows of `chains` sent as whole objects, before all pieces: the client neither gets nor has
   * their delta bases, or gets them later. */
  readonly undeltified: Uint32Array;
}

/** Bytes of a plan in memory, inline chunks included. */
export function planSizeBytes({ extents, pieces, bases, chains, undeltified }: PackPlan): number {
  const inlineBytes = extents.reduce((sum, extent) => sum + ("bytes" in extent ? extent.bytes.length : 0), 0);
  return inlineBytes + [pieces, bases, chains, undeltified].reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** Refuses a plan that is too large to pass from the object to the Worker.
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

/** Estimates the pack's bytes. An undeltified object counts as the base of its delta chain,
 * which is a similar object, stored whole. */
export function sentBytes({ pieces, chains, undeltified }: PackPlan): number {
  let bytes = 0;
  for (let piece = 0; piece < pieces.length / PIECE_STRIDE; piece++) bytes += pieceLength(pieces, piece);
  const wholeBytes = new Float64Array(chainCount(chains));
  for (let row = 0; row < wholeBytes.length; row++) {
    const base = chainBase(chains, row);
    wholeBytes[row] = base === NO_BASE ? chainLength(chains, row) : wholeBytes[base]!;
  }
  return undeltified.reduce((sum, row) => sum + wholeBytes[row]!, bytes);
}
