/** Counts the bytes that a response holds in memory: now, and at most. */
export class HeldBytes {
  #bytes = 0;
  #peakBytes = 0;

  /** The largest sum so far. */
  get peakBytes(): number {
    return this.#peakBytes;
  }

  /** Adds bytes, or with a negative number removes some. */
  add(bytes: number): void {
    this.#bytes += bytes;
    this.#peakBytes = Math.max(this.#peakBytes, this.#bytes);
  }
}

/** Frees the buffer of bytes that nobody refers to any more, at once. Dropped, it would stand until
 * garbage is collected, and V8 lets hundreds of megabytes of buffers pile up before that.
 * @param bytes and all else in their buffer are empty from now on */
export function freeBytes(bytes: Uint8Array): void {
  (bytes.buffer as ArrayBuffer).transfer(0);
}
