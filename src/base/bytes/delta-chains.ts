import { readDeltaSizes } from "../codec/apply-delta.ts";
import type { Codec } from "../codec/codec.ts";
import { GitError } from "../format/errors.ts";
import { OFS_DELTA, REF_DELTA } from "../format/pack.ts";
import type { ObjectTypeNumber } from "../format/object.ts";
import type { ChunkStore } from "../chunks/chunk-store.ts";
import { decodeEntryHead } from "./entry-head.ts";
import { ByteCache } from "./byte-cache.ts";
import { ISOLATE_MEMORY, type Lease, type MemoryBudget } from "../pacing/memory-budget.ts";
import { pause } from "../pacing/time-slice.ts";
import type { Extent, PackPlan } from "./pack-plan.ts";
import { chainBase, chainCount, chainExtent, chainLength, chainOffset, NO_BASE } from "./plan-rows.ts";
import { type ExtentPart, keptStoredBytes, readExtent, readExtentAhead } from "./read-extent.ts";

/** Size of the isolate's cache of resolved objects, which are delta bases; as for chunks in
 * `read-extent.ts`. */
const OBJECT_BYTES = 8 * 1024 * 1024;
const OBJECTS = new ByteCache<WholeObject>(OBJECT_BYTES, ISOLATE_MEMORY);

/** Size up to which lent and intermediate objects share one buffer, of at most twice the size. */
const MAX_SCRATCH_BYTES = 1024 * 1024;

/** While objects are lent, one in this many intermediate objects is cached for chains that
 * branch off. Copies of all of them would soon be garbage. */
const LENT_STEPS_PER_COPY = 8;

/** Bytes of the isolate's cached chunks, entries and objects. */
export function sharedBytes(): number {
  return keptStoredBytes() + OBJECTS.sizeBytes;
}

/** Upper bound of the bytes that a zlib stream and an entry's head add to incompressible bytes. */
const STREAM_OVERHEAD_BYTES = 4_096;

/** Bytes resolved before other requests run: a long chain of large objects takes seconds. */
const BYTES_PER_SLICE = 16 * 1024 * 1024;

/** Counter that distinguishes the inline bytes of plans, which have no key. */
let inlinePlans = 0;

/** The part of the codec that resolving a chain needs. */
export type DeltaCodec = Pick<Codec, "inflate" | "inflateStream" | "applyDelta" | "deflate" | "memoryBytes">;

/** A resolved object. */
export interface WholeObject {
  readonly type: ObjectTypeNumber;
  readonly bytes: Uint8Array;
}

/** Size up to which objects are resolved without reserving memory, in bytes. */
const FREE_OBJECT_BYTES = 4 * 1024 * 1024;

/** Copies of a large object in memory while it is resolved: its base, itself, and a delta. */
const COPIES = 3;

/** The delta chains of a plan. */
export type ChainPlan = Pick<PackPlan, "extents" | "chains">;

/** Delta chains that are being read. Rows may be added meanwhile. */
type ReadChains = Pick<PackPlan, "extents"> & { readonly chains: ArrayLike<number> };

/** Options of `#resolve`. */
interface Use {
  /** Whether intermediate objects are cached only if other plans can find them. */
  readonly isAlone: boolean;
  /** Whether the result goes into the shared buffer. */
  readonly isLent: boolean;
}

/** A buffer that is reused for one object after another. */
class Scratch {
  #buffer = new Uint8Array(0);

  /** Provides the buffer.
   * @returns a buffer of at least this size, which may still hold the last object; undefined:
   *   the size is too large to share */
  take(sizeBytes: number): Uint8Array | undefined {
    if (sizeBytes > MAX_SCRATCH_BYTES) return undefined;
    if (this.#buffer.length < sizeBytes) this.#buffer = new Uint8Array(2 * sizeBytes);
    return this.#buffer;
  }
}

/** Resolves the stored delta chains in a plan's `chains` to whole objects. */
export class DeltaChains {
  readonly #plan: ReadChains;
  readonly #store: ChunkStore;
  readonly #codec: DeltaCodec;
  readonly #memory: MemoryBudget | null;
  readonly #inlineName = `inline ${inlinePlans++}`;
  /** The last lent object, and the buffer that holds it. */
  #lent: { readonly row: number; readonly object: WholeObject } | null = null;
  readonly #lentScratch = new Scratch();
  /** Buffer of the current delta, from inflation until it is applied. */
  readonly #deltaScratch = new Scratch();
  /** Unread rows by extent. Null: entries are not cached. */
  readonly #unread: ReadonlyMap<number, Set<number>> | null;

