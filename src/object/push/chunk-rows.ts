import type { ChunkId, ObjectNumber } from "../../base/numbers/kinds.ts";
import { GitError } from "../../base/format/errors.ts";
import { OID_BYTES, toHex } from "../../base/format/oid.ts";
import { type MadeEntry, NO_INDEX, type PackEntry, type PackIndex, STORED } from "../../base/codec/pack-index.ts";
import type { NewChunk } from "../store/index/chunk-row.ts";
import {
  joinRows,
  newObjectColumns,
  type ObjectColumns,
  type ObjectRow,
  sliceRows,
} from "../store/index/object-columns.ts";
import type { StagingObjects } from "../store/index/staging-objects.ts";
import { encodeObjectPage } from "../store/index/object-page.ts";
import { PAGE_ROWS } from "../store/index/object-pages.ts";
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
 * @param pushAt id of the push that an offset in the pack belongs to
 * @param staging takes the index in parts; null: it is returned. Without inline chunks only */
export function* layOutRows(
  pushed: PushedObjects,
  written: readonly WrittenChunk[],
  firstChunk: ChunkId,
  pushAt: (packOffset: number) => number,
  staging: StagingObjects | null = null,
): Generator<void, StoredRows> {
  const { index, freshCount, firstNumber } = pushed;
  const rows = new IndexRows(pushed, staging);
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
      const { entry, offset, isLeft } = next.value;
      if (isLeft || at === freshCount || index.fresh(at) !== entry) continue;
      const baseEntry = index.base(entry);
      const basePackNode = baseEntry === NO_INDEX ? NO_INDEX : index.nodeOf(baseEntry);
      const base = basePackNode === NO_INDEX ? 0 : index.number(basePackNode);
      if (basePackNode !== NO_INDEX && base === 0)
        throw new GitError("missing-object", { oid: toHex(pushed.oid(basePackNode)) });
      const isOfs = index.stored(entry) === STORED.ofsDelta;
      // An object that is twice in the pack: the distance points to the copy that is not indexed.
      if (isOfs && index.entryOf(basePackNode) !== baseEntry) hasStrayDistance = true;
      if (base > firstNumber + at) hasLateBase = true;
      if (base !== 0) floors.base = lower(floors.base, base);
      if (isOfs) floors.ofs = lower(floors.ofs, base);
      const distance = isOfs ? offset - index.offset(baseEntry) : 0;
      const inChunk = offset - chunk.packOffset;
      if (rows.add(next.value, { chunk: firstChunk + chunks.length, offset: inChunk, base, distance })) yield;
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
  return { ...divideIndex(chunks, rows.finish()), unusedKeys };
}

/** The rows of a push's index. */
class IndexRows {
  readonly #pushed: PushedObjects;
  readonly #staging: StagingObjects | null;
  readonly #columns: ObjectColumns;
  #length = 0;
  #number: ObjectNumber;

  constructor(pushed: PushedObjects, staging: StagingObjects | null) {
    this.#pushed = pushed;
    this.#staging = staging;
    this.#columns = newObjectColumns(staging === null ? pushed.freshCount : Math.min(pushed.freshCount, PAGE_ROWS));
    this.#number = pushed.firstNumber;
  }

  /** Adds the next fresh object.
   * @param where fields of its row
   * @returns whether rows were staged: a turn in which nothing else is written */
  add(
    { entry, length }: Place,
    { chunk, offset, base, distance }: Pick<ObjectRow, "chunk" | "offset" | "base" | "distance">,
  ): boolean {
    const { index } = this.#pushed;
    const columns = this.#columns;
    const row = this.#length++;
    columns.number[row] = this.#number++;
    index.copyOid(index.nodeOf(entry), columns.oid, row * OID_BYTES);
    columns.chunk[row] = chunk;
    columns.offset[row] = offset;
    columns.length[row] = length;
    columns.type[row] = index.kind(entry);
    columns.size[row] = index.size(entry);
    columns.base[row] = base;
    columns.distance[row] = distance;
    columns.introducer[row] = index.introducer(entry);
    if (this.#staging === null || this.#length < PAGE_ROWS) return false;
    this.#stage(this.#staging);
    return true;
  }

  /** The rows that are not staged. */
  finish(): ObjectColumns {
    if (this.#staging !== null) this.#stage(this.#staging);
    return sliceRows(this.#columns, 0, this.#length);
  }

  #stage(staging: StagingObjects): void {
    if (this.#length > 0) staging.add(sliceRows(this.#columns, 0, this.#length));
    this.#length = 0;
  }
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
function* listPlaces(index: PackIndex): Generator<Place, void> {
  const { count, end, made } = index;
  for (let entry: PackEntry = 0; entry < count; entry++) {
    const offset = index.offset(entry);
    const length = (entry + 1 < count ? index.offset(entry + 1) : end) - offset;
    yield { entry, offset, length, isLeft: index.stored(entry) === STORED.made };
  }
  for (const [entry, place] of made) yield { entry, ...place, isLeft: false };
}

/** The lower of two object numbers; the first may be 0 for none. */
function lower(lowest: ObjectNumber, number: ObjectNumber): ObjectNumber {
  return lowest === 0 ? number : Math.min(lowest, number);
}
