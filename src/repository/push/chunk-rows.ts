import type { Column } from "../../format/kinds.ts";
import type { ChunkId, ObjectNumber } from "../../store/numbers/kinds.ts";
import { GitError } from "../../format/errors.ts";
import { OID_BYTES, toHex } from "../../format/oid.ts";
import { type MadeEntry, NO_INDEX, type PackEntry, type PackIndex, STORED } from "../../codec/pack-index.ts";
import type { NewChunk } from "../../store/index/chunk-row.ts";
import { joinRows, newObjectColumns, type ObjectColumns, sliceRows } from "../../store/index/object-columns.ts";
import { encodeObjectPage } from "../../store/index/object-page.ts";
import type { WrittenChunk } from "./chunk-writer.ts";
import type { PushedObjects } from "./pushed-objects.ts";

/** Entries that are placed in a step: a millisecond. */
const ENTRIES_PER_STEP = 1_024;

/** The rows that a push adds to the tables of chunks and objects. */
export interface StoredRows {
  /** Chunks that hold a fresh object, in pack order. Inline ones have their objects' index beside
   * them. */
  readonly chunks: NewChunk[];
  /** The index of the objects in the other chunks. */
  readonly objects: ObjectColumns;
  /** R2 objects without a fresh object: all of theirs were stored already. */
  readonly unusedKeys: string[];
}

/** Assigns the fresh objects of a push to its chunks. Yields between steps.
 * @param firstChunk id that the first of the returned chunks will get
 * @param introducers number of the node that introduces each fresh object
 * @param pushAt id of the push that an offset in the pack belongs to */
export function* layOutRows(
  pushed: PushedObjects,
  written: readonly WrittenChunk[],
  introducers: Column<ObjectNumber>,
  firstChunk: ChunkId,
  pushAt: (packOffset: number) => number,
): Generator<void, StoredRows> {
  const { index, fresh, firstNumber, numbers } = pushed;
  const objects = newObjectColumns(fresh.length);
  objects.introducer.set(introducers);
  const chunks: Omit<NewChunk, "objects">[] = [];
  const unusedKeys: string[] = [];
  const places = listPlaces(index);
  let next = places.next();
  let at = 0;
  for (const chunk of written) {
    const end = chunk.packOffset + chunk.sizeBytes;
    const firstAt = at;
    let count = 0;
    const floors: { ofs: ObjectNumber; base: ObjectNumber } = { ofs: 0, base: 0 };
    let hasStrayDistance = false;
    let hasLateBase = false;
    for (; next.done !== true && next.value.offset < end; next = places.next(), count++) {
      if (count % ENTRIES_PER_STEP === 0) yield;
      const { entry, offset, length, isLeft } = next.value;
      if (isLeft || fresh[at] !== entry) continue;
      const baseEntry = index.bases[entry]!;
      const basePackNode = baseEntry === NO_INDEX ? NO_INDEX : index.entryNodes[baseEntry]!;
      const base = basePackNode === NO_INDEX ? 0 : numbers[basePackNode]!;
      if (basePackNode !== NO_INDEX && base === 0)
        throw new GitError("missing-object", { oid: toHex(pushed.oid(basePackNode)) });
      const isOfs = index.stored[entry] === STORED.ofsDelta;
      // An object that is twice in the pack: the distance points to the copy that is not indexed.
      if (isOfs && index.nodeEntries[basePackNode] !== baseEntry) hasStrayDistance = true;
      if (base > firstNumber + at) hasLateBase = true;
      if (base !== 0) floors.base = lower(floors.base, base);
      if (isOfs) floors.ofs = lower(floors.ofs, base);
      const packNode = index.entryNodes[entry]!;
      objects.number[at] = firstNumber + at;
      objects.oid.set(pushed.oid(packNode), at * OID_BYTES);
      objects.chunk[at] = firstChunk + chunks.length;
      objects.offset[at] = offset - chunk.packOffset;
      objects.length[at] = length;
      objects.type[at] = index.kinds[entry]!;
      objects.size[at] = index.sizes[entry]!;
      objects.base[at] = base;
      objects.distance[at] = isOfs ? offset - index.offsets[baseEntry]! : 0;
      at++;
    }
    if (at === firstAt) {
      if (chunk.key !== null) unusedKeys.push(chunk.key);
      continue;
    }
    chunks.push({
      key: chunk.key,
      bytes: chunk.bytes,
      size: chunk.sizeBytes,
      checksum: chunk.checksum,
      push: pushAt(chunk.packOffset),
      packOffset: chunk.packOffset,
      firstNumber: firstNumber + firstAt,
      lastNumber: firstNumber + at - 1,
      whole: at - firstAt === count && !hasStrayDistance && !hasLateBase,
      ofsFloor: floors.ofs,
      baseFloor: floors.base,
    });
  }
  return { ...divideIndex(chunks, objects), unusedKeys };
}

/** Puts the index of the objects in inline chunks beside these. */
function divideIndex(
  chunks: readonly Omit<NewChunk, "objects">[],
  objects: ObjectColumns,
): Pick<StoredRows, "chunks" | "objects"> {
  // Those of a large push are tens of megabytes: no copy.
  if (chunks.every(({ bytes }) => bytes === null))
    return { chunks: chunks.map((chunk) => ({ ...chunk, objects: null })), objects };
  const filed: ObjectColumns[] = [];
  let end = 0;
  const indexed = chunks.map((chunk): NewChunk => {
    const from = end;
    end += chunk.lastNumber - chunk.firstNumber + 1;
    const rows = sliceRows(objects, from, end);
    if (chunk.bytes !== null) return { ...chunk, objects: encodeObjectPage(rows) };
    filed.push(rows);
    return { ...chunk, objects: null };
  });
  return { chunks: indexed, objects: joinRows(filed) };
}

/** The position of an entry, bytes. */
interface Place extends MadeEntry {
  readonly entry: PackEntry;
  /** Its undeltified form is stored elsewhere: these bytes are unused. */
  readonly isLeft: boolean;
}

/** The pack's entries in order, then those that were appended undeltified. */
function* listPlaces({ count, offsets, end, stored, made }: PackIndex): Generator<Place, void> {
  for (let entry: PackEntry = 0; entry < count; entry++) {
    const offset = offsets[entry]!;
    const length = (entry + 1 < count ? offsets[entry + 1]! : end) - offset;
    yield { entry, offset, length, isLeft: stored[entry] === STORED.made };
  }
  for (const [entry, place] of made) yield { entry, ...place, isLeft: false };
}

/** The lower of two object numbers; the first may be 0 for none. */
function lower(lowest: ObjectNumber, number: ObjectNumber): ObjectNumber {
  return lowest === 0 ? number : Math.min(lowest, number);
}
