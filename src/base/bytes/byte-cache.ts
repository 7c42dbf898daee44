import type { MemoryBudget, Spare } from "../pacing/memory-budget.ts";

interface Entry<Value> {
  readonly value: Value;
  readonly sizeBytes: number;
  /** Whether the entry was added or requested since the last pass. */
  isUsed: boolean;
}

/** A cache limited by a sum of bytes. It evicts by the clock algorithm, an approximation of
 * least-recently-used: the oldest value is dropped, unless it was requested since the last
 * pass, in which case it stays for one more. Requests do not reorder the Map: a Map keeps
 * removed entries until it is rebuilt, and iteration would step over all former places of a
 * popular key. A value above the limit is not cached. */
export class ByteCache<Value> implements Spare {
  readonly #entries = new Map<string, Entry<Value>>();
  /** Continues at its last place. A new iterator would step over all entries removed since the
   * map was last rebuilt. */
  readonly #oldestFirst = this.#entries.entries();
  readonly #limitBytes: number;
  readonly #memory: MemoryBudget | null;
  readonly #onDrop: (value: Value) => void;
  #sizeBytes = 0;

  /** @param memory budget whose unused bytes the cache may take until they are needed; null: the
   *   cache's owner accounts for the bytes
   * @param onDrop receives each value that is evicted */
  constructor(limitBytes: number, memory: MemoryBudget | null = null, onDrop: (value: Value) => void = () => {}) {
    this.#limitBytes = limitBytes;
    this.#memory = memory;
    this.#onDrop = onDrop;
    memory?.keep(this);
  }

  /** Bytes of the cached values. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.isUsed = true;
    return entry.value;
  }

  /** Whether a value is cached. Does not count as a request. */
  has(key: string): boolean {
    return this.#entries.has(key);
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
    this.#entries.set(key, { value, sizeBytes, isUsed: true });
    this.#sizeBytes += sizeBytes;
    this.shrink(limitBytes);
  }

  /** Evicts values until the rest fits. */
  shrink(limitBytes: number): void {
    while (this.#sizeBytes > limitBytes) {
      // There is an entry, since the size is above 0.
      const [oldest, entry] = this.#oldestFirst.next().value!;
      this.#entries.delete(oldest);
      if (entry.isUsed) {
        entry.isUsed = false;
        this.#entries.set(oldest, entry);
        continue;
      }
      this.#sizeBytes -= entry.sizeBytes;
      this.#onDrop(entry.value);
    }
  }
}
