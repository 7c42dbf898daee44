/** A part of a delta's result: a range of its base, or new bytes. */
export type DeltaPiece = { readonly from: number; readonly to: number } | Uint8Array;

/** Limit of the bytes that one instruction copies: its size has 24 bits. */
const MAX_COPY_BYTES = 0xff_ffff;

/** Limit of the bytes that one instruction inserts. */
const MAX_INSERT_BYTES = 0x7f;

/** Encodes a delta.
 * @param baseBytes length of the base, below 2^32
 * @param pieces the parts of the result, in order
 * @see gitformat-pack(5) "Deltified representation" */
export function encodeDelta(baseBytes: number, pieces: readonly DeltaPiece[]): Uint8Array {
  const resultBytes = pieces.reduce((sum, piece) => sum + lengthOf(piece), 0);
  const delta: number[] = [];
  writeSize(delta, baseBytes);
  writeSize(delta, resultBytes);
  for (const piece of pieces) {
    if (piece instanceof Uint8Array) writeInserts(delta, piece);
    else writeCopies(delta, piece.from, piece.to);
  }
  return Uint8Array.from(delta);
}

/** Builds the result of a delta's pieces. */
export function joinPieces(base: Uint8Array, pieces: readonly DeltaPiece[]): Uint8Array {
  const result = new Uint8Array(pieces.reduce((sum, piece) => sum + lengthOf(piece), 0));
  let at = 0;
  for (const piece of pieces) {
    result.set(piece instanceof Uint8Array ? piece : base.subarray(piece.from, piece.to), at);
    at += lengthOf(piece);
  }
  return result;
}

function lengthOf(piece: DeltaPiece): number {
  return piece instanceof Uint8Array ? piece.length : piece.to - piece.from;
}

function writeSize(delta: number[], sizeBytes: number): void {
  let rest = sizeBytes;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) delta.push((rest % 0x80) | 0x80);
  delta.push(rest);
}

function writeInserts(delta: number[], bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at += MAX_INSERT_BYTES) {
    const part = bytes.subarray(at, at + MAX_INSERT_BYTES);
    delta.push(part.length);
    for (const byte of part) delta.push(byte);
  }
}

function writeCopies(delta: number[], from: number, to: number): void {
  for (let at = from; at < to; at += MAX_COPY_BYTES) {
    const opcode = delta.push(0x80) - 1;
    writeNonZero(delta, opcode, 0, 4, at);
    writeNonZero(delta, opcode, 4, 3, Math.min(MAX_COPY_BYTES, to - at));
  }
}

/** Writes the non-zero bytes of a number, lowest first, and sets the opcode's bit for each. */
function writeNonZero(delta: number[], opcode: number, firstBit: number, count: number, number: number): void {
  for (let i = 0; i < count; i++) {
    const byte = (number >>> (8 * i)) & 0xff;
    if (byte === 0) continue;
    delta.push(byte);
    delta[opcode]! |= 1 << (firstBit + i);
  }
}
