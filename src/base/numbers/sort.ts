/** Up to this many keys, a sort of floats that hold key and index is faster than a radix sort. */
const FEW = 2_048;

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
