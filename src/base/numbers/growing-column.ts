/** A column of unsigned 32-bit integers whose length is not known in advance. */
export class GrowingColumn {
  #values = new Uint32Array(0);
  #length = 0;

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const grown = new Uint32Array(Math.max(64, this.#length * 2));
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.#length++] = value;
  }

  /** Returns all values. No value may follow. */
  finish(): Uint32Array<ArrayBuffer> {
    return this.#values.subarray(0, this.#length);
  }
}
