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
