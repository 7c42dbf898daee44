import type { MemoryBudget, Spare } from "../pacing/memory-budget.ts";

/** Least recently used values up to a sum of bytes. A value that would not fit is not kept. */
export class ByteCache<Value> implements Spare {
  readonly #entries = new Map<string, { value: Value; sizeBytes: number }>();
  /** Goes on where it was: one made anew would step over all that has been removed since the map was last rebuilt. */
  readonly #oldestFirst = this.#entries.entries();
  readonly #limitBytes: number;
  readonly #memory: MemoryBudget | null;
  #sizeBytes = 0;

  /** @param memory whose room it takes, for as long as nobody needs it; without it, it is part of
   * what its owner takes */
  constructor(limitBytes: number, memory: MemoryBudget | null = null) {
    this.#limitBytes = limitBytes;
    this.#memory = memory;
    memory?.keep(this);
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
    const limitBytes = Math.min(this.#limitBytes, this.#sizeBytes + (this.#memory?.freeBytes ?? Infinity));
    if (sizeBytes > limitBytes || this.#entries.has(key)) return;
    this.#entries.set(key, { value, sizeBytes });
    this.#sizeBytes += sizeBytes;
    this.shrink(limitBytes);
  }

  /** Drops the values that were not used for longest until what is left fits. */
  shrink(limitBytes: number): void {
    while (this.#sizeBytes > limitBytes) {
      // There is one: without any, nothing is kept.
      const [oldest, entry] = this.#oldestFirst.next().value!;
      this.#entries.delete(oldest);
      this.#sizeBytes -= entry.sizeBytes;
    }
  }
}
