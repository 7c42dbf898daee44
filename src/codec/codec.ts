/** The codec: zlib, SHA-1 with collision detection, pack entries and deltas, in WebAssembly. */
import { GitError } from "../format/errors.ts";
import { checkLimit, MAX_RESIDENT_OBJECT_BYTES } from "../format/limits.ts";
import { type ObjectType, toTypeNumber } from "../format/object.ts";
import { OID_BYTES, toHex } from "../format/oid.ts";
import { InflateStream } from "./inflate-stream.ts";
import { CodecInstance } from "./module.ts";
import { Sha1Stream } from "./sha1-stream.ts";

/** Effort of deflate: 0 stores, 9 searches longest. */
export type DeflateLevel = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

/** What git takes when it is not configured. */
export const DEFAULT_LEVEL: DeflateLevel = 6;

/** An inflated zlib stream. */
export interface Inflated {
  readonly content: Uint8Array;
  /** Bytes of the input that the stream takes; what follows is not part of it. */
  readonly consumed: number;
}

/** An object as a pack holds it, undeltified. */
export interface EncodedObject {
  readonly oid: Uint8Array;
  /** Entry header and zlib stream. */
  readonly entry: Uint8Array;
}

/** An object to hash. */
export interface ObjectContent {
  readonly type: ObjectType;
  readonly content: Uint8Array;
}

/** Memory that an idle instance may keep. An instance that had to grow further is replaced by a new one. */
const MAX_IDLE_MEMORY_BYTES = 16 * 1024 * 1024;

/** Bytes of a record of `hash_all`: address, length, type, whether it collides, id, two unused. */
const JOB_BYTES = 32;

/** Bytes of a report of `fsck_object`, which begins with the findings. */
const REPORT_BYTES = 24;

/** Makes a codec of the module; synchronous. */
export function instantiateCodec(module: WebAssembly.Module): Codec {
  return new Codec(module);
}

/** The functions work on whole byte sequences and return copies, unless they say otherwise. */
export class Codec {
  readonly #module: WebAssembly.Module;
  #instance: CodecInstance;

  constructor(module: WebAssembly.Module) {
    this.#module = module;
    this.#instance = new CodecInstance(module);
  }

  /** Bytes of linear memory in use, streams not counted. */
  get memoryBytes(): number {
    return this.#instance.memoryBytes;
  }

  /** Inflates the zlib stream at the start of `bytes`, which may go on behind it.
   * @param sizeBytes what it must inflate to, at most `MAX_RESIDENT_OBJECT_BYTES`
   * @throws GitError "corrupt-pack" when it is no such stream, "too-large"
   * @see RFC 1950 */
  inflate(bytes: Uint8Array, sizeBytes: number): Inflated {
    return this.withInflated(bytes, sizeBytes, (content, consumed) => ({ content: content.slice(), consumed }));
  }

