/** Counts the bytes that a response keeps in memory: those it holds now, and the most that it ever held. */
export class HeldBytes {
  #bytes = 0;
  #peakBytes = 0;

  /** The largest sum so far. */
  get peakBytes(): number {
    return this.#peakBytes;
  }

  /** Takes more, or with a negative number gives some back. */
  add(bytes: number): void {
    this.#bytes += bytes;
    this.#peakBytes = Math.max(this.#peakBytes, this.#bytes);
  }
}
