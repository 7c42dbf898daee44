/** A bounded cache of values that expire: the oldest entry goes first. */
export class ExpiringMap<Value> {
  readonly #maxEntries: number;
  readonly #entries = new Map<string, { readonly value: Value; readonly untilMs: number }>();

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  /** Looks up a value; undefined: there is none, or it has expired. */
  get(key: string, nowMs: number): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.untilMs > nowMs) return entry?.value;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, value: Value, untilMs: number): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, untilMs });
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxEntries) break;
      this.#entries.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  deleteWhere(test: (value: Value) => boolean): void {
    for (const [key, { value }] of this.#entries) if (test(value)) this.#entries.delete(key);
  }
}
