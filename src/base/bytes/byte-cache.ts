import type { MemoryBudget, Spare } from "../pacing/memory-budget.ts";

interface Entry<Value> {
  readonly value: Value;
  readonly sizeBytes: number;
  /** Whether it came, or was asked for, since it was last passed over. */
  isUsed: boolean;
}

/** A cache limited by a sum of bytes, which keeps what was used lately, about as a
 * least-recently-used cache does: the oldest value is dropped, but one that was asked for is passed
 * over once (the clock algorithm). It is not moved whenever it is asked for: a Map keeps removed
 * entries until it is rebuilt, and would step over all former places of a popular key each time. A
 * value that does not fit is not kept. */
export class ByteCache<Value> implements Spare {
  readonly #entries = new Map<string, Entry<Value>>();
  /** Continues where it was. A new iterator would step over all entries removed since the map was
   * last rebuilt. */
  readonly #oldestFirst = this.#entries.entries();
  readonly #limitBytes: number;
  readonly #memory: MemoryBudget | null;
  readonly #onDrop: (value: Value) => void;
  #sizeBytes = 0;

  /** @param memory the budget whose unused bytes it may take, until they are needed; without it,
   * its owner accounts for the bytes
   * @param onDrop receives each value that makes room for others */
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

  /** Whether a value is cached. It does not count as asked for. */
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

  /** Drops values until the rest fits. */
  shrink(limitBytes: number): void {
    while (this.#sizeBytes > limitBytes) {
      // There is one, since the size is above 0.
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
