// The indexer's tables as JavaScript reads them: rows where they lie in the module's memory, by
// pages (wasm/src/indexer/pages.zig). A page that is out is read back when it is asked for.
import { OID_BYTES } from "../format/oid.ts";
import { COMMIT } from "../format/object.ts";
import { type IndexerExports, PAGE_BYTES } from "./indexer-instance.ts";
import { type MadeEntry, NO_INDEX, type PackEntry, type PackIndex, type PackNode } from "./pack-index.ts";

/** Numbers of the tables. */
const SPACE = { entries: 1, nodes: 2, log: 3, runs: 4 } as const;

/** Flags of a page. */
const USED = 1;
const CHANGED = 2;

/** Words of an `Entry` (entries.zig), and places in it. */
const ENTRY_WORDS = 8;
const OFFSET_LOW = 0;
/** In its lower half; above it the depth. */
const OFFSET_HIGH = 1;
const SIZE = 2;
const BASE = 3;
/** Node, 24 bits; kind and how it is stored, four each. */
const IS = 4;
const EDGES = 5;
const LINK = 6;
const CHILD = 7;

/** The same of a `Node` (nodes.zig). */
const NODE_WORDS = 7;
/** Entry, 25 bits; flags. */
const HAS = 5;
const NODE_CHILD = 6;

const NO_NODE = 0xff_ffff;
const NO_ENTRY = 0x1ff_ffff;
const WIDE_SIZE = 0xffff_ffff;

/** Words of a `Wide` (entries.zig): entry, none, size low and high. */
export const WIDE_WORDS = 4;

/** The same of a `Run` (edges.zig): its address, the memo. */
const RUN_WORDS = 2;
const MEMO = 1;

/** The pages of one table. */
class Space {
  readonly #exports: IndexerExports;
  readonly #number: number;
  #words = new Uint32Array(0);
  #bytes = new Uint8Array(0);
  /** Where the table of pages and that of their flags are, in words and bytes. */
  #pages = 0;
  #flags = 0;

  constructor(exports: IndexerExports, number: number) {
    this.#exports = exports;
    this.#number = number;
  }

  /** Follows what the module has changed. */
  sync(): void {
    const { buffer } = this.#exports.memory;
    if (this.#words.buffer !== buffer) {
      this.#words = new Uint32Array(buffer);
      this.#bytes = new Uint8Array(buffer);
    }
    this.#pages = this.#exports.indexer_pages(this.#number) >>> 2;
    this.#flags = this.#exports.indexer_page_flags(this.#number);
  }

  /** The memory's words. */
  get words(): Uint32Array {
    return this.#words;
  }

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Address of a page, in bytes. */
  page(page: number): number {
    // A memory that grew for another table's page has left this view empty.
    if (this.#bytes.length === 0) this.sync();
    const address = this.#words[this.#pages + page]!;
    if (address === 0) {
      const fetched = this.#exports.indexer_page(this.#number, page);
      this.sync();
      return fetched;
    }
    this.#bytes[this.#flags + page]! |= USED;
    return address;
  }

  /** The same of a page that is about to be changed. */
  changedPage(page: number): number {
    const address = this.page(page);
    this.#bytes[this.#flags + page]! |= CHANGED;
    return address;
  }
}

/** The rows of one table. */
class Rows {
  readonly #space: Space;
  readonly #words: number;
  readonly #perPage: number;

  constructor(space: Space, words: number) {
    this.#space = space;
    this.#words = words;
    this.#perPage = Math.floor(PAGE_BYTES / (4 * words));
  }

  sync(): void {
    this.#space.sync();
  }

