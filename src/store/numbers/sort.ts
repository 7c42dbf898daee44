/** Up to this many keys, a sort of floats that hold key and index is faster than a radix sort. */
const FEW = 2_048;

/** A digit of a radix sort has 16 bits. */
const DIGIT_END = 65_536;

/** The indices of keys in ascending order of the keys; equal ones stay in order. */
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
  let largest = 0;
  for (let i = 0; i < length; i++) largest = Math.max(largest, keys[i]!);
  // Keys that are not much larger than there are take one pass.
  if (largest < Math.max(DIGIT_END, 2 * length)) return sortByDigit(keys, null, 0, largest + 1);
  return sortByDigit(keys, sortByDigit(keys, null, 0, DIGIT_END), 16, DIGIT_END);
}

/** Sorts indices by one digit of their keys; those with the same digit stay in order.
 * @param order the indices; null: ascending
 * @param shift bits of the key below the digit
 * @param end more than the largest digit; keys below `DIGIT_END` have one */
function sortByDigit(keys: Uint32Array, order: Uint32Array | null, shift: number, end: number): Uint32Array {
  const mask = end > DIGIT_END ? 0xffff_ffff : DIGIT_END - 1;
  const ends = new Uint32Array(end + 1);
  for (let i = 0; i < keys.length; i++) ends[((keys[i]! >>> shift) & mask) + 1]! += 1;
  for (let digit = 0; digit < end; digit++) ends[digit + 1]! += ends[digit]!;
  const sorted = new Uint32Array(keys.length);
  for (let k = 0; k < keys.length; k++) {
    const i = order === null ? k : order[k]!;
    sorted[ends[(keys[i]! >>> shift) & mask]!++] = i;
  }
  return sorted;
}
