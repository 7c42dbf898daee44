import type { ChunkRow } from "../store/index/chunk-row.ts";
import type { NumberSet } from "../../base/numbers/number-set.ts";

/** Chooses the chunks that can be sent byte for byte, without reading their rows: all their objects
 * are to be sent, every delta's base too, and the OFS distances still fit because chunks that refer
 * to one another stay adjacent.
 * @param chunks ordered by their first object's number
 * @param ofsDelta whether the client accepts OFS deltas
 * @returns the chosen ones, in the same order; the caller sends them, and all objects between them,
 * by number */
export function selectWholeChunks(chunks: readonly ChunkRow[], objects: NumberSet, ofsDelta: boolean): ChunkRow[] {
  const selected: ChunkRow[] = [];
  // First number of the current run of chunks that are adjacent both in their pack and in the
  // response.
  let runStart = 0;
  let previous: ChunkRow | null = null;
  for (const chunk of chunks) {
    if (previous === null || !follows(previous, chunk)) runStart = chunk.firstNumber;
    const fits =
      chunk.whole &&
      hasRange(objects, chunk.firstNumber, chunk.lastNumber) &&
      (chunk.ofsFloor === 0 || (ofsDelta && chunk.ofsFloor >= runStart)) &&
      (chunk.baseFloor === 0 || hasRange(objects, chunk.baseFloor, chunk.lastNumber));
    if (fits) selected.push(chunk);
    previous = fits ? chunk : null;
  }
  return selected;
}

function follows(previous: ChunkRow, chunk: ChunkRow): boolean {
  return (
    previous.push === chunk.push &&
    previous.lastNumber + 1 === chunk.firstNumber &&
    previous.packOffset + previous.size === chunk.packOffset
  );
}

/** Whether all numbers from `first` to `last` are in the set. */
function hasRange({ runs }: NumberSet, first: number, last: number): boolean {
  let low = 0;
  let high = runs.length / 2;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (runs[middle * 2 + 1]! <= first) low = middle + 1;
    else high = middle;
  }
  return low * 2 < runs.length && runs[low * 2]! <= first && last < runs[low * 2 + 1]!;
}
