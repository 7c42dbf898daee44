/** Growing rows of 32-bit words. */
export class WordRows {
  #words = new Uint32Array(64);
  #length = 0;

  /** Words written so far. */
  get length(): number {
    return this.#length;
  }

  /** Appends words; each is an integer below 2^32. */
  push(...words: number[]): void {
    if (this.#length + words.length > this.#words.length) {
      const grown = new Uint32Array(this.#words.length * 2);
      grown.set(this.#words);
      this.#words = grown;
    }
    for (const word of words) this.#words[this.#length++] = word;
  }

  /** The word at `index` (negative: from the end), 0 beyond the rows. */
  at(index: number): number {
    return this.#words[index < 0 ? this.#length + index : index] ?? 0;
  }

  /** Adds to the word at `index` (negative: from the end). */
  add(index: number, amount: number): void {
    const at = index < 0 ? this.#length + index : index;
    this.#words[at] = this.at(at) + amount;
  }

  /** The rows, copied to their exact length. */
  toArray(): Uint32Array {
    return this.#words.slice(0, this.#length);
  }
}
