import type { ChunkId, ObjectNumber } from "../../base/numbers/kinds.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { ObjectIndex } from "../store/index/object-index.ts";
import type { PackDraft } from "./pack-draft.ts";
import { CHAIN_STRIDE, chainRow, NO_BASE } from "../../base/bytes/plan-rows.ts";
import { WordRows } from "./word-rows.ts";

/** Where an entry is stored, and its delta base (0: none). */
interface ChainEntry {
  readonly chunk: ChunkId;
  readonly offset: number;
  readonly length: number;
  readonly base: ObjectNumber;
}

/** Writes the delta chains of objects to undeltify, as `PackPlan.chains`.
 * @param numbers the objects
 * @returns the rows, and the row of each object in their order
 * @throws GitError "storage-failed" when an object or a chunk is missing */
export function collectChains(
  objects: ObjectIndex,
  draft: PackDraft,
  numbers: readonly ObjectNumber[],
): { chains: Uint32Array; undeltified: Uint32Array } {
  const found = findChains(objects, numbers);
  draft.addChunks(Array.from(found.values(), ({ chunk }) => chunk));
  const rows = new WordRows();
  const rowOf = new Map<ObjectNumber, number>();
  for (const number of numbers) {
    const pending: ObjectNumber[] = [];
    for (let at = number; at !== 0 && !rowOf.has(at); at = found.get(at)!.base) pending.push(at);
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      const { chunk, offset, length, base } = found.get(at)!;
      rowOf.set(at, rows.length / CHAIN_STRIDE);
      rows.push(chainRow(draft.extentOf(chunk), offset, length, base === 0 ? NO_BASE : rowOf.get(base)!));
    }
  }
  return { chains: rows.toArray(), undeltified: Uint32Array.from(numbers, (number) => rowOf.get(number)!) };
}

/** Reads the rows of the objects and of all entries in their chains. */
function findChains(objects: ObjectIndex, numbers: readonly ObjectNumber[]): Map<ObjectNumber, ChainEntry> {
  const rows = objects.locate(objects.withBases(NumberSet.fromUnsorted(numbers)));
  const chains = Array.from(rows.number, (number, i): [number, ChainEntry] => [
    number,
    { chunk: rows.chunk[i]!, offset: rows.offset[i]!, length: rows.length[i]!, base: rows.base[i]! },
  ]);
  return new Map(chains);
}
