import type { Codec } from "../codec/codec.ts";
import { GitError } from "../format/errors.ts";
import { OFS_DELTA, REF_DELTA } from "../format/pack.ts";
import type { ObjectTypeNumber } from "../format/object.ts";
import type { ChunkStore } from "../store/chunk-store.ts";
import { decodeEntryHead } from "./entry-head.ts";
import { LINK_STRIDE, NO_BASE, type PackPlan } from "./pack-plan.ts";
import { READ_BYTES } from "./pack-reads.ts";

/** Stored chunks kept for the next link of a chain, bytes. */
const CHUNK_CACHE_BYTES = 4 * READ_BYTES;

/** Resolved objects kept as bases, bytes. */
const OBJECT_CACHE_BYTES = 8 * 1024 * 1024;

/** What resolving a chain needs of the codec. */
export type DeltaCodec = Pick<Codec, "inflate" | "applyDelta" | "deflate" | "memoryBytes">;

/** An object made whole again. */
export interface WholeObject {
  readonly type: ObjectTypeNumber;
  readonly bytes: Uint8Array;
}

/** Least recently used values up to a sum of bytes. The newest value stays even when it is larger. */
class ByteCache<Value> {
  readonly #entries = new Map<number, { value: Value; sizeBytes: number }>();
  readonly #limitBytes: number;
  #sizeBytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get(key: number): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: number, value: Value, sizeBytes: number): void {
    this.#entries.set(key, { value, sizeBytes });
    this.#sizeBytes += sizeBytes;
    for (const [oldest, entry] of this.#entries) {
      if (this.#sizeBytes <= this.#limitBytes || oldest === key) return;
      this.#entries.delete(oldest);
      this.#sizeBytes -= entry.sizeBytes;
    }
  }
}

/** Makes whole objects of the stored delta chains in a plan's `links`. */
export class DeltaChains {
  readonly #plan: PackPlan;
  readonly #store: ChunkStore;
  readonly #codec: DeltaCodec;
  readonly #chunks = new ByteCache<Uint8Array>(CHUNK_CACHE_BYTES);
  readonly #objects = new ByteCache<WholeObject>(OBJECT_CACHE_BYTES);

  constructor(plan: PackPlan, store: ChunkStore, codec: DeltaCodec) {
    this.#plan = plan;
    this.#store = store;
    this.#codec = codec;
  }

  /** Bytes of the chunks and objects kept. */
  get memoryBytes(): number {
    return this.#chunks.sizeBytes + this.#objects.sizeBytes;
  }

  /** Resolves one row of `links`. Depth costs no stack; memory is the object, one base and the caches.
   * @throws GitError "storage-failed", "corrupt-pack" */
  async resolve(row: number): Promise<WholeObject> {
    const pending: number[] = [];
    let object: WholeObject | undefined;
    for (let at = row; (object = this.#objects.get(at)) === undefined;) {
      pending.push(at);
      const base = this.#word(at, 3);
      if (base === NO_BASE) break;
      at = base;
    }
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      const entry = await this.#entry(at);
      const { type, sizeBytes, dataOffset } = decodeEntryHead(entry);
      const inflated = this.#codec.inflate(entry.subarray(dataOffset), sizeBytes).content;
      if (type !== OFS_DELTA && type !== REF_DELTA) object = { type, bytes: inflated };
      else if (object !== undefined)
        object = { type: object.type, bytes: this.#codec.applyDelta(object.bytes, inflated) };
      else throw new GitError("storage-failed", { key: "object_chunks", reason: "a delta has no base" });
      this.#objects.set(at, object, object.bytes.length);
    }
    return object!;
  }

  async #entry(row: number): Promise<Uint8Array> {
    const index = this.#word(row, 0);
    const extent = this.#plan.extents[index]!;
    const offset = this.#word(row, 1);
    const length = this.#word(row, 2);
    if ("bytes" in extent) return extent.bytes.subarray(offset, offset + length);
    if (extent.length > READ_BYTES) return this.#store.read(extent.key, extent.start + offset, length);
    const cached = this.#chunks.get(index);
    const chunk = cached ?? (await this.#store.read(extent.key, extent.start, extent.length));
    if (cached === undefined) this.#chunks.set(index, chunk, chunk.length);
    return chunk.subarray(offset, offset + length);
  }

  #word(row: number, word: number): number {
    return this.#plan.links[row * LINK_STRIDE + word]!;
  }
}
