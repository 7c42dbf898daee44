// The rows of a plan. They are 32-bit words, which pass unchanged from the object to the Worker. A
// length can exceed 32 bits, since an entry can be that large; this file splits it into two halves.

/** Words of one row of `PackPlan.pieces`. */
export const PIECE_STRIDE = 5;

/** The operation on a piece, and the meaning of its argument. */
export const PIECE = {
  /** Whole entries, sent as stored. */
  verbatim: 0,
  /** One delta, sent as OFS_DELTA; argument: distance back to its base in the pack being sent,
   * bytes. */
  ofsDelta: 1,
  /** One delta, sent as REF_DELTA; argument: index of its base's id in `PackPlan.bases`. */
  refDelta: 2,
} as const;

/** Bits of the operation in its word. The bits above hold the upper half of the piece's length:
 * a word of its own would be a sixth of the largest plans. */
const OPERATION_BITS = 2;
const OPERATION_MASK = 2 ** OPERATION_BITS - 1;

/** Words of one row of `PackPlan.chains`. */
export const CHAIN_STRIDE = 5;

/** Value of `chainBase` for an entry that is not a delta. */
export const NO_BASE = 0xffff_ffff;

const WORD = 2 ** 32;

/** A piece's row: operation, extent, offset in it, length as stored, argument. */
export function pieceRow(
  operation: number,
  extent: number,
  offset: number,
  length: number,
  argument: number,
): [number, number, number, number, number] {
  const high = Math.floor(length / WORD);
  return [high * 2 ** OPERATION_BITS + operation, extent, offset, length % WORD, argument];
}

/** An array of the rows of pieces, one after another. */
type Rows = ArrayLike<number>;

/** One of `PIECE`. */
export function pieceOperation(pieces: Rows, piece: number): number {
  return pieces[piece * PIECE_STRIDE]! & OPERATION_MASK;
}

export function pieceExtent(pieces: Rows, piece: number): number {
  return pieces[piece * PIECE_STRIDE + 1]!;
}

export function pieceOffset(pieces: Rows, piece: number): number {
  return pieces[piece * PIECE_STRIDE + 2]!;
}

/** Stored length in bytes. */
export function pieceLength(pieces: Rows, piece: number): number {
  const at = piece * PIECE_STRIDE;
  return (pieces[at]! >>> OPERATION_BITS) * WORD + pieces[at + 3]!;
}

export function pieceArgument(pieces: Rows, piece: number): number {
  return pieces[piece * PIECE_STRIDE + 4]!;
}

/** The row of an entry in a delta chain: extent, offset in it, length as stored (low and high
 * word), row of the delta's base or `NO_BASE`. */
export function chainRow(
  extent: number,
  offset: number,
  length: number,
  base: number,
): [number, number, number, number, number] {
  return [extent, offset, length % WORD, Math.floor(length / WORD), base];
}

export function chainExtent(chains: Rows, row: number): number {
  return chains[row * CHAIN_STRIDE]!;
}

export function chainOffset(chains: Rows, row: number): number {
  return chains[row * CHAIN_STRIDE + 1]!;
}

/** Stored length in bytes. */
export function chainLength(chains: Rows, row: number): number {
  const at = row * CHAIN_STRIDE;
  return chains[at + 3]! * WORD + chains[at + 2]!;
}

/** Row of the entry's delta base, or `NO_BASE`. */
export function chainBase(chains: Rows, row: number): number {
  return chains[row * CHAIN_STRIDE + 4]!;
}

/** Number of rows. */
export function chainCount(chains: Rows): number {
  return chains.length / CHAIN_STRIDE;
}

/** Changes the place of an entry. */
export function moveChainRow(chains: Uint32Array, row: number, extent: number, offset: number): void {
  chains[row * CHAIN_STRIDE] = extent;
  chains[row * CHAIN_STRIDE + 1] = offset;
}
