import type { Column } from "../format/kinds.ts";

/** A set of small integers, one bit each: 12.5 KB per 100,000. */
export class Bitset<N extends number = number> {
  /** Exclusive upper bound of the members. */
  readonly length: number;
  readonly #words: Uint32Array;

  constructor(length: number) {
    this.length = length;
    this.#words = new Uint32Array((length + 31) >>> 5);
  }

  /** Whether `i` is a member; false beyond the length. */
  has(i: N): boolean {
    return i < this.length && ((this.#words[i >>> 5]! >>> (i & 31)) & 1) === 1;
  }

  /** Adds `i`.
   * @throws RangeError when `i` is negative or not below the length: losing a bit would lose an
   * object */
  add(i: N): void {
    if (i < 0 || i >= this.length) throw new RangeError(`${i} is beyond a bitset of ${this.length}`);
    this.#words[i >>> 5]! |= 1 << (i & 31);
  }

  /** Adds `start` to `end - 1`.
   * @throws RangeError when `end` is beyond the length */
  addRange(start: number, end: number): void {
    if (end > this.length) throw new RangeError(`${end} is beyond a bitset of ${this.length}`);
    const firstWord = (start + 31) >>> 5;
    const lastWord = end >>> 5;
    if (firstWord >= lastWord) {
      for (let i = start; i < end; i++) this.add(i as N);
      return;
    }
    for (let i = start; i < firstWord * 32; i++) this.add(i as N);
    this.#words.fill(0xffffffff, firstWord, lastWord);
    for (let i = lastWord * 32; i < end; i++) this.add(i as N);
  }

  /** Copies the set. */
  clone(): Bitset<N> {
    const copy = new Bitset<N>(this.length);
    copy.#words.set(this.#words);
    return copy;
  }

  /** Adds the members of `other`, which must not be longer. */
  addAll(other: Bitset<N>): void {
    for (let w = 0; w < other.#words.length; w++) this.#words[w]! |= other.#words[w]!;
  }

  /** Makes the set of members that are not in `other`; as long as this set. */
  difference(other: Bitset<N>): Bitset<N> {
    const result = new Bitset<N>(this.length);
    for (let w = 0; w < this.#words.length; w++) result.#words[w] = this.#words[w]! & ~(other.#words[w] ?? 0);
    return result;
  }

  /** Counts the members. */
  count(): number {
    let count = 0;
    for (let word of this.#words) {
      word -= (word >>> 1) & 0x55555555;
      word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
      count += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
    }
    return count;
  }

  /** Finds the highest member below `before`; −1: there is none. */
  previous(before: number): N {
    if (before <= 0) return -1 as N;
    let w = (before - 1) >>> 5;
    let word = this.#words[w]! & (0xffffffff >>> (31 - ((before - 1) & 31)));
    while (word === 0) {
      if (w === 0) return -1 as N;
      word = this.#words[--w]!;
    }
    return (w * 32 + 31 - Math.clz32(word)) as N;
  }

  /** Yields the members, ascending. */
  *[Symbol.iterator](): Generator<N> {
    for (let w = 0; w < this.#words.length; w++) {
      for (let word = this.#words[w]!; word !== 0; word &= word - 1)
        yield (w * 32 + 31 - Math.clz32(word & -word)) as N;
    }
  }

  /** Lists the members as runs: start and end (exclusive) of each, ascending, flat. */
  runs(): Column<N> {
    const runs: number[] = [];
    let inside = false;
    for (let w = 0; w < this.#words.length; w++) {
      // A set bit marks a change of membership from the bit before: most words have none.
      const word = this.#words[w]!;
      let changes = word ^ ((word << 1) | (inside ? 1 : 0));
      for (; changes !== 0; changes &= changes - 1) {
        runs.push(w * 32 + 31 - Math.clz32(changes & -changes));
        inside = !inside;
      }
    }
    if (inside) runs.push(this.#words.length * 32);
    return Uint32Array.from(runs) as Uint32Array as Column<N>;
  }
}