  /** Word `k` of a row. */
  get(row: number, k: number): number {
    const page = Math.floor(row / this.#perPage);
    const address = this.#space.page(page);
    return this.#space.words[(address >>> 2) + (row - page * this.#perPage) * this.#words + k]!;
  }

  set(row: number, k: number, value: number): void {
    const page = Math.floor(row / this.#perPage);
    const address = this.#space.changedPage(page);
    this.#space.words[(address >>> 2) + (row - page * this.#perPage) * this.#words + k] = value;
  }

  /** Copies bytes of a row. */
  copy(row: number, length: number, into: Uint8Array, at: number): void {
    const page = Math.floor(row / this.#perPage);
    const address = this.#space.page(page) + 4 * (row - page * this.#perPage) * this.#words;
    const { bytes } = this.#space;
    for (let i = 0; i < length; i++) into[at + i] = bytes[address + i]!;
  }
}

/** A varint is read in pieces of seven bits. */
const VARINT_BITS = 7;

/** The second word of an open list: its level in two bits, whether none of it was read yet, and how
 * many words are left. */
const LEVEL = 3;
const IS_UNREAD = 4;
const ONE_LEFT = 8;

/** The index of a pack, over the module's memory. */
export class PackPages implements PackIndex {
  count = 0;
  end = 0;
  nodeCount = 0;
  referenceCount = 0;
  runCount = 0;
  pointers: Uint32Array = new Uint32Array(0);
  readonly made: ReadonlyMap<PackEntry, MadeEntry>;
  readonly #entries: Rows;
  readonly #nodes: Rows;
  readonly #runs: Rows;
  readonly #log: Space;
  /** Sizes that take more than 32 bits. */
  #wide: Uint32Array = new Uint32Array(0);
  /** Where `#varint` reads. */
  #at = 0;

  constructor(exports: IndexerExports, made: ReadonlyMap<PackEntry, MadeEntry>) {
    this.made = made;
    this.#entries = new Rows(new Space(exports, SPACE.entries), ENTRY_WORDS);
    this.#nodes = new Rows(new Space(exports, SPACE.nodes), NODE_WORDS);
    this.#runs = new Rows(new Space(exports, SPACE.runs), RUN_WORDS);
    this.#log = new Space(exports, SPACE.log);
  }

  /** Follows what the module has changed.
   * @param wide `Entries.wide` */
  sync(wide: Uint32Array): void {
    for (const table of [this.#entries, this.#nodes, this.#runs, this.#log]) table.sync();
    this.#wide = wide;
  }

  offset(entry: PackEntry): number {
    return (this.#entries.get(entry, OFFSET_HIGH) & 0xffff) * 2 ** 32 + this.#entries.get(entry, OFFSET_LOW);
  }

  size(entry: PackEntry): number {
    const size = this.#entries.get(entry, SIZE);
    if (size !== WIDE_SIZE) return size;
    let at = this.#wide.length - WIDE_WORDS;
    while (this.#wide[at] !== entry) at -= WIDE_WORDS;
    return this.#wide[at + 3]! * 2 ** 32 + this.#wide[at + 2]!;
  }

  base(entry: PackEntry): PackEntry {
    return this.#entries.get(entry, BASE);
  }

  nodeOf(entry: PackEntry): PackNode {
    const node = this.#entries.get(entry, IS) & NO_NODE;
    return node === NO_NODE ? NO_INDEX : node;
  }

  kind(entry: PackEntry): number {
    return (this.#entries.get(entry, IS) >>> 24) & 15;
  }

  stored(entry: PackEntry): number {
    return this.#entries.get(entry, IS) >>> 28;
  }

  time(entry: PackEntry): number {
    this.#at = this.#entries.get(entry, EDGES);
    if (this.#at === 0 || this.kind(entry) !== COMMIT) return 0;
    this.#varint();
    return this.#varint();
  }

  entryOf(node: PackNode): PackEntry {
    const entry = this.#nodes.get(node, HAS) & NO_ENTRY;
    return entry === NO_ENTRY ? NO_INDEX : entry;
  }

  flags(node: PackNode): number {
    return this.#nodes.get(node, HAS) >>> 25;
  }

  oids(from: PackNode, end: PackNode): Uint8Array {
    const oids = new Uint8Array((end - from) * OID_BYTES);
    for (let node = from; node < end; node++) this.#nodes.copy(node, OID_BYTES, oids, (node - from) * OID_BYTES);
    return oids;
  }

  copyOid(node: PackNode, into: Uint8Array, at: number): void {
    this.#nodes.copy(node, OID_BYTES, into, at);
  }

  openList(entry: PackEntry, words: Uint32Array, at: number): number {
    const address = this.#entries.get(entry, EDGES);
    if (address === 0) return this.#open(0, 0, words, at);
    this.#at = address;
    const head = this.#varint();
    if (this.kind(entry) === COMMIT) this.#varint();
    return this.#open(this.#at, head, words, at);
  }

  openRun(run: number, words: Uint32Array, at: number): number {
    this.#at = this.#runs.get(run, 0);
    const head = this.#varint();
    return this.#open(this.#at, head, words, at);
  }

  #open(address: number, head: number, words: Uint32Array, at: number): number {
    words[at] = address;
    const level = head & LEVEL;
    words[at + 1] = Math.floor(head / 4) * ONE_LEFT + IS_UNREAD + level;
    words[at + 2] = 0;
    return level;
  }

  level(words: Uint32Array, at: number): number {
    return words[at + 1]! & LEVEL;
  }

  next(words: Uint32Array, at: number): number {
    const left = words[at + 1]!;
    if (left < ONE_LEFT) return -1;
    this.#at = words[at]!;
    const value = this.#varint();
    // The first word is as it is, each other one a difference, zigzag.
    const word = (left & IS_UNREAD) === 0 ? (words[at + 2]! + ((value >>> 1) ^ -(value & 1))) >>> 0 : value;
    words[at] = this.#at;
    words[at + 1] = ((left & ~IS_UNREAD) >>> 0) - ONE_LEFT;
    words[at + 2] = word;
    return word;
  }

  #varint(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const page = Math.floor(this.#at / PAGE_BYTES);
      const address = this.#log.page(page) - page * PAGE_BYTES;
      const { bytes } = this.#log;
      const end = (page + 1) * PAGE_BYTES;
      while (this.#at < end) {
        const byte = bytes[address + this.#at++]!;
        value += (byte & 0x7f) * scale;
        if (byte < 0x80) return value;
        scale *= 2 ** VARINT_BITS;
      }
    }
  }

  number(node: PackNode): number {
    return this.#nodes.get(node, NODE_CHILD);
  }

  setNumber(node: PackNode, value: number): void {
    this.#nodes.set(node, NODE_CHILD, value);
  }

  introducer(entry: PackEntry): number {
    return this.#entries.get(entry, CHILD);
  }

  setIntroducer(entry: PackEntry, value: number): void {
    this.#entries.set(entry, CHILD, value);
  }

  fresh(i: number): PackEntry {
    return this.#entries.get(i, LINK);
  }

  setFresh(i: number, value: PackEntry): void {
    this.#entries.set(i, LINK, value);
  }

  memo(run: number): number {
    return this.#runs.get(run, MEMO);
  }

  setMemo(run: number, value: number): void {
    this.#runs.set(run, MEMO, value);
  }
}
