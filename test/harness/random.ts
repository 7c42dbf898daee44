/** A seeded source of test data: the same seed gives the same data. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** An integer from 0 to `bound` - 1 (mulberry32). */
  below(bound: number): number {
    return Math.floor((this.#next() / 2 ** 32) * bound);
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  bytes(length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    // Not by `Uint8Array.from`, which takes twenty times as long.
    let state = this.#state;
    for (let i = 0; i < length; i++) {
      state = (state + STEP) >>> 0;
      bytes[i] = mix(state) >>> 24;
    }
    this.#state = state;
    return bytes;
  }

  /** The items in random order. */
  shuffled<T>(items: readonly T[]): T[] {
    const result = [...items];
    for (let i = result.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [result[i], result[j]] = [result[j]!, result[i]!];
    }
    return result;
  }

  /** 32 bits. */
  #next(): number {
    this.#state = (this.#state + STEP) >>> 0;
    return mix(this.#state);
  }
}

const STEP = 0x6d2b79f5;

/** 32 bits of one state. */
function mix(state: number): number {
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return (mixed ^ (mixed >>> 14)) >>> 0;
}
