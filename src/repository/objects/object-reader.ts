import type { Column } from "../../format/kinds.ts";
import type { ObjectNumber } from "../../store/numbers/kinds.ts";
import { concatOids, type Oid, OID_BYTES } from "../../format/oid.ts";
import { isTreeMode, parseTree, type TreeEntry, typeOfMode } from "../../format/tree.ts";
import type { ChunkStore } from "../../store/chunks/chunk-store.ts";
import type { ChunkTable } from "../../store/index/chunk-table.ts";
import { NumberSet } from "../../store/numbers/number-set.ts";
import type { ObjectIndex } from "../../store/index/object-index.ts";
import { type EntryWord, toEntryWord, type TreeTable } from "../../store/index/tree-table.ts";
import { ISOLATE_MEMORY, type MemoryBudget } from "../pacing/memory-budget.ts";
import { DeltaChains, type DeltaCodec, type WholeObject } from "../pack-bytes/delta-chains.ts";
import { collectChains } from "../pack/collect-chains.ts";
import { HeldObjects } from "./held-objects.ts";
import { PackDraft } from "../pack/pack-draft.ts";

/** Objects whose delta chains are resolved at a time. */
const SLICE_OBJECTS = 2_000;

/** The tables that say where objects are stored. */
export interface ObjectTables {
  readonly objects: ObjectIndex;
  readonly chunks: ChunkTable;
  readonly trees: TreeTable;
}

/** A tree as it was read. */
export interface NamedTree {
  readonly number: ObjectNumber;
  readonly entries: readonly TreeEntry[];
  /** Object number of each entry, 0 for a gitlink. */
  readonly numbers: Column<ObjectNumber>;
}

/** An entry of a tree. */
export interface EntryPlace {
  readonly oid: Oid;
  /** Object number of the tree. */
  readonly tree: ObjectNumber;
  /** Its index among the tree's entries without gitlinks. */
  readonly index: number;
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
   * @throws GitError "storage-failed", "corrupt-pack" when the stored bytes are not those that were
   * checked */
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

  /** The sizes of objects (bytes), by their numbers. */
  sizes(numbers: NumberSet): ReadonlyMap<ObjectNumber, number> {
    const { number, size } = this.#tables.objects.locate(numbers);
    return new Map(Array.from(number, (one, i) => [one, size[i]!]));
  }

  /** The object numbers of entries of trees; 0 where the object is not here. */
  findEntries(entries: readonly EntryPlace[]): Column<ObjectNumber> {
    return this.#tables.objects.lookupMany(concatOids(entries.map(({ oid }) => oid))).number;
  }

  /** Reads the first bytes of objects, in the order of their numbers.
   * @param sizes of the objects (bytes)
   * @param mayResolve whether a large delta may be resolved, at a cost of so many bytes
   * @yields null for one that is not read for this reason
   * @throws GitError as `read` */
  readHeads(
    numbers: NumberSet,
    sizes: ArrayLike<number>,
    headBytes: number,
    mayResolve: (costBytes: number) => boolean,
  ): AsyncGenerator<[number: ObjectNumber, head: Uint8Array | null], void, void> {
    return this.#each(numbers, (chains, row, i) => chains.head(row, sizes[i]!, headBytes, mayResolve));
  }

  /** Prepares to read objects in groups: memory of some megabytes. */
  hold(): HeldObjects {
    return new HeldObjects(this.#tables, this.#chunks, this.#codec, (numbers) => this.readEach(numbers));
  }

  /** Reads objects into a buffer that is reused: each is valid only until the next is requested.
   * @see DeltaChains.lend */
  lendEach(numbers: NumberSet): AsyncGenerator<[number: ObjectNumber, object: WholeObject], void, void> {
    return this.#each(numbers, (chains, row) => chains.lend(row));
  }

  /** @param resolve gets the index of each object among them */
  async *#each<Read>(
    numbers: NumberSet,
    resolve: (chains: DeltaChains, row: number, i: number) => Promise<Read>,
  ): AsyncGenerator<[number: ObjectNumber, read: Read], void, void> {
    const all = numbers.toArray();
    for (let from = 0; from < all.length; from += SLICE_OBJECTS) {
      const slice = Array.from(all.subarray(from, from + SLICE_OBJECTS));
      const draft = new PackDraft(this.#tables.chunks);
      const { chains: rows, undeltified } = collectChains(this.#tables.objects, draft, slice);
      const plan = draft.finish(slice.length, rows, undeltified);
      const chains = new DeltaChains(plan, this.#chunks, this.#codec, this.#memory);
      for (const [i, number] of slice.entries()) yield [number, await resolve(chains, undeltified[i]!, from + i)];
    }
  }

  /** The objects that trees name, without gitlinks, as words of table `trees`. Trees missing there
   * are read and added.
   * @throws GitError as `read` */
  async readEntries(trees: NumberSet): Promise<Map<ObjectNumber, Column<EntryWord>>> {
    const found = this.#tables.trees.find(trees);
    const unknown = NumberSet.fromSorted(trees.toArray().filter((tree) => !found.has(tree)));
    const read: [ObjectNumber, Column<EntryWord>][] = [];
    for await (const { number, entries, numbers } of this.readTrees(unknown)) {
      const words = entries.map(({ mode }, i) => toEntryWord(numbers[i]!, isTreeMode(mode)));
      read.push([number, Uint32Array.from(words.filter((_, i) => numbers[i] !== 0))]);
    }
    this.#tables.trees.insert(read);
    for (const [tree, words] of read) found.set(tree, words);
    return found;
  }

  /** Reads trees with their entries' names.
   * @throws GitError as `read` */
  async *readTrees(trees: NumberSet): AsyncGenerator<NamedTree, void, void> {
    let batch: { number: ObjectNumber; entries: TreeEntry[] }[] = [];
    let ids = 0;
    for await (const [number, { bytes }] of this.readEach(trees)) {
      const entries = parseTree(bytes);
      batch.push({ number, entries });
      ids += entries.length;
      if (ids < SLICE_OBJECTS) continue;
      yield* this.#findNumbers(batch, ids);
      batch = [];
      ids = 0;
    }
    yield* this.#findNumbers(batch, ids);
  }

  *#findNumbers(trees: readonly { number: ObjectNumber; entries: TreeEntry[] }[], ids: number): Generator<NamedTree> {
    const oids = new Uint8Array(ids * OID_BYTES);
    let at = 0;
    for (const { entries } of trees) for (const { oid } of entries) oids.set(oid, OID_BYTES * at++);
    const found = this.#tables.objects.lookupMany(oids).number;
    at = 0;
    for (const { number, entries } of trees) {
      const numbers = found.slice(at, at + entries.length);
      // The commit of a gitlink may exist here by chance, but is not part of the tree.
      entries.forEach(({ mode }, i) => {
        if (typeOfMode(mode) === "commit") numbers[i] = 0;
      });
      yield { number, entries, numbers };
      at += entries.length;
    }
  }
}
