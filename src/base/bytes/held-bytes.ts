/** Counts the bytes that a response holds in memory: the current sum and the peak. */
export class HeldBytes {
  #bytes = 0;
  #peakBytes = 0;

  /** Peak of the sum. */
  get peakBytes(): number {
    return this.#peakBytes;
  }

  /** Adds bytes; a negative number subtracts. */
  add(bytes: number): void {
    this.#bytes += bytes;
    this.#peakBytes = Math.max(this.#peakBytes, this.#bytes);
  }
}

/** Frees an unused buffer at once. If it were only dropped, V8 could let hundreds of megabytes of
 * buffers pile up before a garbage collection.
 * @param bytes become empty, with everything else in their buffer */
export function freeBytes(bytes: Uint8Array): void {
  (bytes.buffer as ArrayBuffer).transfer(0);
}