  /** The same without a copy: `use` gets a view that ends with it, and must not call the codec.
   * @throws GitError as `inflate` */
  withInflated<Result>(
    bytes: Uint8Array,
    sizeBytes: number,
    use: (content: Uint8Array, consumed: number) => Result,
  ): Result {
    checkLimit("object (bytes)", MAX_RESIDENT_OBJECT_BYTES, sizeBytes);
    return this.#scope((instance) => {
      const input = instance.put(bytes);
      const output = instance.take(sizeBytes);
      const consumed = instance.exports.inflate_whole(input, bytes.length, output, sizeBytes) >>> 0;
      if (consumed === 0) {
        throw new GitError("corrupt-pack", { reason: `an entry does not inflate to ${sizeBytes} bytes`, sizeBytes });
      }
      return use(instance.bytes(output, sizeBytes), consumed);
    });
  }

  /** Makes a zlib stream. */
  deflate(content: Uint8Array, level: DeflateLevel = DEFAULT_LEVEL): Uint8Array {
    return this.#scope((instance) => {
      const input = instance.put(content);
      const bound = instance.exports.deflate_bound(content.length);
      const output = instance.take(bound);
      const length = instance.exports.deflate_whole(input, content.length, output, bound, level);
      return instance.bytes(output, length).slice();
    });
  }

  /** SHA-1 of the bytes as they are.
   * @throws GitError "sha1-collision" when they were made to collide */
  hash(bytes: Uint8Array): Uint8Array {
    return this.#scope((instance) => {
      const hash = instance.exports.sha1_begin();
      const oid = instance.take(OID_BYTES);
      instance.exports.sha1_update(hash, instance.put(bytes), bytes.length);
      const collided = instance.exports.sha1_final(hash, oid) !== 0;
      return checked(instance.bytes(oid, OID_BYTES).slice(), collided);
    });
  }

  /** Ids of objects, in their order; four are hashed at a time.
   * @throws GitError "sha1-collision" when one was made to collide */
  hashObjects(objects: readonly ObjectContent[]): Uint8Array[] {
    return this.#scope((instance) => {
      const jobs = instance.take(objects.length * JOB_BYTES);
      const addresses = objects.map(({ content }) => instance.put(content));
      const records = new DataView(instance.exports.memory.buffer, jobs, objects.length * JOB_BYTES);
      for (const [index, { type, content }] of objects.entries()) {
        records.setUint32(index * JOB_BYTES, addresses[index]!, true);
        records.setUint32(index * JOB_BYTES + 4, content.length, true);
        records.setUint8(index * JOB_BYTES + 8, toTypeNumber(type));
      }
      instance.exports.hash_all(jobs, objects.length);
      return objects.map((_, index) => {
        const oid = instance.bytes(jobs + index * JOB_BYTES + 10, OID_BYTES).slice();
        return checked(oid, records.getUint8(index * JOB_BYTES + 9) !== 0);
      });
    });
  }

  /** Hashes an object and makes its pack entry.
   * @throws GitError "sha1-collision" when it was made to collide
   * @see gitformat-pack(5) */
  encodeObject(type: ObjectType, content: Uint8Array, level: DeflateLevel = DEFAULT_LEVEL): EncodedObject {
    return this.#scope((instance) => {
      const input = instance.put(content);
      const oid = instance.take(OID_BYTES);
      const output = instance.take(instance.exports.encode_object_bound(content.length));
      const number = toTypeNumber(type);
      const length = instance.exports.encode_object(number, input, content.length, level, output, oid);
      return {
        oid: checked(instance.bytes(oid, OID_BYTES).slice(), length === 0),
        entry: instance.bytes(output, length).slice(),
      };
    });
  }

  /** Checks a tree as git's fsck does.
   * @returns the findings, as a mask
   * @see fsck-messages.ts */
  fsckTree(content: Uint8Array): bigint {
    return this.#scope((instance) => {
      const report = instance.take(REPORT_BYTES);
      instance.exports.fsck_object(toTypeNumber("tree"), instance.put(content), content.length, report, 0);
      return new DataView(instance.exports.memory.buffer, report, REPORT_BYTES).getBigUint64(0, true);
    });
  }

  /** Applies a delta, which must have been made for a base of this size.
   * @returns the result, at most `MAX_RESIDENT_OBJECT_BYTES`
   * @throws GitError "corrupt-delta", "too-large"
   * @see gitformat-pack(5) "Deltified representation" */
  applyDelta(base: Uint8Array, delta: Uint8Array): Uint8Array {
    return this.#scope((instance) => {
      const { exports } = instance;
      const from = instance.put(base);
      const instructions = instance.put(delta);
      const sizeBytes = exports.delta_result_size(instructions, delta.length, base.length);
      if (sizeBytes < 0) {
        throw new GitError("corrupt-delta", { reason: `it was not made for a base of ${base.length} bytes` });
      }
      checkLimit("object (bytes)", MAX_RESIDENT_OBJECT_BYTES, sizeBytes);
      const result = instance.take(sizeBytes);
      if (exports.delta_apply(from, base.length, instructions, delta.length, result, sizeBytes) === 0) {
        throw new GitError("corrupt-delta", { reason: "its instructions are malformed" });
      }
      return instance.bytes(result, sizeBytes).slice();
    });
  }

  /** Inflates a zlib stream of any size, piece by piece.
   * @param sizeBytes what it must inflate to */
  inflateStream(sizeBytes: number): InflateStream {
    return new InflateStream(new CodecInstance(this.#module), sizeBytes);
  }

  /** Hashes bytes that come in pieces. */
  sha1Stream(): Sha1Stream {
    return new Sha1Stream(new CodecInstance(this.#module));
  }

  #scope<Result>(use: (instance: CodecInstance) => Result): Result {
    const instance = this.#instance;
    try {
      return instance.scope(() => use(instance));
    } finally {
      if (instance.memoryBytes > MAX_IDLE_MEMORY_BYTES) this.#instance = new CodecInstance(this.#module);
    }
  }
}

function checked(oid: Uint8Array, collided: boolean): Uint8Array {
  if (collided) throw new GitError("sha1-collision", { oid: toHex(oid) });
  return oid;
}
