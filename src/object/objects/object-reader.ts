import type { Column } from "../../base/format/kinds.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { concatOids, type Oid, OID_BYTES } from "../../base/format/oid.ts";
import { typeOfMode } from "../../base/format/tree.ts";
import { countEntries, TreeCursor } from "../../base/format/tree-cursor.ts";
import type { ChunkStore } from "../../base/chunks/chunk-store.ts";
import type { ChunkTable } from "../store/index/chunk-table.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { ObjectIndex } from "../store/index/object-index.ts";
import { type EntryWord, toEntryWord, type TreeTable } from "../store/index/tree-table.ts";
import { ISOLATE_MEMORY, type MemoryBudget } from "../../base/pacing/memory-budget.ts";
import { DeltaChains, type DeltaCodec, type WholeObject } from "../../base/bytes/delta-chains.ts";
import { TimeSlice } from "../../base/pacing/time-slice.ts";
import { collectChains } from "../pack/collect-chains.ts";
import { HeldObjects } from "./held-objects.ts";
import { PackDraft } from "../pack/pack-draft.ts";
import type { PackPlan } from "../../base/bytes/pack-plan.ts";

/** Number of objects whose delta chains are resolved at a time. */
const SLICE_OBJECTS = 2_000;

/** The tables with the stored places of objects. */
export interface ObjectTables {
  readonly objects: ObjectIndex;
  readonly chunks: ChunkTable;
  readonly trees: TreeTable;
}

/** Bytes of the trees that are walked together, unless a single one is larger. */
const GROUP_BYTES = 8 * 1024 * 1024;

/** Entries of a tree that are passed between two looks at the clock. */
const ENTRIES_PER_PAUSE = 256;

/** A tree that was read, with the numbers of its entries. */
export interface NamedTree {
  readonly number: ObjectNumber;
  readonly content: Uint8Array;
  /** Object number of each entry, 0 for a gitlink. */
  readonly numbers: Column<ObjectNumber>;
  /** Bytes of each entry's object, 0 for a gitlink. */
  readonly sizes: Float64Array;
}

/** An entry of a tree. */
export interface EntryPlace {
  readonly oid: Oid;
  /** Object number of the tree. */
  readonly tree: ObjectNumber;
  /** Index among the tree's entries without gitlinks. */
  readonly index: number;
}

/** Limit of the objects that are prepared at a time. */
export const MAX_PREPARED = SLICE_OBJECTS;

/** Objects whose places were looked up. */
export interface PreparedObjects {
  has(number: ObjectNumber): boolean;
  /** Reads one of the objects.
   * @throws GitError as `ObjectReader.read` */
  read(number: ObjectNumber): Promise<WholeObject>;
}

/** Reads stored objects whole. */
export class ObjectReader {
  readonly #tables: ObjectTables;
  readonly #chunks: ChunkStore;
  readonly #codec: DeltaCodec;

  readonly #memory: MemoryBudget | null;

  /** @param memory @see DeltaChains */
  constructor(
    tables: ObjectTables,
    chunks: ChunkStore,
    codec: DeltaCodec,
    memory: MemoryBudget | null = ISOLATE_MEMORY,
  ) {
    this.#memory = memory;
    this.#tables = tables;
    this.#chunks = chunks;
    this.#codec = codec;
  }

  /** Reads one object by its number.
   * @throws GitError "storage-failed", "corrupt-pack" when the stored bytes differ from the checked
   *   ones */
  async read(number: ObjectNumber): Promise<WholeObject> {
    for await (const [, object] of this.readEach(NumberSet.of(number))) return object;
    throw new RangeError(`object ${number} was not read`);
  }

  /** Reads objects in the order of their numbers. Memory: the caches of `DeltaChains` and one
   * object.
   * @throws GitError as `read` */
  readEach(numbers: NumberSet): AsyncGenerator<[number: ObjectNumber, object: WholeObject], void, void> {
    const isAlone = numbers.size === 1;
    return this.#each(numbers, (chains, row) => chains.resolve(row, isAlone));
  }

