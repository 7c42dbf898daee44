import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { collectChains } from "../pack/collect-chains.ts";
import type { Extent } from "../../base/bytes/pack-plan.ts";
import { chainCount, chainExtent, chainLength, chainOffset, moveChainRow } from "../../base/bytes/plan-rows.ts";
import { PackDraft } from "../pack/pack-draft.ts";
import type { Tables } from "../store/tables.ts";
import type { BlobPlan } from "../../contract/files.ts";

/** Finds where objects are stored. Inline bytes are part of the plan: of each chunk only the range
 * from the first to the last needed entry.
 * @param numbers object numbers, in the order in which they will be read
 * @throws GitError "storage-failed" when one is missing */
export function planBlobs({ objects, chunks }: Tables, numbers: readonly ObjectNumber[]): BlobPlan {
  const draft = new PackDraft(chunks);
  const { chains, undeltified } = collectChains(objects, draft, numbers);
  const { extents } = draft.finish(numbers.length, chains, undeltified);
  return { extents: trimExtents(extents, chains), chains, rows: undeltified };
}

/** Trims extents to the bytes that chains need, and makes the chains' offsets relative to them. */
function trimExtents(extents: readonly Extent[], chains: Uint32Array): Extent[] {
  const starts = extents.map(() => Infinity);
  const ends = extents.map(() => 0);
  const rows = chainCount(chains);
  for (let row = 0; row < rows; row++) {
    const extent = chainExtent(chains, row);
    const offset = chainOffset(chains, row);
    starts[extent] = Math.min(starts[extent]!, offset);
    ends[extent] = Math.max(ends[extent]!, offset + chainLength(chains, row));
  }
  for (let row = 0; row < rows; row++) {
    const extent = chainExtent(chains, row);
    moveChainRow(chains, row, extent, chainOffset(chains, row) - starts[extent]!);
  }
  return extents.map((extent, i) => {
    const start = starts[i]!;
    if ("bytes" in extent) return { bytes: extent.bytes.slice(start, ends[i]) };
    return { key: extent.key, start: extent.start + start, length: ends[i]! - start };
  });
}
