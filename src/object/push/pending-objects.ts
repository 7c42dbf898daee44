import type { Column } from "../../base/format/kinds.ts";
import { NO_INDEX, type PackEntry, type PackIndex, type PackNode, STORED } from "../../base/codec/pack-index.ts";
import { checkLimit } from "../../base/format/limits.ts";
import { COMMIT, TAG } from "../../base/format/object.ts";
import { equalOids, type Oid } from "../../base/format/oid.ts";
import type { ChunkStore } from "../../base/chunks/chunk-store.ts";
import type { GraphPosition, ObjectNumber } from "../../base/numbers/kinds.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { Tables } from "../store/tables.ts";
import { type EntryPlace, ObjectReader } from "../objects/object-reader.ts";
import { DeltaChains, type DeltaCodec } from "../../base/bytes/delta-chains.ts";
import { collectChains } from "../pack/collect-chains.ts";
import { PackDraft } from "../pack/pack-draft.ts";
import type { Extent } from "../../base/bytes/pack-plan.ts";
import {
  chainBase,
  chainCount,
  chainExtent,
  chainLength,
  chainOffset,
  chainRow,
  NO_BASE,
} from "../../base/bytes/plan-rows.ts";
import type { WrittenChunk } from "./chunk-writer.ts";
import type { PushedObjects } from "./pushed-objects.ts";

/** The largest commit or tree that is read (bytes): the push has no memory reserved for more. */
const MAX_READ_BYTES = 4 * 1024 * 1024;

/** A commit or tag, as the graph will have it. */
export interface PendingNode {
  readonly type: number;
  /** A commit's parents, a tag's target. */
  readonly next: readonly ObjectNumber[];
  /** Of a commit; 0 of a tag. */
  readonly tree: ObjectNumber;
  readonly timeSeconds: number;
}

/** The objects of a push that has not been applied, beside those that are stored: by the numbers
 * that they would get. */
export class PendingObjects {
  readonly #tables: Tables;
  readonly #pushed: PushedObjects;
  readonly #written: readonly WrittenChunk[];
  readonly #stored: ObjectReader;
  /** The chains of entries that have been read, and their rows. Its first extents are the written
   * chunks. */
  readonly #plan: { readonly extents: Extent[]; readonly chains: number[] };
  readonly #rows = new Map<PackEntry, number>();
  readonly #deltas: DeltaChains;

  constructor(
    tables: Tables,
    { pushed, written }: { readonly pushed: PushedObjects; readonly written: readonly WrittenChunk[] },
    chunks: ChunkStore,
    codec: DeltaCodec,
  ) {
    this.#tables = tables;
    this.#pushed = pushed;
    this.#written = written;
    this.#plan = { extents: written.map(toExtent), chains: [] };
    this.#deltas = new DeltaChains(this.#plan, chunks, codec, null);
    this.#stored = new ObjectReader(tables, chunks, codec, null);
  }

  /** What the graph has of an object, or would have; null: it is no commit or tag. */
  node(number: ObjectNumber): PendingNode | null {
    const entry = this.#entryOf(number);
    if (entry !== null) {
      const type = this.#index.kind(entry);
      if (type !== COMMIT && type !== TAG) return null;
      const packNode = this.#index.nodeOf(entry);
      const named = this.#pushed.references(packNode).map((one) => this.#index.number(one));
      const timeSeconds = this.#pushed.time(packNode);
      if (type === TAG) return { type, next: named, tree: 0, timeSeconds };
      return { type, next: named.slice(1), tree: named[0]!, timeSeconds };
    }
    const { graph, objects } = this.#tables;
    const position = graph.position(number);
    const type = objects.locate(NumberSet.of(number)).type[0]!;
    if (position < 0 || (type !== COMMIT && type !== TAG)) return null;
    const next = Array.from(graph.parents(position as GraphPosition), (parent) => graph.number(parent));
    const tree = graph.tree(position as GraphPosition);
    const timeSeconds = graph.time(position as GraphPosition);
    // A tag of a tree or blob has that as its tree.
    return type === TAG && next.length === 0
      ? { type, next: [tree], tree: 0, timeSeconds }
      : { type, next, tree, timeSeconds };
  }

  oid(number: ObjectNumber): Oid {
    return this.#pushed.freshOid(number) ?? this.#tables.objects.locate(NumberSet.of(number)).oid;
  }

  /** The size of an object (bytes). */
  sizeBytes(number: ObjectNumber): number {
    const entry = this.#entryOf(number);
    return entry === null ? this.#tables.objects.locate(NumberSet.of(number)).size[0]! : this.#index.size(entry);
  }

  /** Reads a commit.
   * @throws GitError "too-large", "storage-failed" */
  async read(number: ObjectNumber): Promise<Uint8Array> {
    for await (const [, bytes] of this.readContents(NumberSet.of(number))) return bytes;
    throw new RangeError(`object ${number} was not read`);
  }

  /** The sizes of objects (bytes), by their numbers. */
  sizes(numbers: NumberSet): ReadonlyMap<ObjectNumber, number> {
    return new Map(Array.from(numbers.toArray(), (number) => [number, this.sizeBytes(number)]));
  }

