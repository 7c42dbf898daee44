/** Drives the pack indexer of the WASM module, which `wasm/src/indexer` describes. One instance
 * indexes one pack at a time and owns its memory. */
import { GitError } from "../format/errors.ts";
import { OID_BYTES, toHex } from "../format/oid.ts";
import type { Limits } from "../format/configured-limits.ts";
import { MAX_DELTA_BLOB_BYTES, STREAM_THRESHOLD_BYTES } from "../format/limits.ts";
import {
  type IndexerExports,
  type IndexerInstance,
  type PageStore,
  type ReadBack,
  returnInstance,
  STATUS,
  takeInstance,
  VALUE,
} from "./indexer-instance.ts";
import { oidOf, POINTER_WORDS, type MadeEntry, type PackEntry, type PackIndex, type PackNode } from "./pack-index.ts";
import { PackPages, WIDE_WORDS } from "./pack-pages.ts";
import { explainRefusal } from "./pack-refusal.ts";

/** What `finish` needs before it can continue. */
export type IndexNeed =
  | { kind: "bytes"; offset: number; length: number }
  | { kind: "base"; entry: PackEntry; oid: Uint8Array }
  /** A delta whose base, result or instructions are too large for memory. `content` is the base's;
   * null: the base itself is stored as a large object. A view, valid until the indexer is used
   * again. */
  | { kind: "large"; delta: PackEntry; base: PackEntry; content: Uint8Array | null }
  /** Permission, by `allow`, to hold a large object in memory. */
  | { kind: "memory" }
  /** Nothing: other requests may run now. */
  | { kind: "pause" };

/** Work of one call of the module, in bytes: some 20 ms. The object has one thread for all
 * requests. */
const SLICE_BYTES = 12 * 1024 * 1024;

/** Bytes of the pack in the module at once: a whole small entry, and a piece of what follows. */
const WINDOW_BYTES = 1536 * 1024;

/** Bytes of an object that are held without permission. Objects that stream never need it. */
export const FREE_CONTENT_BYTES = STREAM_THRESHOLD_BYTES;

export interface PackIndexerOptions {
  limits: Limits;
  /** Memory for contents kept as delta bases (bytes, a multiple of 64): a small push needs
   * little. */
  ringBytes: number;
  /** Whether memory for large tables is reserved: then it may begin with the memory of the last
   * large pack. */
  hasManyObjects?: boolean;
  /** Bit mask of fsck messages that refuse the pack. */
  refused: bigint;
  readBack: ReadBack;
  /** Where the tables' pages go that memory does not take. */
  pages: PageStore;
}

export class PackIndexer {
  readonly #module: WebAssembly.Module;
  readonly #instance: IndexerInstance;
  readonly #exports: IndexerExports;
  readonly #limits: Limits;
  readonly #made = new Map<PackEntry, MadeEntry>();
  readonly #index: PackPages;
  #needsMemory = false;

