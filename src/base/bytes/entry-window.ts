import type { ChunkStore } from "../chunks/chunk-store.ts";
import type { ChainPlan } from "./delta-chains.ts";
import type { Extent } from "./pack-plan.ts";
import { chainCount, chainExtent, chainLength, chainOffset, moveChainRow } from "./plan-rows.ts";

/** Largest gap between two entries that is read and dropped, in bytes: cheaper than another
 * read. */
const GAP_BYTES = 64 * 1024;

/** Size limit of one read, unless a single entry is larger. */
const READ_BYTES = 4 * 1024 * 1024;

/** Reads in flight at a time. */
const READS = 3;

/** An entry stored in an R2 object. */
interface Place {
  readonly row: number;
  readonly key: string;
  /** Byte offsets in the R2 object. */
  readonly start: number;
  readonly end: number;
}

/** Reads the entries of a plan into memory. Each R2 object is read once, from its first needed
 * entry to its last, except for wide gaps. Memory is the entries' bytes and `READS` reads.
 * @param rows needed rows of `chains`
 * @returns the plan with the bytes of these rows in it, each row with an extent of its own
 * @throws GitError "storage-failed" when stored bytes are missing or short */
export async function gatherEntries(
  { extents, chains }: ChainPlan,
  rows: Iterable<number>,
  store: ChunkStore,
): Promise<ChainPlan> {
  const gathered: Extent[] = Array.from({ length: chainCount(chains) }, () => ({ bytes: new Uint8Array(0) }));
  const places: Place[] = [];
  for (const row of rows) {
    const [offset, length] = [chainOffset(chains, row), chainLength(chains, row)];
    const extent = extents[chainExtent(chains, row)]!;
    if ("bytes" in extent) gathered[row] = { bytes: extent.bytes.subarray(offset, offset + length) };
    else places.push({ row, key: extent.key, start: extent.start + offset, end: extent.start + offset + length });
  }
  const runs = groupRuns(places).values();
  const readRuns = async (): Promise<void> => {
    for (const run of runs) {
      const { key, start } = run[0]!;
      const bytes = await store.read(key, start, run.at(-1)!.end - start);
      // Copies the entries, so that the bytes in the gaps are freed.
      for (const place of run) gathered[place.row] = { bytes: bytes.slice(place.start - start, place.end - start) };
    }
  };
  await Promise.all(Array.from({ length: READS }, readRuns));
  const moved = chains.slice();
  for (let row = 0; row < gathered.length; row++) moveChainRow(moved, row, row, 0);
  return { extents: gathered, chains: moved };
}

/** Groups neighbouring entries of one R2 object that one read can fetch. */
function groupRuns(places: Place[]): Place[][] {
  const runs: Place[][] = [];
  places.sort((a, b) => (a.key === b.key ? a.start - b.start : a.key < b.key ? -1 : 1));
  for (const place of places) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    const isNear = last !== undefined && last.key === place.key && place.start - last.end <= GAP_BYTES;
    if (isNear && place.end - run![0]!.start <= READ_BYTES) run!.push(place);
    else runs.push([place]);
  }
  return runs;
}
