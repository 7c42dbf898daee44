import type { Column } from "../format/kinds.ts";
import type { ObjectNumber } from "./kinds.ts";
import { GitError } from "../format/errors.ts";
import type { Bitset } from "./bitset.ts";

/** An immutable set of object numbers, kept as sorted runs. Numbers follow arrival order, so
 * related objects have adjacent numbers. Numbers are below 2³² − 1. */
export class NumberSet {
  /** The empty set. */
  static readonly EMPTY = new NumberSet(new Uint32Array(0));

  /** Start and end (exclusive) of each run, ascending, no two runs touching. */
  readonly runs: Column<ObjectNumber>;
  /** Number of members before each run; made on first use. */
  #before: Uint32Array | null = null;

  private constructor(runs: Uint32Array) {
    this.runs = runs;
  }

  /** Makes the set of the numbers from `start` to `end - 1`. */
  static range(start: ObjectNumber, end: ObjectNumber): NumberSet {
    return start < end ? new NumberSet(Uint32Array.of(start, end)) : NumberSet.EMPTY;
  }

  /** Makes a set of one number. */
  static of(number: ObjectNumber): NumberSet {
    return NumberSet.range(number, number + 1);
  }

  /** Makes a set of numbers in any order.
   * @param numbers repeats are allowed */
  static fromUnsorted(numbers: Iterable<ObjectNumber>): NumberSet {
    return NumberSet.fromSorted(Uint32Array.from(numbers).sort());
  }

  /** Makes a set of ascending numbers.
   * @param numbers repeats are allowed
   * @throws RangeError when a number is lower than the one before it */
  static fromSorted(numbers: Iterable<ObjectNumber>): NumberSet {
    const runs: number[] = [];
    let end = -1;
    for (const number of numbers) {
      if (number === end) {
        runs[runs.length - 1] = ++end;
      } else if (number > end) {
        runs.push(number, (end = number + 1));
      } else if (number !== end - 1) {
        throw new RangeError(`${number} comes after ${end - 1}`);
      }
    }
    return new NumberSet(Uint32Array.from(runs));
  }

  /** Makes a set of a bitset's members. */
  static fromBitset(bitset: Bitset<ObjectNumber>): NumberSet {
    return new NumberSet(bitset.runs());
  }

  /** Decodes the result of `encode`.
   * @throws GitError "storage-failed" when the bytes are truncated or not a set */
  static decode(bytes: Uint8Array): NumberSet {
    const runs: number[] = [];
    let value = 0;
    let scale = 1;
    let end = 0;
    for (const byte of bytes) {
      value += (byte & 0x7f) * scale;
      scale *= 128;
      if (byte >= 0x80) continue;
      const touches = runs.length > 0 && runs.length % 2 === 0 && value === 0;
      const empty = runs.length % 2 === 1 && value === 0;
      end += value;
      if (touches || empty || end > 0xffffffff) throw corrupt();
      runs.push(end);
      value = 0;
      scale = 1;
    }
    if (scale !== 1 || runs.length % 2 !== 0) throw corrupt();
    return new NumberSet(Uint32Array.from(runs));
  }

  /** The lowest member; the set must not be empty. */
  get first(): ObjectNumber {
    return this.runs[0]!;
  }

  /** The highest member; the set must not be empty. */
  get last(): ObjectNumber {
    return this.runs.at(-1)! - 1;
  }

  /** Number of members. */
  get size(): number {
    let size = 0;
    for (let r = 0; r < this.runs.length; r += 2) size += this.runs[r + 1]! - this.runs[r]!;
    return size;
  }

  /** Whether `number` is a member. */
  has(number: ObjectNumber): boolean {
    // A number is inside a run if the count of boundaries at or below it is odd.
    return this.#boundariesTo(number) % 2 === 1;
  }

  /** Number of members lower than `number`, if it is a member; else −1. */
  indexOf(number: ObjectNumber): number {
    const boundaries = this.#boundariesTo(number);
    if (boundaries % 2 === 0) return -1;
    const r = (boundaries - 1) / 2;
    return this.#countBefore()[r]! + number - this.runs[2 * r]!;
  }

  /** Lists the members from index `from` to `end - 1`. */
  slice(from: number, end: number): Column<ObjectNumber> {
    const numbers = new Uint32Array(Math.max(0, end - from));
    const before = this.#countBefore();
    let r = 0;
    for (let high = before.length; r + 1 < high;) {
      const middle = (r + high) >>> 1;
      if (before[middle]! <= from) r = middle;
      else high = middle;
    }
    for (let n = 0, number = this.runs[2 * r]! + from - before[r]!; n < numbers.length; n++, number++) {
      if (number === this.runs[2 * r + 1]) number = this.runs[2 * ++r]!;
      numbers[n] = number;
    }
    return numbers;
  }

