/** The codec: zlib, SHA-1 with collision detection, pack entries and deltas, in WebAssembly. */
import { GitError } from "../format/errors.ts";
import { OID_BYTES, toHex } from "../format/oid.ts";
import { CodecInstance } from "./module.ts";
import { checkLimit, MAX_RESIDENT_OBJECT_BYTES } from "../format/limits.ts";
import { type ObjectType, toTypeNumber } from "../format/object.ts";
import { applyLargeDelta, readDeltaSizes } from "./apply-delta.ts";
import { DeflateStream } from "./deflate-stream.ts";
import { SharedInflater, InflateStream, type SavedInflate } from "./inflate-stream.ts";

/** Size of content from which a call works piece by piece, or without the module, which would hold
 * all of it a second time (bytes). */
const LARGE_BYTES = 4 * 1024 * 1024;

/** Effort of deflate: 0 only stores, 9 searches longest. */
export type DeflateLevel = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

/** Git's default. */
const DEFAULT_LEVEL: DeflateLevel = 6;

/** An inflated zlib stream. */
interface Inflated {
  readonly content: Uint8Array;
  /** Input bytes of the stream; whatever follows does not belong to it. */
  readonly consumed: number;
}

/** An object to hash. */
export interface ObjectContent {
  readonly type: ObjectType;
  readonly content: Uint8Array;
}

/** What `fsck_object` checks an object as: its type, or, for blobs with special names, that
 * role. */
type FsckSubject = ObjectType | "gitmodules" | "gitattributes";

/** The subjects' numbers; for types, the types' own. */
const SUBJECTS: Readonly<Record<FsckSubject, number>> = {
  commit: 1,
  tree: 2,
  blob: 3,
  tag: 4,
  gitmodules: 9,
  gitattributes: 10,
};

/** From this number on a subject is no type. */
const SPECIAL = SUBJECTS.gitmodules;

const SUBJECT_OF = new Map(Object.entries(SUBJECTS).map(([subject, number]) => [number, subject as FsckSubject]));

/** Objects that an object refers to, in order. */
export interface NamedObjects {
  /** The number of what each is named as: see `subjectOf`. */
  readonly subjects: Uint8Array;
  /** Packed, `OID_BYTES` each. */
  readonly oids: Uint8Array;
}

/** The result of git's fsck for an object. */
interface CheckedObject {
  /** A mask; see fsck-messages.ts. */
  readonly findings: bigint;
  /** Commit time, seconds; 0 for other types. */
  readonly timeSeconds: number;
  /** For a tree, all entries but gitlinks. The subjects are types' numbers. */
  readonly named: NamedObjects;
  /** Files that git itself reads, in that role. */
  readonly special: NamedObjects;
}

/** The subject with a number. */
export function subjectOf(number: number): FsckSubject {
  return SUBJECT_OF.get(number)!;
}

/** Memory that an idle instance may keep. An instance that had to grow further is replaced. */
const MAX_IDLE_MEMORY_BYTES = 16 * 1024 * 1024;

/** Bytes of a record of `hash_all`: address, length, type, collision flag, id, two unused. */
const JOB_BYTES = 32;

/** Bytes of a report of `fsck_object`: findings, time, count; then of each record: id and
 * subject. */
const REPORT_BYTES = 24;
const NAMED_BYTES = OID_BYTES + 1;

/** Lower bound of object bytes per record: a tree's entry `100644 .gitmodules` makes two of 39. */
const BYTES_PER_NAMED = 19;

function copyTo(target: Uint8Array | undefined, view: Uint8Array): Uint8Array {
  if (target === undefined || target.length < view.length) return view.slice();
  target.set(view);
  return target.subarray(0, view.length);
}

/** Makes a codec from the module; synchronous. */
export function instantiateCodec(module: WebAssembly.Module): Codec {
  return new Codec(module);
}

/** Functions take whole byte sequences and return copies, unless they say otherwise. */
export class Codec {
  readonly #module: WebAssembly.Module;
  #instance: CodecInstance;
  /** Created with the first stream. */
  #inflater: SharedInflater | null = null;

  constructor(module: WebAssembly.Module) {
    this.#module = module;
    this.#instance = new CodecInstance(module);
  }

  /** Bytes of linear memory in use, without streams. */
  get memoryBytes(): number {
    return this.#instance.memoryBytes;
  }

  /** Inflates the zlib stream at the start of `bytes`; more bytes may follow it.
   * @param sizeBytes the expected size, at most `MAX_RESIDENT_OBJECT_BYTES`
   * @param target receives the content if it fits
   * @throws GitError "corrupt-pack" when it is not such a stream, "too-large"
   * @see RFC 1950 */
  inflate(bytes: Uint8Array, sizeBytes: number, target?: Uint8Array): Inflated {
    if (sizeBytes > LARGE_BYTES) return this.#inflateLarge(bytes, sizeBytes);
    return this.withInflated(bytes, sizeBytes, (view, consumed) => ({ content: copyTo(target, view), consumed }));
  }

