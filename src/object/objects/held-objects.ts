import type { ByteRange } from "../../base/format/conditional-request.ts";
import type { ObjectMemory } from "../../base/format/tree-compare.ts";
import type { ChunkStore } from "../../base/chunks/chunk-store.ts";
import type { ChunkTable } from "../store/index/chunk-table.ts";
import type { ObjectColumns } from "../store/index/object-columns.ts";
import type { ObjectIndex } from "../store/index/object-index.ts";
import type { ChunkRow } from "../store/index/chunk-row.ts";
import type { ChunkId, ObjectNumber } from "../../base/numbers/kinds.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import { extentOf } from "../pack/pack-draft.ts";
import type { DeltaCodec, WholeObject } from "../../base/bytes/delta-chains.ts";
import { decodeEntryHead } from "../../base/bytes/entry-head.ts";
import { type HeldExtent, holdExtent, readExtent, WHOLE_READ_BYTES } from "../../base/bytes/read-extent.ts";

/** The tables with the stored places of objects. */
interface PlaceTables {
  readonly objects: ObjectIndex;
  readonly chunks: ChunkTable;
}

/** Size limit of a group of objects in bytes. A single group may be twice as large. */
export const GROUP_BYTES = 4 * 1024 * 1024;

/** Size limit of a delta that is applied here, in bytes. A delta to a small object is larger only
 * if it was crafted. */
const MAX_DELTA_BYTES = 256 * 1024;

/** Number of objects that are read between two calls of `rest`: some milliseconds. */
const OBJECTS_PER_STEP = 200;

/** Reads objects in groups, into reused memory that holds the last group and the one before. Most
 * neighbours are stored as deltas of each other, so few bases are read from elsewhere, and no copy
 * becomes garbage. */
export class HeldObjects {
  /** Memory with the objects' contents. */
  readonly memory: ObjectMemory;
  readonly #tables: PlaceTables;
  readonly #store: ChunkStore;
  readonly #codec: DeltaCodec;
  readonly #readElsewhere: (numbers: NumberSet) => AsyncIterable<[ObjectNumber, WholeObject]>;
  readonly #delta = new Uint8Array(MAX_DELTA_BYTES);
  #before = new Map<ObjectNumber, ByteRange>();
  #group = new Map<ObjectNumber, ByteRange>();
  /** Offset of the next object. */
  #at = 0;
  /** Whether the group takes more than one half of the memory. */
  #isLarge = false;

  /** @param readElsewhere reads objects whose delta bases are not here */
  constructor(
    tables: PlaceTables,
    store: ChunkStore,
    codec: DeltaCodec,
    readElsewhere: (numbers: NumberSet) => AsyncIterable<[ObjectNumber, WholeObject]>,
  ) {
    this.#tables = tables;
    this.#store = store;
    this.#codec = codec;
    this.#readElsewhere = readElsewhere;
    const bytes = new Uint8Array(2 * GROUP_BYTES);
    this.memory = { bytes, view: new DataView(bytes.buffer) };
  }

  /** Finds the place of an object's content; undefined: it is not in memory. */
  find(number: ObjectNumber): ByteRange | undefined {
    return this.#group.get(number) ?? this.#before.get(number);
  }

  /** Reads a group of objects.
   * @param numbers at most `GROUP_BYTES` in all, or twice that, which overwrites the group before
   * @param rest called between steps of some milliseconds
   * @throws GitError "storage-failed", "corrupt-pack"; RangeError when they are too large */
  async read(numbers: NumberSet, rest: () => Promise<void>): Promise<void> {
    const rows = this.#tables.objects.locate(numbers);
    this.#begin(rows.size.reduce((sum, size) => sum + size, 0));
    await this.#putFromElsewhere(this.#findLost(rows, numbers));
    const entries = new Entries(this.#tables, this.#store, rows);
    try {
      await this.#putRows(rows, entries, rest);
    } finally {
      entries.release();
    }
  }

  async #putRows(rows: ObjectColumns, entries: Entries, rest: () => Promise<void>): Promise<void> {
    for (let i = 0; i < rows.number.length; i++) {
      if (i % OBJECTS_PER_STEP === 0) await rest();
      const number = rows.number[i]!;
      if (this.find(number) !== undefined) continue;
      const entry = entries.inMemory(i) ?? (await entries.read(i));
      const base = rows.base[i] === 0 ? null : this.find(rows.base[i]!)!;
      const content = this.#make(entry, base, rows.size[i]!);
      if (content === null) await this.#putFromElsewhere(NumberSet.of(number));
      else this.#put(number, content);
    }
  }

