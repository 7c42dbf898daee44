/** Reads pieces until there are enough bytes.
 * @param readPiece returns the next piece; null at the end
 * @param minimumBytes fewer are returned only at the end
 * @returns null: there are no more bytes */
export async function readPieces(
  readPiece: () => Promise<Uint8Array | null>,
  minimumBytes: number,
): Promise<Uint8Array | null> {
  const pieces: Uint8Array[] = [];
  for (let bytes = 0; bytes < minimumBytes;) {
    const piece = await readPiece();
    if (piece === null) break;
    pieces.push(piece);
    bytes += piece.length;
  }
  return pieces.length > 1 ? Buffer.concat(pieces) : (pieces[0] ?? null);
}
