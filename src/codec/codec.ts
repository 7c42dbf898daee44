/** The codec: zlib, SHA-1 with collision detection, pack entries and deltas, in WebAssembly. */
import { GitError } from "../format/errors.ts";
import { checkLimit, MAX_RESIDENT_OBJECT_BYTES } from "../format/limits.ts";
import { type ObjectType, toTypeNumber } from "../format/object.ts";
import { applyLargeDelta, readDeltaSizes } from "./apply-delta.ts";
import { OID_BYTES, toHex } from "../format/oid.ts";
import { DeflateStream } from "./deflate-stream.ts";
import { InflateDesk, InflateStream, type SavedInflate } from "./inflate-stream.ts";
import { CodecInstance } from "./module.ts";
import { Sha1Stream } from "./sha1-stream.ts";

/** Bytes of content from which a call works piece by piece, or without the module: the module would
 * hold all of it a second time. */
const LARGE_BYTES = 4 * 1024 * 1024;

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

/** What `fsck_object` checks an object as: its type, or a blob by the part that its name gives it. */
export type FsckSubject = ObjectType | "gitmodules" | "gitattributes";

/** The subjects' numbers; those of types are the types' own. */
const SUBJECTS: Readonly<Record<FsckSubject, number>> = {
  commit: 1,
  tree: 2,
  blob: 3,
  tag: 4,
  gitmodules: 9,
  gitattributes: 10,
};

const SUBJECT_OF = new Map(Object.entries(SUBJECTS).map(([subject, number]) => [number, subject as FsckSubject]));

/** What git's fsck says of an object. */
export interface CheckedObject {
  /** A mask; see fsck-messages.ts. */
  readonly findings: bigint;
  /** When it was committed, seconds; 0 unless it is a commit. */
  readonly timeSeconds: number;
  /** What it names, in its order: of a tree all entries but gitlinks, and files that git reads itself once more as what they are. */
  readonly named: readonly { readonly subject: FsckSubject; readonly oid: Uint8Array }[];
}

/** Memory that an idle instance may keep. An instance that had to grow further is replaced by a new one. */
const MAX_IDLE_MEMORY_BYTES = 16 * 1024 * 1024;

/** Bytes of a record of `hash_all`: address, length, type, whether it collides, id, two unused. */
const JOB_BYTES = 32;

/** Bytes of a report of `fsck_object`: findings, time, count; and of each record that follows: id and subject. */
const REPORT_BYTES = 24;
const NAMED_BYTES = OID_BYTES + 1;

/** No two records come of fewer bytes of an object: a tree's entry `100644 .gitmodules` makes two of 39. */
const BYTES_PER_NAMED = 19;

/** Makes a codec of the module; synchronous. */
export function instantiateCodec(module: WebAssembly.Module): Codec {
  return new Codec(module);
}

/** The functions work on whole byte sequences and return copies, unless they say otherwise. */
export class Codec {
  readonly #module: WebAssembly.Module;
  #instance: CodecInstance;
  /** Made for the first stream. */
  #desk: InflateDesk | null = null;

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
    if (sizeBytes > LARGE_BYTES) return this.#inflateLarge(bytes, sizeBytes);
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

  #inflateLarge(bytes: Uint8Array, sizeBytes: number): Inflated {
    checkLimit("object (bytes)", MAX_RESIDENT_OBJECT_BYTES, sizeBytes);
    const stream = this.inflateStream(sizeBytes);
    const content = new Uint8Array(sizeBytes);
    let consumed = 0;
    for (let produced = 0; !stream.done;) {
      const step = stream.step(bytes.subarray(consumed));
      if (!step.done && step.consumed === 0 && step.output.length === 0) stream.end();
      content.set(step.output, produced);
      produced += step.output.length;
      consumed += step.consumed;
    }
    return { content, consumed };
  }

  /** Makes a zlib stream. */
  deflate(content: Uint8Array, level: DeflateLevel = DEFAULT_LEVEL): Uint8Array {
    if (content.length > LARGE_BYTES) {
      const stream = this.deflateStream(level);
      return Buffer.concat([...stream.push(content), ...stream.end()]);
    }
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

  /** Checks an object as git's fsck does. */
  checkObject(subject: FsckSubject, content: Uint8Array): CheckedObject {
    return this.#scope((instance) => {
      const capacity = Math.ceil(content.length / BYTES_PER_NAMED);
      const reportBytes = REPORT_BYTES + capacity * NAMED_BYTES;
      const report = instance.take(reportBytes);
      instance.exports.fsck_object(SUBJECTS[subject], instance.put(content), content.length, report, capacity);
      const view = new DataView(instance.exports.memory.buffer, report, reportBytes);
      return {
        findings: view.getBigUint64(0, true),
        timeSeconds: Number(view.getBigUint64(8, true)),
        named: Array.from({ length: Math.min(view.getUint32(16, true), capacity) }, (_, index) => {
          const at = REPORT_BYTES + index * NAMED_BYTES;
          return {
            subject: SUBJECT_OF.get(view.getUint8(at + OID_BYTES))!,
            oid: instance.bytes(report + at, OID_BYTES).slice(),
          };
        }),
      };
    });
  }

  /** Applies a delta, which must have been made for a base of this size.
   * @param target where the result goes if it fits; it may be the base's
   * @returns the result, at most `MAX_RESIDENT_OBJECT_BYTES`
   * @throws GitError "corrupt-delta", "too-large"
   * @see gitformat-pack(5) "Deltified representation" */
  applyDelta(base: Uint8Array, delta: Uint8Array, target?: Uint8Array): Uint8Array {
    const { resultBytes } = readDeltaSizes(delta);
    checkLimit("object (bytes)", MAX_RESIDENT_OBJECT_BYTES, resultBytes);
    if (base.length + resultBytes > LARGE_BYTES) return applyLargeDelta(base, delta);
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
      const made = instance.bytes(result, sizeBytes);
      if (target === undefined || target.length < sizeBytes) return made.slice();
      target.set(made);
      return target.subarray(0, sizeBytes);
    });
  }

  /** Inflates a zlib stream of any size, piece by piece; any number at a time.
   * @param sizeBytes what it must inflate to */
  inflateStream(sizeBytes: number): InflateStream {
    this.#desk ??= new InflateDesk(new CodecInstance(this.#module));
    return new InflateStream(this.#desk, sizeBytes);
  }

  /** Goes on with an inflation from where it was saved; as often as needed. */
  resumeInflate(saved: SavedInflate): InflateStream {
    return new InflateStream(this.#desk!, saved.sizeBytes, saved);
  }

  /** Makes a zlib stream of bytes that come in pieces.
   * @param isRaw leaves zlib's header and checksum out */
  deflateStream(level: DeflateLevel = DEFAULT_LEVEL, isRaw = false): DeflateStream {
    return new DeflateStream(new CodecInstance(this.#module), level, isRaw);
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
