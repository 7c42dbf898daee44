/** Finds the last page that begins at or before a value; −1: none.
 * @param fences ascending by the first value of each page */
export function lastPageFrom(fences: readonly { readonly first: number }[], value: number): number {
  let low = 0;
  let high = fences.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (fences[middle]!.first <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
