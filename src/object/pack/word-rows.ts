/** Growing rows of 32-bit words. */
export class WordRows {
  #words = new Uint32Array(64);
  #length = 0;

  /** Words written so far. */
  get length(): number {
    return this.#length;
  }

  /** Appends a row; each word is an integer below 2^32. */
  push(words: readonly number[]): void {
    if (this.#length + words.length > this.#words.length) {
      const grown = new Uint32Array(this.#words.length * 2);
      grown.set(this.#words);
      this.#words = grown;
    }
    for (const word of words) this.#words[this.#length++] = word;
  }

  /** The rows, copied to their exact length. */
  toArray(): Uint32Array {
    return this.#words.slice(0, this.#length);
  }
}