  /** Makes the set of the members from `start` to `end - 1`. */
  within(start: ObjectNumber, end: ObjectNumber): NumberSet {
    const from = this.#boundariesTo(start);
    const to = this.#boundariesTo(end - 1);
    const runs = [...this.runs.subarray(from, to)];
    if (from % 2 === 1) runs.unshift(start);
    if (to % 2 === 1) runs.push(end);
    return start < end ? new NumberSet(Uint32Array.from(runs)) : NumberSet.EMPTY;
  }

  /** Counts the boundaries of runs at or below a number. */
  #boundariesTo(number: ObjectNumber): number {
    let low = 0;
    let high = this.runs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.runs[middle]! <= number) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #countBefore(): Uint32Array {
    if (this.#before !== null) return this.#before;
    this.#before = new Uint32Array(this.runs.length / 2);
    for (let r = 1; r < this.#before.length; r++) {
      this.#before[r] = this.#before[r - 1]! + this.runs[2 * r - 1]! - this.runs[2 * r - 2]!;
    }
    return this.#before;
  }

  /** Makes the set of the members of either set. */
  union(other: NumberSet): NumberSet {
    return NumberSet.#combine(this.runs, other.runs, (here, there) => here || there);
  }

  /** Makes the set of this set's members that are not in the other. */
  difference(other: NumberSet): NumberSet {
    return NumberSet.#combine(this.runs, other.runs, (here, there) => here && !there);
  }

  /** Makes the set of the members of both sets. */
  intersection(other: NumberSet): NumberSet {
    return NumberSet.#combine(this.runs, other.runs, (here, there) => here && there);
  }

  /** Lists the members, ascending. */
  toArray(): Column<ObjectNumber> {
    const numbers = new Uint32Array(this.size);
    let n = 0;
    for (let r = 0; r < this.runs.length; r += 2) {
      for (let number = this.runs[r]!; number < this.runs[r + 1]!; number++) numbers[n++] = number;
    }
    return numbers;
  }

  /** Encodes each run as its distance from the end of the previous run (from 0 for the first) and
   * its length, as LEB128 varints. */
  encode(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.runs.length * 5);
    let at = 0;
    let last = 0;
    for (const boundary of this.runs) {
      let value = boundary - last;
      last = boundary;
      for (; value >= 0x80; value = Math.floor(value / 128)) bytes[at++] = (value % 128) | 0x80;
      bytes[at++] = value;
    }
    return bytes.slice(0, at);
  }

  /** Walks the boundaries of both sets and keeps those where membership in the result changes. */
  static #combine(a: Uint32Array, b: Uint32Array, keep: (inA: boolean, inB: boolean) => boolean): NumberSet {
    const runs = new Uint32Array(a.length + b.length);
    let length = 0;
    let i = 0;
    let j = 0;
    let inside = false;
    while (i < a.length || j < b.length) {
      const nextA = a[i] ?? Infinity;
      const nextB = b[j] ?? Infinity;
      const at = Math.min(nextA, nextB);
      if (nextA === at) i++;
      if (nextB === at) j++;
      if (keep(i % 2 === 1, j % 2 === 1) === inside) continue;
      inside = !inside;
      runs[length++] = at;
    }
    return new NumberSet(runs.slice(0, length));
  }
}

function corrupt(): GitError {
  return new GitError("storage-failed", { key: "commits", reason: "a number set is corrupt" });
}

/** Number of keys up to which a sort of floats that hold key and index is faster than a radix
 * sort. */
const FEW = 2_048;

/** Sorts the indices of keys by the keys, ascending; equal keys stay in order. */
export function sortIndices(keys: Uint32Array): Uint32Array {
  const { length } = keys;
  if (length <= FEW) {
    const pairs = new Float64Array(length);
    for (let i = 0; i < length; i++) pairs[i] = keys[i]! * FEW + i;
    pairs.sort();
    const order = new Uint32Array(length);
    for (let i = 0; i < length; i++) order[i] = pairs[i]! % FEW;
    return order;
  }
  let order = new Uint32Array(length);
  for (let i = 0; i < length; i++) order[i] = i;
  for (const shift of [0, 16]) {
    const ends = new Uint32Array(65_537);
    for (let i = 0; i < length; i++) ends[((keys[i]! >>> shift) & 0xffff) + 1]! += 1;
    for (let digit = 0; digit < 65_536; digit++) ends[digit + 1]! += ends[digit]!;
    const sorted = new Uint32Array(length);
    for (let i = 0; i < length; i++) sorted[ends[(keys[order[i]!]! >>> shift) & 0xffff]!++] = order[i]!;
    order = sorted;
  }
  return order;
}

/** Runs work that is divided into steps to its end. The generator yields where a time slice may
 * end, so that other requests run in between. */
export function finishAtOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