  /** @param memory budget from which large objects reserve memory; null: the caller has reserved
   *   it
   * @param inAnyOrder whether most of the plan's objects are read, in another order than that
   *   of storage; if so, an entry's neighbours are read with it */
  constructor(
    plan: ReadChains,
    store: ChunkStore,
    codec: DeltaCodec,
    memory: MemoryBudget | null = ISOLATE_MEMORY,
    inAnyOrder = false,
  ) {
    this.#unread = inAnyOrder ? groupByExtent(plan.chains) : null;
    this.#memory = memory;
    this.#plan = plan;
    this.#store = store;
    this.#codec = codec;
  }

  /** Key for the entry of a row of `chains`, the same in all plans unless the entry is inline.
   * The resolved object of a key never changes. */
  name(row: number): string {
    const extent = this.#extent(row);
    const offset = chainOffset(this.#plan.chains, row);
    return "bytes" in extent ? `${this.#inlineName} ${row}` : `${extent.key} ${extent.start + offset}`;
  }

  /** Resolves one row of `chains`, without recursion. Memory is the object, its base, a chunk and
   * the isolate's caches.
   * @param isAlone whether no other row of the plan will be requested; if so, intermediate
   *   objects are cached only if other plans can find them
   * @throws GitError "storage-failed", "corrupt-pack"; "unavailable" when other requests hold
   *   the memory for large objects for too long */
  resolve(row: number, isAlone = false): Promise<WholeObject> {
    return this.#resolveHolding(row, { isAlone, isLent: false });
  }

  /** Resolves one row of `chains` into a reused buffer: the object is valid only until the next
   * call, and calls must not overlap. Copies of all objects would be garbage, and tens of
   * megabytes of it accumulate before a collection.
   * @throws GitError as `resolve` */
  async lend(row: number): Promise<WholeObject> {
    if (this.#lent?.row === row) return this.#lent.object;
    const object = await this.#resolveHolding(row, { isAlone: false, isLent: true });
    this.#lent = { row, object };
    return object;
  }

  /** Reads the first bytes of a row's object. For an object that is not a delta, only these bytes
   * are inflated, and not checked.
   * @param sizeBytes size of the object
   * @param mayResolve whether a large delta may be resolved, at a cost of this many bytes
   * @returns null: `mayResolve` refused
   * @throws GitError as `resolve` */
  async head(
    row: number,
    sizeBytes: number,
    headBytes: number,
    mayResolve: (costBytes: number) => boolean,
  ): Promise<Uint8Array | null> {
    if (sizeBytes <= headBytes) return (await this.resolve(row)).bytes;
    const known = this.#known(row, false);
    if (known !== undefined) return known.bytes.subarray(0, headBytes);
    let steps = 1;
    for (let at = chainBase(this.#plan.chains, row); at !== NO_BASE; at = chainBase(this.#plan.chains, at)) steps++;
    if (steps === 1) return this.#inflateStart(row, headBytes);
    if (!mayResolve(steps * sizeBytes)) return null;
    // Copies the bytes, so that the rest can be collected.
    return (await this.resolve(row)).bytes.slice(0, headBytes);
  }

  /** @returns fewer bytes if the stream is padded with empty blocks */
  async #inflateStart(row: number, headBytes: number): Promise<Uint8Array> {
    const { chains } = this.#plan;
    const length = Math.min(chainLength(chains, row), headBytes + STREAM_OVERHEAD_BYTES);
    const entry = await readExtent(this.#store, this.#extent(row), chainOffset(chains, row), length);
    const { sizeBytes, dataOffset } = decodeEntryHead(entry);
    const inflater = this.#codec.inflateStream(sizeBytes);
    const head = new Uint8Array(headBytes);
    let at = 0;
    for (const piece of inflater.push(entry.subarray(dataOffset))) {
      head.set(piece.subarray(0, headBytes - at), at);
      at = Math.min(at + piece.length, headBytes);
      if (at === headBytes) break;
    }
    return head.subarray(0, at);
  }

  async #resolveHolding(row: number, use: Use): Promise<WholeObject> {
    const leases: Lease[] = [];
    let heldBytes = this.#memory === null ? Infinity : FREE_OBJECT_BYTES;
    const take = async (sizeBytes: number): Promise<void> => {
      const common = this.#memory!.tryTake(COPIES * (sizeBytes - heldBytes));
      leases.push(common ?? (await this.#memory!.takeLarge()));
      heldBytes = common === null ? Infinity : sizeBytes;
    };
    const hold = (sizeBytes: number) => (sizeBytes <= heldBytes ? undefined : take(sizeBytes));
    try {
      return await this.#resolve(row, use, hold);
    } finally {
      for (const lease of leases) lease.free();
    }
  }

  async #resolve(
    row: number,
    { isAlone, isLent }: Use,
    hold: (sizeBytes: number) => Promise<void> | undefined,
  ): Promise<WholeObject> {
    const pending: number[] = [];
    let object: WholeObject | undefined;
    for (let at = row; (object = this.#known(at, isLent)) === undefined;) {
      pending.push(at);
      const base = chainBase(this.#plan.chains, at);
      if (base === NO_BASE) break;
      at = base;
    }
    // Clears the lent object: it may be the base, and its buffer is about to be overwritten.
    if (isLent) this.#lent = null;
    const scratch = isLent ? this.#lentScratch : new Scratch();
    let sliceBytes = 0;
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      const entry = await this.#entry(at);
      const { type, sizeBytes, dataOffset } = decodeEntryHead(entry);
      await hold(sizeBytes);
      const data = entry.subarray(dataOffset);
      const isLentNow = isLent && pending.length === 0;
      let target: Uint8Array | undefined;
      if (type !== OFS_DELTA && type !== REF_DELTA) {
        target = isLentNow ? scratch.take(sizeBytes) : undefined;
        object = { type, bytes: this.#codec.inflate(data, sizeBytes, target).content };
      } else if (object === undefined)
        throw new GitError("storage-failed", { key: "object_chunks", reason: "a delta has no base" });
      else {
        let delta = this.#codec.inflate(data, sizeBytes, this.#deltaScratch.take(sizeBytes)).content;
        const { resultBytes } = readDeltaSizes(delta);
        const waiting = hold(resultBytes);
        if (waiting !== undefined) {
          // Copies the delta, because another chain may be resolved meanwhile.
          delta = delta.slice();
          await waiting;
        }
        const isUnkept = this.#isUnkept(at, { isAlone, isLent }, pending.length, resultBytes);
        target = isUnkept || isLentNow ? scratch.take(resultBytes) : undefined;
        object = { type: object.type, bytes: this.#codec.applyDelta(object.bytes, delta, target) };
      }
      if (target === undefined) OBJECTS.set(this.name(at), object, object.bytes.length);
      sliceBytes += object.bytes.length;
      if (sliceBytes < BYTES_PER_SLICE) continue;
      sliceBytes = 0;
      await pause();
    }
    return object!;
  }

  /** Whether an intermediate object is not worth a copy for the cache.
   * @param left number of objects that follow in the chain */
  #isUnkept(row: number, { isAlone, isLent }: Use, left: number, sizeBytes: number): boolean {
    // The following objects would evict the copy.
    if (left * sizeBytes > OBJECT_BYTES) return true;
    if (isLent) return left % LENT_STEPS_PER_COPY !== 0;
    // No other chain can find the copy in the cache.
    return isAlone && left > 0 && this.#isInline(row);
  }

  #known(row: number, isLent: boolean): WholeObject | undefined {
    return isLent && this.#lent?.row === row ? this.#lent.object : OBJECTS.get(this.name(row));
  }

  #entry(row: number): Promise<Uint8Array> {
    const { chains } = this.#plan;
    const [offset, length] = partOf(chains, row);
    const unread = this.#unread?.get(chainExtent(chains, row));
    if (unread === undefined) return readExtent(this.#store, this.#extent(row), offset, length);
    unread.delete(row);
    const later = () => Array.from(unread, (one) => partOf(chains, one));
    return readExtentAhead(this.#store, this.#extent(row), [offset, length], later);
  }

  #isInline(row: number): boolean {
    return "bytes" in this.#extent(row);
  }

  #extent(row: number): Extent {
    return this.#plan.extents[chainExtent(this.#plan.chains, row)]!;
  }
}

function partOf(chains: ArrayLike<number>, row: number): ExtentPart {
  return [chainOffset(chains, row), chainLength(chains, row)];
}

function groupByExtent(chains: ArrayLike<number>): Map<number, Set<number>> {
  const groups = Map.groupBy(Array(chainCount(chains)).keys(), (row) => chainExtent(chains, row));
  return new Map(Array.from(groups, ([extent, rows]) => [extent, new Set(rows)]));
}
