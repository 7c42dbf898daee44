import { freeBytes } from "../../base/bytes/held-bytes.ts";

/** The most bytes of the pack kept in memory, for deltas that refer back to them. */
const RESIDENT_BYTES = 24 * 1024 * 1024;

/** Bytes of the pack that are in memory. */
interface Piece {
  readonly packOffset: number;
  readonly bytes: Uint8Array;
  /** Until when others refer to them; null: for good. */
  readonly unused: Promise<void> | null;
}

/** Pieces of a pack that stay in memory after they were written, the newest, for deltas whose bases
 * are in them. */
export class ResidentPieces {
  readonly #pieces: Piece[] = [];
  #sizeBytes = 0;
  #limitBytes = RESIDENT_BYTES;

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Keeps fewer bytes from now on. The newest piece always stays. */
  limit(limitBytes: number): void {
    this.#limitBytes = Math.min(limitBytes, RESIDENT_BYTES);
    this.#drop();
  }

  clear(): void {
    for (const piece of this.#pieces) free(piece);
    this.#pieces.length = 0;
    this.#sizeBytes = 0;
  }

  /** @param unused fulfilled when nobody else refers to the bytes any more; null: that is never.
   * Then they are freed when they are dropped */
  keep(packOffset: number, bytes: Uint8Array, unused: Promise<void> | null): void {
    this.#pieces.push({ packOffset, bytes, unused });
    this.#sizeBytes += bytes.buffer.byteLength;
    this.#drop();
  }

  /** Copies bytes of the pack from `offset` into `out`, as far as one piece has them.
   * @returns how many; 0: no piece begins before it and reaches it */
  read(offset: number, out: Uint8Array): number {
    // Newest first: a piece loaded for this very request may overlap an older one that ends too
    // early.
    const held = this.#pieces.findLast(
      ({ packOffset, bytes }) => offset >= packOffset && offset < packOffset + bytes.length,
    );
    if (held === undefined) return 0;
    const from = offset - held.packOffset;
    const length = Math.min(out.length, held.bytes.length - from);
    out.set(held.bytes.subarray(from, from + length));
    return length;
  }

  #drop(): void {
    while (this.#sizeBytes > this.#limitBytes && this.#pieces.length > 1) {
      const piece = this.#pieces.shift()!;
      this.#sizeBytes -= piece.bytes.buffer.byteLength;
      free(piece);
    }
  }
}

function free({ bytes, unused }: Piece): void {
  void unused?.then(() => freeBytes(bytes));
}
