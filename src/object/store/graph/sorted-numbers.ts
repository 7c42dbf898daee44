import type { Column } from "../../../base/format/kinds.ts";
import type { ObjectNumber } from "../../../base/numbers/kinds.ts";

/** Numbers in a bucket, on average. */
const BUCKET_NUMBERS = 8;

/** Finds numbers in an ascending column. Those that are equal but for their lowest bits are a
 * bucket, which is searched by halving: wherever the numbers lie, few steps lead to one, and
 * neighbours lie together in memory. */
export class SortedNumbers {
  readonly #first: ObjectNumber;
  readonly #last: ObjectNumber;
  /** How many bits are left out. */
  readonly #shift: number;
  /** The row of each bucket's first number, and where the last one ends. */
  readonly #starts: Uint32Array;

  /** @param numbers ascending
   * @param length how many of them there are */
  constructor(numbers: Column<ObjectNumber>, length: number) {
    this.#first = numbers[0] ?? 1;
    this.#last = length === 0 ? 0 : numbers[length - 1]!;
    const range = Math.max(0, this.#last - this.#first);
    const bucketRange = Math.max(1, (range * BUCKET_NUMBERS) / length || 1);
    this.#shift = Math.min(31, Math.ceil(Math.log2(bucketRange)));
    const buckets = (range >>> this.#shift) + 1;
    const starts = new Uint32Array(buckets + 1).fill(length);
    for (let row = length - 1; row >= 0; row--) starts[(numbers[row]! - this.#first) >>> this.#shift] = row;
    for (let bucket = buckets - 1; bucket >= 0; bucket--) {
      starts[bucket] = Math.min(starts[bucket]!, starts[bucket + 1]!);
    }
    this.#starts = starts;
  }

  /** Bytes in memory, without the column. */
  get byteLength(): number {
    return this.#starts.byteLength;
  }

  /** The row of a number; −1: it is not among them.
   * @param numbers the column, or a copy */
  find(numbers: Column<ObjectNumber>, number: ObjectNumber): number {
    if (number < this.#first || number > this.#last) return -1;
    const bucket = (number - this.#first) >>> this.#shift;
    const end = this.#starts[bucket + 1]!;
    let low = this.#starts[bucket]!;
    let high = end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (numbers[middle]! < number) low = middle + 1;
      else high = middle;
    }
    return low < end && numbers[low] === number ? low : -1;
  }
}