  /** Reads the contents of objects. @see readEach */
  async *readContents(numbers: NumberSet): AsyncGenerator<[number: ObjectNumber, content: Uint8Array], void, void> {
    for await (const [number, { bytes }] of this.readEach(numbers)) yield [number, bytes];
  }

  /** Finds the sizes of objects (bytes), by their numbers. */
  sizes(numbers: NumberSet): ReadonlyMap<ObjectNumber, number> {
    const { number, size } = this.#tables.objects.locate(numbers);
    return new Map(Array.from(number, (one, i) => [one, size[i]!]));
  }

  /** Finds the object numbers of entries of trees; 0: the object is not stored here. */
  findEntries(entries: readonly EntryPlace[]): Column<ObjectNumber> {
    return this.#tables.objects.lookupMany(concatOids(entries.map(({ oid }) => oid))).number;
  }

  /** Reads the first bytes of objects, in the order of their numbers.
   * @param sizes sizes of the objects (bytes)
   * @param mayResolve whether a large delta may be resolved, at a cost of this many bytes
   * @yields null for an object that `mayResolve` refused
   * @throws GitError as `read` */
  readHeads(
    numbers: NumberSet,
    sizes: ArrayLike<number>,
    headBytes: number,
    mayResolve: (costBytes: number) => boolean,
  ): AsyncGenerator<[number: ObjectNumber, head: Uint8Array | null], void, void> {
    return this.#each(numbers, (chains, row, i) => chains.head(row, sizes[i]!, headBytes, mayResolve));
  }

