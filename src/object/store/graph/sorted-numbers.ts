import type { Column } from "../../../base/format/kinds.ts";
import type { ObjectNumber } from "../../../base/numbers/kinds.ts";

/** Average number of numbers in a bucket. */
const BUCKET_NUMBERS = 8;

/** Finds numbers in an ascending column. Numbers that differ only in their lowest bits form a
 * bucket, in which a binary search runs. So few steps lead to any number, however the numbers
 * are distributed, and neighbours lie together in memory. */
export class SortedNumbers {
  readonly #first: ObjectNumber;
  readonly #last: ObjectNumber;
  /** Number of low bits that are dropped. */
  readonly #shift: number;
  /** The row of each bucket's first number, and the end of the last bucket. */
  readonly #starts: Uint32Array;

  /** @param numbers ascending
   * @param length number of used entries */
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

  /** Finds the row of a number; −1: it is not in the column.
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