  /** Chooses the half of the memory that the group before does not need. */
  #begin(groupBytes: number): void {
    if (groupBytes > this.memory.bytes.length) throw new RangeError(`${groupBytes} bytes are too many for a group`);
    const wasLarge = this.#isLarge;
    this.#isLarge = groupBytes > GROUP_BYTES;
    this.#before = this.#isLarge || wasLarge ? new Map() : this.#group;
    this.#group = new Map();
    this.#at = this.#isLarge || this.#at > GROUP_BYTES ? 0 : GROUP_BYTES;
  }

  /** Finds the objects whose delta bases are neither in memory nor earlier in the group. */
  #findLost({ number, base }: ObjectColumns, numbers: NumberSet): NumberSet {
    const isLost = (one: ObjectNumber, i: number): boolean => {
      const from = base[i]!;
      return from !== 0 && this.find(from) === undefined && (from > one || !numbers.has(from));
    };
    return NumberSet.fromSorted(number.filter((one, i) => isLost(one, i) && this.find(one) === undefined));
  }

  async #putFromElsewhere(numbers: NumberSet): Promise<void> {
    for await (const [number, { bytes }] of this.#readElsewhere(numbers)) this.#put(number, bytes);
  }

  /** Puts an object's content at the next offset.
   * @param content is mostly there already */
  #put(number: ObjectNumber, content: Uint8Array): void {
    const { bytes } = this.memory;
    const { length } = content;
    if (content.buffer !== bytes.buffer) bytes.set(content, this.#at);
    this.#group.set(number, { start: this.#at, length });
    this.#at += length;
  }

  /** Makes an object from its entry.
   * @returns null: its delta is too large */
  #make(entry: Uint8Array, base: ByteRange | null, sizeBytes: number): Uint8Array | null {
    const { bytes } = this.memory;
    const head = decodeEntryHead(entry);
    const stream = entry.subarray(head.dataOffset);
    const target = bytes.subarray(this.#at, this.#at + sizeBytes);
    if (base === null) return this.#codec.inflate(stream, head.sizeBytes, target).content;
    if (head.sizeBytes > MAX_DELTA_BYTES) return null;
    const delta = this.#codec.inflate(stream, head.sizeBytes, this.#delta).content;
    return this.#codec.applyDelta(bytes.subarray(base.start, base.start + base.length), delta, target);
  }
}

/** The stored entries of objects. The chunk of the last one stays in memory until its release. */
class Entries {
  readonly #tables: PlaceTables;
  readonly #store: ChunkStore;
  readonly #rows: ObjectColumns;
  readonly #chunks: ReadonlyMap<ChunkId, ChunkRow>;
  #chunk: ChunkId = 0;
  #held: HeldExtent | null = null;

  constructor(tables: PlaceTables, store: ChunkStore, rows: ObjectColumns) {
    this.#tables = tables;
    this.#store = store;
    this.#rows = rows;
    this.#chunks = new Map(tables.chunks.byIds(rows.chunk).map((row) => [row.id, row]));
  }

  /** Finds the entry of row `i`; null: it is not in memory. */
  inMemory(i: number): Uint8Array | null {
    const { chunk, offset, length } = this.#rows;
    if (this.#held === null || chunk[i] !== this.#chunk) return null;
    return this.#held.bytes.subarray(offset[i]!, offset[i]! + length[i]!);
  }

  /** Reads the entry of row `i`, and its chunk if it is small enough. */
  async read(i: number): Promise<Uint8Array> {
    const { chunk, offset, length } = this.#rows;
    const row = this.#chunks.get(chunk[i]!)!;
    const extent = extentOf(this.#tables.chunks, row);
    if (row.size > WHOLE_READ_BYTES) return readExtent(this.#store, extent, offset[i]!, length[i]!);
    this.release();
    this.#held = await holdExtent(this.#store, extent);
    this.#chunk = row.id;
    return this.inMemory(i)!;
  }

  /** Releases the chunk in memory. */
  release(): void {
    this.#held?.release();
    this.#held = null;
  }
}