  constructor(module: WebAssembly.Module, options: PackIndexerOptions) {
    const { limits, readBack } = options;
    this.#module = module;
    this.#limits = limits;
    this.#instance = takeInstance(module, options.hasManyObjects === true);
    this.#instance.readBack = readBack;
    this.#instance.pages = options.pages;
    this.#exports = this.#instance.exports;
    this.#index = new PackPages(this.#exports, this.#made);
    const status = this.#exports.indexer_begin(
      WINDOW_BYTES,
      options.ringBytes,
      limits.maxPackObjects,
      limits.maxPackReferences,
      limits.maxIndexBytes,
      limits.maxResidentObjectBytes,
      Math.min(limits.maxResidentObjectBytes, MAX_DELTA_BLOB_BYTES),
      FREE_CONTENT_BYTES,
      limits.maxObjectSizeBytes,
      limits.maxPushWorkBytes,
      SLICE_BYTES,
      limits.maxDeltaDepth,
      STREAM_THRESHOLD_BYTES,
      options.refused,
    );
    if (status !== STATUS.ok) throw new GitError("unavailable", { reason: "no memory for the pack indexer" });
  }

  /** Ends the pack and returns the module's memory for the next one. The indexer must not be used
   * afterwards. */
  release(): void {
    returnInstance(this.#module, this.#instance);
  }

  /** Bytes of linear memory this pack has taken. */
  get memoryBytes(): number {
    return this.#exports.memory.buffer.byteLength;
  }

  /** Bytes of the tables, which grow with the objects and their references. */
  get tableBytes(): number {
    return this.#limits.maxIndexBytes - this.#value("tableBytesLeft");
  }

  /** Entries that the pack header declares; 0 before it was read. */
  get declaredCount(): number {
    return this.#value("declared");
  }

  /** Entries read so far. */
  get count(): number {
    return this.#value("packCount");
  }

  /** Deltas that `finish` will resolve. */
  get deferredCount(): number {
    return this.#value("deferredCount");
  }

  /** Whether every declared entry has been read. */
  get done(): boolean {
    return this.#value("done") === 1;
  }

  /** Whether `step` ended early, to let other requests run or for lack of permission. It must be
   * called again before it accepts more of the pack. */
  get isPaused(): boolean {
    return this.#needsMemory || this.#value("isPaused") === 1;
  }

  /** Whether `step` ended for lack of permission: after `allow` it must be called again. */
  get needsMemory(): boolean {
    return this.#needsMemory;
  }

  /** Permits holding objects larger than `FREE_CONTENT_BYTES`: at most three at once.
   * @param maxBlobBytes from now on, deltas of larger blobs are requested as "large" */
  allow(maxBlobBytes: number = MAX_DELTA_BLOB_BYTES): void {
    this.#exports.indexer_allow(maxBlobBytes);
  }

  /** The entries read so far; of the last one only the start may be there. */
  entries(): Pick<PackIndex, "count" | "end" | "offset"> {
    return this.index();
  }

  /** A buffer for more of the pack, never empty. The view is valid until `step`. */
  input(): Uint8Array {
    const address = this.#exports.indexer_room();
    return new Uint8Array(this.#exports.memory.buffer, address, this.#value("inputBytes"));
  }

  /** Consumes the first `length` bytes of `input`.
   * @returns the bytes of the pack that are done with, in order: a view, valid until `input`
   * @throws GitError for a corrupt or refused pack */
  step(length: number): Uint8Array {
    const status = this.#exports.indexer_step(length);
    this.#needsMemory = status === STATUS.needMemory;
    if (!this.#needsMemory) this.#check(status);
    return new Uint8Array(this.#exports.memory.buffer, this.#value("consumedAddress"), this.#value("consumedBytes"));
  }

  /** Bytes after the last entry, as far as they were consumed: the trailer, and any excess. */
  rest(): Uint8Array {
    const start = this.#value("consumedAddress") + this.#value("consumedBytes");
    const end = this.#value("consumedAddress") + WINDOW_BYTES - this.#value("inputBytes");
    return new Uint8Array(this.#exports.memory.buffer, start, end - start);
  }

  /** Resolves the remaining deltas; called again after each need was met.
   * @returns null when every object has its id and passed its checks */
  finish(): IndexNeed | null {
    const status = this.#exports.indexer_finish();
    if (status === STATUS.needBytes) {
      return { kind: "bytes", offset: this.#value("neededOffset"), length: this.#value("neededLength") };
    }
    if (status === STATUS.paused) return { kind: "pause" };
    if (status === STATUS.needMemory) return { kind: "memory" };
    if (status === STATUS.needLarge) {
      const base = this.#value("neededBase");
      const address = this.#value("neededContent");
      const size = this.sizeOf(base);
      const content = address === 0 ? null : new Uint8Array(this.#exports.memory.buffer, address, size);
      return { kind: "large", delta: this.#value("neededDelta"), base, content };
    }
    if (status === STATUS.needBase) {
      const entry = this.#value("neededEntry");
      const index = this.index();
      return { kind: "base", entry, oid: oidOf(index, index.nodeOf(entry)) };
    }
    this.#check(status);
    return null;
  }

  /** Makes `finish` request an object that the pack refers to by a checked name (`.gitmodules`) but
   * does not contain. */
  addExternal(packNode: PackNode): void {
    this.#check(this.#exports.indexer_external(packNode));
  }

  /** Supplies the content of an external entry; a large one needs permission.
   * @param type object type, 1–4 */
  supply(entry: PackEntry, type: number, content: Uint8Array): void {
    const address = this.#exports.indexer_supply(entry, type, content.length);
    if (address === 0) throw this.#failure();
    new Uint8Array(this.#exports.memory.buffer, address, content.length).set(content);
  }

  /** Declares that an external entry is a blob too large for memory. */
  supplyLarge(entry: PackEntry, sizeBytes: number): void {
    this.#check(this.#exports.indexer_supply_outside(entry, sizeBytes));
  }

  /** Answers a need for a large object: it is stored undeltified.
   * @param place its location after the pack */
  placeLarge(delta: PackEntry, oid: Uint8Array, sizeBytes: number, place: MadeEntry): void {
    const address = this.#exports.indexer_room();
    new Uint8Array(this.#exports.memory.buffer, address, OID_BYTES).set(oid);
    this.#made.set(delta, place);
    this.#check(this.#exports.indexer_place_large(address, sizeBytes));
  }

  /** Location of an entry's bytes in the pack or after it. */
  place(entry: PackEntry): MadeEntry {
    const made = this.#made.get(entry);
    if (made !== undefined) return made;
    const index = this.index();
    const offset = index.offset(entry);
    return { offset, length: (entry + 1 < index.count ? index.offset(entry + 1) : index.end) - offset };
  }

  /** Size of an entry's object (bytes); undefined for an unresolved delta. */
  sizeOf(entry: PackEntry): number {
    return this.index().size(entry);
  }

  /** Counts work done for the pack outside of the module.
   * @throws GitError "too-large" beyond the limit */
  countWork(bytes: number): void {
    this.#check(this.#exports.indexer_count_work(bytes));
  }

  /** Declares that the repository lacks the object of an external entry. The pack may still contain
   * it, as an unresolved delta. */
  lack(entry: PackEntry): void {
    this.#check(this.#exports.indexer_lack(entry));
  }

  /** Says that `finish` will not be called again: memory that only it took holds pages from now
   * on. */
  seal(): void {
    this.#exports.indexer_seal();
  }

  /** The index; complete once `finish` has returned null. */
  index(): PackIndex {
    const index = this.#index;
    index.sync(this.#words("wide", this.#value("wideCount") * WIDE_WORDS));
    index.count = this.count;
    index.end = this.#value("entriesEnd");
    index.nodeCount = this.#value("nodeCount");
    index.referenceCount = this.#value("referenceCount");
    index.runCount = this.#value("runCount");
    index.pointers = this.#words("pointers", this.#value("pointerCount") * POINTER_WORDS);
    return index;
  }

  #value(name: keyof typeof VALUE): number {
    return this.#exports.indexer_value(VALUE[name]);
  }

  #words(name: keyof typeof VALUE, length: number): Uint32Array {
    return length === 0 ? new Uint32Array() : new Uint32Array(this.#exports.memory.buffer, this.#value(name), length);
  }

  #check(status: number): void {
    if (status !== STATUS.ok) throw this.#failure();
  }

  #failure(): GitError {
    const address = this.#value("failureOid");
    return explainRefusal({
      code: this.#value("failureCode"),
      detail: this.#value("failureDetail"),
      oid: address === 0 ? null : toHex(new Uint8Array(this.#exports.memory.buffer, address, OID_BYTES)),
      offset: this.#value("failureOffset"),
      value: this.#value("failureValue"),
      limits: this.#limits,
    });
  }
}