  /** Allocates memory of some megabytes for reading objects in groups. */
  hold(): HeldObjects {
    return new HeldObjects(this.#tables, this.#chunks, this.#codec, (numbers) => this.readEach(numbers));
  }

  /** Reads objects into a reused buffer: each is valid only until the next is requested.
   * @see DeltaChains.lend */
  lendEach(numbers: NumberSet): AsyncGenerator<[number: ObjectNumber, object: WholeObject], void, void> {
    return this.#each(numbers, (chains, row) => chains.lend(row));
  }

  /** Prepares to read objects one by one, in any order. Each chunk is read about once: entries that
   * are needed later are cached, within the limits of `DeltaChains`.
   * @param numbers at most `MAX_PREPARED`
   * @throws GitError "storage-failed" when an object or a chunk is missing */
  prepare(numbers: readonly ObjectNumber[]): PreparedObjects {
    const { plan, rows } = this.#plan(numbers);
    const chains = new DeltaChains(plan, this.#chunks, this.#codec, this.#memory, true);
    const rowOf = new Map(numbers.map((number, i) => [number, rows[i]!]));
    return { has: (number) => rowOf.has(number), read: (number) => chains.resolve(rowOf.get(number)!) };
  }

  /** Reads objects in slices.
   * @param resolve receives the index of each object among `numbers` */
  async *#each<Read>(
    numbers: NumberSet,
    resolve: (chains: DeltaChains, row: number, i: number) => Promise<Read>,
  ): AsyncGenerator<[number: ObjectNumber, read: Read], void, void> {
    const all = numbers.toArray();
    for (let from = 0; from < all.length; from += SLICE_OBJECTS) {
      const slice = Array.from(all.subarray(from, from + SLICE_OBJECTS));
      const { plan, rows } = this.#plan(slice);
      const chains = new DeltaChains(plan, this.#chunks, this.#codec, this.#memory);
      for (const [i, number] of slice.entries()) yield [number, await resolve(chains, rows[i]!, from + i)];
    }
  }

  /** Plans the delta chains of objects.
   * @returns the row of each object in the plan's `chains` */
  #plan(numbers: readonly ObjectNumber[]): { plan: PackPlan; rows: Uint32Array } {
    const draft = new PackDraft(this.#tables.chunks);
    const { chains, undeltified } = collectChains(this.#tables.objects, draft, numbers);
    return { plan: draft.finish(numbers.length, chains, undeltified), rows: undeltified };
  }

  /** Finds the objects that trees name, except gitlinks, as words of table `trees`. Trees missing
   * there are read and added.
   * @throws GitError as `read` */
  async readEntries(trees: NumberSet): Promise<Map<ObjectNumber, Column<EntryWord>>> {
    const found = this.#tables.trees.find(trees);
    const unknown = NumberSet.fromSorted(trees.toArray().filter((tree) => !found.has(tree)));
    const read: [ObjectNumber, Column<EntryWord>][] = [];
    for await (const { number, content, numbers } of this.readTrees(unknown)) {
      const words = new Uint32Array(numbers.length);
      let count = 0;
      let at = 0;
      for (const cursor = new TreeCursor(content); !cursor.isAtEnd; cursor.advance(), at++)
        if (numbers[at] !== 0) words[count++] = toEntryWord(numbers[at]!, cursor.isTree);
      read.push([number, words.slice(0, count)]);
    }
    this.#tables.trees.insert(read);
    for (const [tree, words] of read) found.set(tree, words);
    return found;
  }

  /** Divides trees into groups whose entries fit into memory together.
   * @param most limit of a group's trees */
  *divide(trees: NumberSet, most: number): Generator<NumberSet, void, void> {
    const { number, size } = this.#tables.objects.locate(trees);
    let [from, groupBytes] = [0, 0];
    for (let i = 0; i < number.length; i++) {
      if (i > from && (i - from === most || groupBytes + size[i]! > GROUP_BYTES)) {
        yield NumberSet.fromSorted(number.subarray(from, i));
        [from, groupBytes] = [i, 0];
      }
      groupBytes += size[i]!;
    }
    if (from < number.length) yield NumberSet.fromSorted(number.subarray(from));
  }

  /** Reads trees with their entries' names. Memory: some trees, and twelve bytes for each of their
   * entries.
   * @throws GitError as `read` */
  async *readTrees(trees: NumberSet): AsyncGenerator<NamedTree, void, void> {
    let batch: { number: ObjectNumber; content: Uint8Array; entries: number }[] = [];
    let ids = 0;
    for await (const [number, { bytes: content }] of this.readEach(trees)) {
      const entries = countEntries(content);
      batch.push({ number, content, entries });
      ids += entries;
      if (ids < SLICE_OBJECTS) continue;
      yield* this.#findNumbers(batch, ids);
      batch = [];
      ids = 0;
    }
    yield* this.#findNumbers(batch, ids);
  }

  async *#findNumbers(
    trees: readonly { number: ObjectNumber; content: Uint8Array; entries: number }[],
    ids: number,
  ): AsyncGenerator<NamedTree, void, void> {
    const numbers = new Uint32Array(ids);
    const sizes = new Float64Array(ids);
    const oids = new Uint8Array(Math.min(ids, SLICE_OBJECTS) * OID_BYTES);
    const slice = new TimeSlice();
    let [from, at] = [0, 0];
    const lookUp = (): void => {
      const { number, size } = this.#tables.objects.lookupMany(oids.subarray(0, (at - from) * OID_BYTES));
      numbers.set(number, from);
      sizes.set(size, from);
      from = at;
    };
    for (const { content } of trees) {
      for (const cursor = new TreeCursor(content); !cursor.isAtEnd; cursor.advance()) {
        const place = (at++ - from) * OID_BYTES;
        // Ignores a gitlink's commit: it may exist here by chance, but is not part of the tree.
        if (typeOfMode(cursor.mode) === "commit") oids.fill(0, place, place + OID_BYTES);
        else oids.set(cursor.oid, place);
        if (at - from === SLICE_OBJECTS) lookUp();
        if (at % ENTRIES_PER_PAUSE === 0) await slice.pause();
      }
    }
    lookUp();
    at = 0;
    for (const { number, content, entries } of trees) {
      const end = at + entries;
      yield { number, content, numbers: numbers.subarray(at, end), sizes: sizes.subarray(at, end) };
      at = end;
    }
  }
}