  /** The same without a copy: `use` gets a view that is valid only during the call, and must not
   * call the codec.
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

  /** SHA-1 of the bytes, without an object header.
   * @throws GitError "sha1-collision" on a collision attack */
  hash(bytes: Uint8Array): Uint8Array {
    return this.#scope((instance) => {
      const hash = instance.exports.sha1_begin();
      const oid = instance.take(OID_BYTES);
      instance.exports.sha1_update(hash, instance.put(bytes), bytes.length);
      const collided = instance.exports.sha1_final(hash, oid) !== 0;
      return checked(instance.bytes(oid, OID_BYTES).slice(), collided);
    });
  }

  /** Ids of objects, in order; four are hashed at a time.
   * @throws GitError "sha1-collision" on a collision attack */
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

  /** Checks an object as git's fsck does. */
  checkObject(subject: FsckSubject, content: Uint8Array): CheckedObject {
    return this.#scope((instance) => {
      const capacity = Math.ceil(content.length / BYTES_PER_NAMED);
      const reportBytes = REPORT_BYTES + capacity * NAMED_BYTES;
      const report = instance.take(reportBytes);
      instance.exports.fsck_object(SUBJECTS[subject], instance.put(content), content.length, report, capacity);
      const view = new DataView(instance.exports.memory.buffer, report, reportBytes);
      const count = Math.min(view.getUint32(16, true), capacity);
      return {
        findings: view.getBigUint64(0, true),
        timeSeconds: Number(view.getBigUint64(8, true)),
        ...readNamed(instance.bytes(report + REPORT_BYTES, count * NAMED_BYTES)),
      };
    });
  }

  /** Applies a delta, which must be made for a base of this size.
   * @param target receives the result if it fits; it may overlap the base
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
        throw new GitError("corrupt-delta", { reason: `it is not made for a base of ${base.length} bytes` });
      }
      checkLimit("object (bytes)", MAX_RESIDENT_OBJECT_BYTES, sizeBytes);
      const result = instance.take(sizeBytes);
      if (exports.delta_apply(from, base.length, instructions, delta.length, result, sizeBytes) === 0) {
        throw new GitError("corrupt-delta", { reason: "its instructions are malformed" });
      }
      return copyTo(target, instance.bytes(result, sizeBytes));
    });
  }

  /** Inflates a zlib stream of any size, piece by piece. Several can be open at once.
   * @param sizeBytes the expected size */
  inflateStream(sizeBytes: number): InflateStream {
    this.#inflater ??= new SharedInflater(new CodecInstance(this.#module));
    return new InflateStream(this.#inflater, sizeBytes);
  }

  /** Continues a saved inflation, as often as needed. */
  resumeInflate(saved: SavedInflate): InflateStream {
    return new InflateStream(this.#inflater!, saved.sizeBytes, saved);
  }

  /** Makes a zlib stream from bytes that arrive in pieces.
   * @param isRaw omits zlib's header and checksum */
  deflateStream(level: DeflateLevel = DEFAULT_LEVEL, isRaw = false): DeflateStream {
    return new DeflateStream(new CodecInstance(this.#module), level, isRaw);
  }

  /** Hashes bytes that arrive in pieces. */
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

/** Takes the records of a report apart. There may be a million: no object is made for one. */
function readNamed(records: Uint8Array): Pick<CheckedObject, "named" | "special"> {
  const count = records.length / NAMED_BYTES;
  let special = 0;
  for (let at = OID_BYTES; at < records.length; at += NAMED_BYTES) if (records[at]! >= SPECIAL) special += 1;
  const newList = (length: number) => ({ subjects: new Uint8Array(length), oids: new Uint8Array(length * OID_BYTES) });
  const lists = { named: newList(count - special), special: newList(special) };
  const ends = { named: 0, special: 0 };
  for (let at = 0; at < records.length; at += NAMED_BYTES) {
    const subject = records[at + OID_BYTES]!;
    const name = subject >= SPECIAL ? "special" : "named";
    const end = ends[name]++;
    lists[name].subjects[end] = subject;
    for (let k = 0; k < OID_BYTES; k++) lists[name].oids[end * OID_BYTES + k] = records[at + k]!;
  }
  return lists;
}

function checked(oid: Uint8Array, collided: boolean): Uint8Array {
  if (collided) throw new GitError("sha1-collision", { oid: toHex(oid) });
  return oid;
}

/** Bytes copied into the module at a time. */
const PIECE_BYTES = 64 * 1024;

/** SHA-1 with collision detection of bytes that arrive in pieces. */
class Sha1Stream {
  readonly #instance: CodecInstance;
  readonly #hash: number;
  readonly #piece: number;

  /** @param instance of its own: its memory is freed with the stream */
  constructor(instance: CodecInstance) {
    this.#instance = instance;
    this.#hash = instance.exports.sha1_begin();
    this.#piece = instance.take(PIECE_BYTES);
  }

  update(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      this.#instance.bytes(this.#piece, piece.length).set(piece);
      this.#instance.exports.sha1_update(this.#hash, this.#piece, piece.length);
    }
  }

  /** Ends the stream.
   * @throws GitError "sha1-collision" on a collision attack */
  digest(): Uint8Array {
    const collided = this.#instance.exports.sha1_final(this.#hash, this.#piece) !== 0;
    const oid = this.#instance.bytes(this.#piece, OID_BYTES).slice();
    if (collided) throw new GitError("sha1-collision", { oid: toHex(oid) });
    return oid;
  }
}
