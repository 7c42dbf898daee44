import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { ByteCache } from "../../base/bytes/byte-cache.ts";
import type { WholeObject } from "../../base/bytes/delta-chains.ts";

/** Spare buffers that are kept, and the largest object that gets a shared one. */
const MAX_SPARES = 8;
const MAX_SHARED_BYTES = 1024 * 1024;

/** A buffer's size is rounded up to one of so many between two powers of two: a chain of objects
 * that grow by a line each can then share buffers. */
const SIZES_PER_DOUBLING = 8;

/** A least-recently-used cache of objects as delta bases. The buffers of objects that it drops are
 * used again: a new buffer for each object of a long chain would be garbage, of which tens of
 * megabytes accumulate before it is collected. So an object is valid until the next `set`. */
export class ObjectCache {
  readonly #objects: ByteCache<WholeObject>;
  readonly #spares: Uint8Array[] = [];

  constructor(limitBytes: number) {
    this.#objects = new ByteCache(limitBytes, null, ({ bytes }) => {
      if (bytes.length > MAX_SHARED_BYTES) return;
      if (this.#spares.length === MAX_SPARES) this.#spares.shift();
      this.#spares.push(new Uint8Array(bytes.buffer as ArrayBuffer));
    });
  }

  get(number: ObjectNumber): WholeObject | undefined {
    return this.#objects.get(String(number));
  }

  /** @param object in a buffer from `take`, or in one of its own */
  set(number: ObjectNumber, object: WholeObject): void {
    this.#objects.set(String(number), object, object.bytes.buffer.byteLength);
  }

  /** A buffer of at least this size, and at most about twice as large; undefined: too large to
   * share. */
  take(sizeBytes: number): Uint8Array | undefined {
    if (sizeBytes > MAX_SHARED_BYTES) return undefined;
    const step = 2 ** Math.ceil(Math.log2(Math.max(sizeBytes, 1024))) / (2 * SIZES_PER_DOUBLING);
    const roundedBytes = Math.ceil(sizeBytes / step) * step;
    const at = this.#spares.findIndex(({ length }) => length >= sizeBytes && length <= 2 * roundedBytes);
    return at === -1 ? new Uint8Array(roundedBytes) : this.#spares.splice(at, 1)[0]!;
  }
}
