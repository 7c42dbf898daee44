/** Least recently used values up to a sum of bytes. A value that would not fit is not kept. */
export class ByteCache<Value> {
  readonly #entries = new Map<string, { value: Value; sizeBytes: number }>();
  /** Goes on where it was: one made anew would step over all that has been removed since the map was last rebuilt. */
  readonly #oldestFirst = this.#entries.entries();
  readonly #limitBytes: number;
  #sizeBytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Bytes of the values kept. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#sizeBytes -= entry.sizeBytes;
  }

  set(key: string, value: Value, sizeBytes: number): void {
    if (sizeBytes > this.#limitBytes || this.#entries.has(key)) return;
    this.#entries.set(key, { value, sizeBytes });
    this.#sizeBytes += sizeBytes;
    while (this.#sizeBytes > this.#limitBytes) {
      // There is one: the newest alone would fit.
      const [oldest, entry] = this.#oldestFirst.next().value!;
      this.#entries.delete(oldest);
      this.#sizeBytes -= entry.sizeBytes;
    }
  }
}
