import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { ObjectIndex } from "../store/index/object-index.ts";
import type { ChunkRow } from "../store/index/chunk-row.ts";
import { BLOB_MAX_BYTES } from "../store/sql/sql.ts";
import { type JobOutcome, type JobRun, RUN_BYTES, RUN_OBJECTS } from "./maintenance-jobs.ts";
import { installChunks } from "./install.ts";
import { rewriteEntries } from "./rewrite.ts";

/** The longest delta chain that is kept: git's default for packs.
 * @see git-config(1) pack.depth */
export const MAX_CHAIN_LINKS = 50;

/** Chunks and objects taken at a time: the result fits one or two chunks. */
const SLICE_CHUNKS = 1_000;
const SLICE_OBJECTS = 5_000;

/** The most bytes of objects undeltified at a time, inflated: a small push of deltas may expand to
 * gigabytes. */
const SLICE_INFLATED_BYTES = 4_000_000;

/** Joins the many chunks of small pushes into few, and shortens their delta chains: a thin push
 * bases its deltas on earlier ones, so chains would grow by one with each push. Each object is
 * rewritten at most once by this. Their index goes to its pages with them; then its runs of ids are
 * merged. */
export async function repack(run: JobRun): Promise<JobOutcome> {
  const { tables } = run.repository;
  const counts = { chunks: 0, objects: 0, bytes: 0, undeltified: 0, peakBytes: 0 };
  if (tables === null) return { counts, again: false };
  for (;;) {
    const slice = takeSlice(tables.chunks.unmerged(SLICE_CHUNKS));
    if (slice.length === 0) return { counts, again: !(await mergeIds(run)) };
    const isEnough = counts.bytes >= RUN_BYTES || counts.objects >= RUN_OBJECTS;
    if (isEnough || run.pace.isInterrupted) return { counts, again: true };
    const numbers = numbersOf(slice).difference(tables.objects.pruned());
    const undeltified = findDeep(tables.objects, numbers);
    const rewritten = await rewriteEntries(tables, run.store, run.repository.platform.codec, {
      numbers,
      undeltified,
      splitAtGaps: true,
    });
    await installChunks(run, rewritten, () => {
      // Hidden objects may be of no use any more.
      if (undeltified.size > 0 && tables.objects.hidden().size > 0) tables.jobs.add("prune", "", run.nowMs);
    });
    counts.chunks += slice.length;
    counts.objects += rewritten.objects.number.length;
    counts.bytes += slice.reduce((sum, { size }) => sum + size, 0);
    counts.undeltified += undeltified.size;
    counts.peakBytes = Math.max(counts.peakBytes, rewritten.peakBytes);
    await run.pace.rest();
  }
}

/** Merges runs of ids, page by page.
 * @returns whether none is left to merge */
async function mergeIds({ repository, pace }: JobRun): Promise<boolean> {
  const { objects } = repository.tables!;
  for (; objects.isMergeDue(); await pace.rest()) {
    if (pace.isInterrupted) return false;
    repository.platform.transactor.transactionSync(() => objects.mergeIds());
  }
  return true;
}

/** The first of the chunks, as many as are rewritten at a time. */
function takeSlice(chunks: readonly ChunkRow[]): ChunkRow[] {
  let bytes = 0;
  let objects = 0;
  const end = chunks.findIndex(({ size, firstNumber, lastNumber }) => {
    bytes += size;
    objects += lastNumber - firstNumber + 1;
    return bytes > BLOB_MAX_BYTES || objects > SLICE_OBJECTS;
  });
  return end < 0 ? [...chunks] : chunks.slice(0, Math.max(1, end));
}

/** The numbers of the chunks' objects. */
function numbersOf(chunks: readonly ChunkRow[]): NumberSet {
  const ranges = chunks.map(({ firstNumber, lastNumber }) => NumberSet.range(firstNumber, lastNumber + 1));
  return ranges.reduce((numbers, range) => numbers.union(range), NumberSet.EMPTY);
}

/** The objects to undeltify, so that no chain among them is longer than `MAX_CHAIN_LINKS`, and
 * every base precedes its deltas. */
function findDeep(objects: ObjectIndex, numbers: NumberSet): Set<ObjectNumber> {
  const { number, base, size } = objects.locate(objects.withBases(numbers));
  const rowOf = new Map(Array.from(number, (n, i) => [n, i]));
  const links = new Map<ObjectNumber, number>();
  const deep = new Set<ObjectNumber>();
  let inflatedBytes = 0;
  for (const last of numbers.toArray()) {
    const pending: ObjectNumber[] = [];
    let at = last;
    for (; at !== 0 && !links.has(at); at = base[rowOf.get(at)!]!) pending.push(at);
    let length = at === 0 ? -1 : links.get(at)!;
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      length += 1;
      const row = rowOf.get(next)!;
      const isWanted = length > MAX_CHAIN_LINKS || base[row]! > next;
      if (isWanted && numbers.has(next) && inflatedBytes < SLICE_INFLATED_BYTES) {
        deep.add(next);
        inflatedBytes += size[row]!;
        length = 0;
      }
      links.set(next, length);
    }
  }
  return deep;
}
