// Instances of the module that index packs: what they export, and the pool of those that wait
// between two packs.
import type { PackEntry } from "./pack-index.ts";

/** Copies stored bytes of the pack from `offset` into `out` if they are in memory. Returns how
 * many; 0: none. */
export type ReadBack = (offset: number, out: Uint8Array) => number;

/** Keeps the pages of a pack's tables that memory does not take, until the pack's end. */
export interface PageStore {
  /** Keeps a page, in place of an older one of the key.
   * @param page valid during the call */
  put(key: number, page: Uint8Array): void;
  /** Copies a page that is kept into `page`. */
  get(key: number, page: Uint8Array): void;
}

/** Bytes of a page. */
export const PAGE_BYTES = 8 * 1024;

/** What `wasm/src/indexer_exports.zig` exports. */
export interface IndexerExports {
  memory: WebAssembly.Memory;
  indexer_begin(
    windowBytes: number,
    ringBytes: number,
    maxObjects: number,
    maxReferences: number,
    maxTableBytes: number,
    maxResidentBytes: number,
    maxBlobBytes: number,
    freeContentBytes: number,
    maxObjectBytes: number,
    maxWorkBytes: number,
    sliceBytes: number,
    maxDeltaDepth: number,
    streamThresholdBytes: number,
    refused: bigint,
  ): number;
  indexer_room(): number;
  indexer_step(length: number): number;
  indexer_finish(): number;
  indexer_allow(maxBlobBytes: number): void;
  indexer_external(node: number): number;
  indexer_supply(entry: PackEntry, type: number, sizeBytes: number): number;
  indexer_lack(entry: PackEntry): number;
  indexer_supply_outside(entry: number, sizeBytes: number): number;
  indexer_place_large(oid: number, sizeBytes: number): number;
  indexer_count_work(bytes: number): number;
  indexer_pages(space: number): number;
  indexer_page_flags(space: number): number;
  indexer_page(space: number, page: number): number;
  indexer_seal(): void;
  indexer_value(which: number): number;
}

/** What its functions return. */
export const STATUS = { ok: 0, refused: 1, needBytes: 2, needBase: 3, needLarge: 4, paused: 5, needMemory: 6 } as const;

/** Numbers of `Value` in indexer_exports.zig. */
export const VALUE = {
  inputBytes: 0,
  consumedAddress: 1,
  consumedBytes: 2,
  done: 3,
  declared: 4,
  packCount: 5,
  entryCount: 6,
  entriesEnd: 7,
  isPaused: 8,
  deferredCount: 9,
  nodeCount: 10,
  referenceCount: 11,
  neededEntry: 12,
  neededOffset: 13,
  neededLength: 14,
  neededDelta: 15,
  neededBase: 16,
  neededContent: 17,
  failureCode: 18,
  failureDetail: 19,
  failureOid: 20,
  failureOffset: 21,
  failureValue: 22,
  tableBytesLeft: 23,
  pointerCount: 24,
  pointers: 25,
  runCount: 26,
  wideCount: 27,
  wide: 28,
} as const;

/** An instance of the module, used for one pack after another. */
export class IndexerInstance {
  readonly exports: IndexerExports;
  readBack: ReadBack = () => 0;
  pages: PageStore | null = null;

  constructor(module: WebAssembly.Module) {
    const read_back = (offset: number, out: number, length: number): number =>
      this.readBack(offset, new Uint8Array(this.exports.memory.buffer, out, length));
    const page_out = (key: number, address: number): void => this.pages!.put(key, this.#page(address));
    const page_in = (key: number, address: number): void => this.pages!.get(key, this.#page(address));
    const { exports } = new WebAssembly.Instance(module, { holdfast: { read_back, page_out, page_in } });
    this.exports = exports as unknown as IndexerExports;
  }

  #page(address: number): Uint8Array {
    return new Uint8Array(this.exports.memory.buffer, address, PAGE_BYTES);
  }
}

/** Linear memory of an instance that a small pack may have. Linear memory never shrinks, and what is
 * dropped stands until garbage is collected, which may be minutes later. So one instance that grew
 * beyond this is kept for the next large pack. */
export const SMALL_INSTANCE_BYTES = 7 * 1024 * 1024;
const MAX_SMALL_IDLE = 4;

/** Instances not in use. */
const idle = new WeakMap<WebAssembly.Module, IndexerInstance[]>();

/** The instance that waits for the next large pack. It makes way for what needs its memory. */
let large: { readonly module: WebAssembly.Module; readonly instance: IndexerInstance } | null = null;

/** The memory of the large instance that waits. Like a cache, it can be dropped. */
export const IDLE_INDEXER = {
  /** Bytes; 0: none waits. */
  get sizeBytes(): number {
    return large === null ? 0 : bytesOf(large.instance);
  },
  /** Drops it if it is larger. */
  shrink(limitBytes: number): void {
    if (large !== null && bytesOf(large.instance) > limitBytes) large = null;
  },
};

/** Takes an instance that waits, or makes one.
 * @param isLarge whether it may be the large one: its pack has the memory for that */
export function takeInstance(module: WebAssembly.Module, isLarge: boolean): IndexerInstance {
  if (isLarge && large?.module === module) {
    const { instance } = large;
    large = null;
    return instance;
  }
  return idle.get(module)?.pop() ?? new IndexerInstance(module);
}

/** Has an instance wait for the next pack, unless enough do. */
export function returnInstance(module: WebAssembly.Module, instance: IndexerInstance): void {
  instance.readBack = () => 0;
  instance.pages = null;
  if (bytesOf(instance) > SMALL_INSTANCE_BYTES) {
    if (bytesOf(instance) > IDLE_INDEXER.sizeBytes) large = { module, instance };
    return;
  }
  const waiting = idle.get(module) ?? [];
  if (waiting.length < MAX_SMALL_IDLE) waiting.push(instance);
  idle.set(module, waiting);
}

function bytesOf({ exports }: IndexerInstance): number {
  return exports.memory.buffer.byteLength;
}