  /** The object numbers of entries of trees. The index has those of a fresh tree in order. */
  findEntries(entries: readonly EntryPlace[]): Column<ObjectNumber> {
    const numbers = new Uint32Array(entries.length);
    const stored: number[] = [];
    const named = new Map<ObjectNumber, readonly PackNode[]>();
    for (const [i, { tree, index, oid }] of entries.entries()) {
      const entry = this.#entryOf(tree);
      if (entry === null) {
        stored.push(i);
        continue;
      }
      const nodes = named.get(tree) ?? this.#pushed.references(this.#index.nodeOf(entry));
      named.set(tree, nodes);
      const packNode = nodes[index];
      // A gitlink's commit is no reference.
      if (packNode !== undefined && equalOids(this.#pushed.oid(packNode), oid))
        numbers[i] = this.#index.number(packNode);
    }
    const found = this.#stored.findEntries(stored.map((i) => entries[i]!));
    for (const [at, i] of stored.entries()) numbers[i] = found[at]!;
    return numbers;
  }

  /** Reads the contents of commits and trees.
   * @throws GitError "too-large", "storage-failed" */
  async *readContents(numbers: NumberSet): AsyncGenerator<[number: ObjectNumber, bytes: Uint8Array], void, void> {
    for (const number of numbers.toArray()) this.#checkSize(number);
    const [stored, fresh] = this.#split(numbers);
    for await (const [number, { bytes }] of this.#stored.readEach(stored)) yield [number, bytes];
    const entries = Array.from(fresh.toArray(), (number) => this.#entryOf(number)!);
    this.#addChains(entries);
    for (const [i, number] of fresh.toArray().entries())
      yield [number, (await this.#deltas.resolve(this.#rows.get(entries[i]!)!)).bytes];
  }

  /** Adds the delta chains of entries of the pack, which may go on among stored objects. */
  #addChains(entries: readonly PackEntry[]): void {
    const { count } = this.#index;
    const { extents, chains } = this.#plan;
    const append = (...entry: Parameters<typeof chainRow>): void => {
      for (const word of chainRow(...entry)) chains.push(word);
    };
    const inPack = new Set<PackEntry>();
    const outside = new Set<PackEntry>();
    for (const entry of entries) {
      for (let at = entry; at !== NO_INDEX && !this.#rows.has(at) && !inPack.has(at); at = this.#baseOf(at))
        (at < count ? inPack : outside).add(at);
    }
    const draft = new PackDraft(this.#tables.chunks);
    const numbers = Array.from(outside, (entry) => this.#index.number(this.#index.nodeOf(entry)));
    const stored = collectChains(this.#tables.objects, draft, numbers);
    const [firstExtent, firstRow] = [extents.length, chainCount(chains)];
    for (const extent of draft.finish(0, stored.chains, stored.undeltified).extents) extents.push(extent);
    for (let row = 0; row < chainCount(stored.chains); row++) {
      const [extent, base] = [firstExtent + chainExtent(stored.chains, row), chainBase(stored.chains, row)];
      const [offset, length] = [chainOffset(stored.chains, row), chainLength(stored.chains, row)];
      append(extent, offset, length, base === NO_BASE ? NO_BASE : firstRow + base);
    }
    for (const [i, entry] of [...outside].entries()) this.#rows.set(entry, firstRow + stored.undeltified[i]!);
    for (const [i, entry] of [...inPack].entries()) this.#rows.set(entry, chainCount(chains) + i);
    for (const entry of inPack) {
      const { chunk, offset, length } = this.#place(entry);
      const base = this.#baseOf(entry);
      append(chunk, offset, length, base === NO_INDEX ? NO_BASE : this.#rows.get(base)!);
    }
  }

  /** The delta base of an entry; `NO_INDEX`: it is stored whole, or elsewhere. */
  #baseOf(entry: PackEntry): PackEntry {
    const { count } = this.#index;
    return entry >= count || this.#index.stored(entry) === STORED.made ? NO_INDEX : this.#index.base(entry);
  }

  /** Where an entry is written. */
  #place(entry: PackEntry): { chunk: number; offset: number; length: number } {
    const { end, made, count } = this.#index;
    const offset = made.get(entry)?.offset ?? this.#index.offset(entry);
    const length = made.get(entry)?.length ?? (entry + 1 < count ? this.#index.offset(entry + 1) : end) - offset;
    const chunk = this.#written.findIndex(
      ({ packOffset, sizeBytes }) => offset >= packOffset && offset < packOffset + sizeBytes,
    );
    return { chunk, offset: offset - this.#written[chunk]!.packOffset, length };
  }

  #checkSize(number: ObjectNumber): void {
    checkLimit("a commit or tree (bytes)", MAX_READ_BYTES, this.sizeBytes(number));
  }

  #split(numbers: NumberSet): [stored: NumberSet, fresh: NumberSet] {
    const isStored = (number: ObjectNumber): boolean => number < this.#pushed.firstNumber;
    const all = numbers.toArray();
    return [NumberSet.fromSorted(all.filter(isStored)), NumberSet.fromSorted(all.filter((one) => !isStored(one)))];
  }

  /** The entry of a fresh object; null: it is stored. */
  #entryOf(number: ObjectNumber): PackEntry | null {
    const { firstNumber } = this.#pushed;
    return number < firstNumber ? null : this.#index.fresh(number - firstNumber);
  }

  get #index(): PackIndex {
    return this.#pushed.index;
  }
}

function toExtent({ key, bytes, sizeBytes, checksum }: WrittenChunk): Extent {
  return key === null ? { bytes: bytes! } : { key, start: 0, length: sizeBytes, checksum };
}
