import type { Codec } from "../../base/codec/codec.ts";
import { GitError, objectTooLarge } from "../../base/format/errors.ts";
import { SHED_FILE } from "../../base/format/limits.ts";
import { BLOB, objectHeader } from "../../base/format/object.ts";
import { encodeEntryHeader } from "../../base/format/pack.ts";
import { type CountWork, inflateStored, type LargeContent, type StoredEntry } from "./large-content.ts";

/** The deflate level of new entries. Storing them is most of the cost of applying a delta; a lower
 * level would be cheaper. */
const LEVEL = 1;

/** The most bytes of one instruction: an insertion. */
const MAX_INSTRUCTION_BYTES = 128;

/** Bytes that are hashed and deflated at once. */
const PIECE_BYTES = 64 * 1024;

/** The work of an instruction besides its bytes, and of a deflated byte, relative to a byte that is
 * inflated or hashed. */
const INSTRUCTION_WORK = 64;
const DEFLATED_WORK = 6;

/** The base of a delta. */
export type DeltaBase = Pick<LargeContent, "sizeBytes" | "copy">;

/** A base in memory. */
export function baseOf(content: Uint8Array): DeltaBase {
  return {
    sizeBytes: content.length,
    async *copy(start, length) {
      yield content.subarray(start, start + length);
    },
  };
}

interface LargeDelta {
  readonly delta: StoredEntry;
  readonly base: DeltaBase;
  readonly codec: Pick<Codec, "inflateStream" | "deflateStream" | "sha1Stream">;
  readonly maxObjectBytes: number;
  readonly count: CountWork;
  /** Receives the entry of the new object, in pieces. */
  store(bytes: Uint8Array): Promise<void>;
}

/** Undeltifies a blob and stores it whole. The delta's instructions are read, the base is copied
 * and the result is hashed and deflated piece by piece, so that none of them is ever held whole.
 * @returns the blob's id and size (bytes)
 * @throws GitError "corrupt-pack", "too-large", "sha1-collision", the errors of `store` and `count`
 * @see gitformat-pack(5) "Deltified representation" */
export async function storeLarge(options: LargeDelta): Promise<{ oid: Uint8Array; sizeBytes: number }> {
  const { delta, base, codec, count } = options;
  const instructions = new Instructions(inflateStored(delta, codec, count));
  await instructions.fill();
  const baseBytes = instructions.readSize();
  const sizeBytes = instructions.readSize();
  if (baseBytes !== base.sizeBytes) throw malformed(`it was not made for a base of ${base.sizeBytes} bytes`);
  if (sizeBytes > options.maxObjectBytes)
    throw objectTooLarge("object (bytes)", options.maxObjectBytes, sizeBytes, SHED_FILE);
  const entry = new EntryWriter(options, sizeBytes);
  while (await instructions.fill()) {
    await count(INSTRUCTION_WORK);
    const { inserted, offset, size } = instructions.next();
    if (inserted !== null) await entry.add(inserted);
    else if (offset + size > baseBytes) throw malformed("it copies from beyond the end of its base");
    else for await (const piece of base.copy(offset, size)) await entry.add(piece);
  }
  return { oid: await entry.end(), sizeBytes };
}

/** Writes a blob's entry. */
class EntryWriter {
  readonly #options: LargeDelta;
  readonly #sizeBytes: number;
  readonly #hash: ReturnType<Codec["sha1Stream"]>;
  readonly #deflate: ReturnType<Codec["deflateStream"]>;
  readonly #piece = new Uint8Array(PIECE_BYTES);
  #filled = 0;
  #madeBytes = 0;
  /** The entry's header, written with the first piece: nothing is written for a delta that turns
   * out malformed at once. */
  #header: Uint8Array | null;

  constructor(options: LargeDelta, sizeBytes: number) {
    this.#options = options;
    this.#sizeBytes = sizeBytes;
    this.#hash = options.codec.sha1Stream();
    this.#hash.update(objectHeader("blob", sizeBytes));
    this.#deflate = options.codec.deflateStream(LEVEL);
    this.#header = encodeEntryHeader(BLOB, sizeBytes);
  }

  async add(bytes: Uint8Array): Promise<void> {
    this.#madeBytes += bytes.length;
    if (this.#madeBytes > this.#sizeBytes) throw malformed(`it makes more than ${this.#sizeBytes} bytes`);
    for (let at = 0; at < bytes.length;) {
      const taken = bytes.subarray(at, at + PIECE_BYTES - this.#filled);
      this.#piece.set(taken, this.#filled);
      this.#filled += taken.length;
      at += taken.length;
      if (this.#filled === PIECE_BYTES) await this.#flush();
    }
  }

  /** Ends the entry. @returns the blob's id */
  async end(): Promise<Uint8Array> {
    if (this.#madeBytes < this.#sizeBytes) throw malformed(`it makes fewer than ${this.#sizeBytes} bytes`);
    await this.#flush();
    const oid = this.#hash.digest();
    for (const bytes of this.#deflate.end()) await this.#options.store(bytes);
    return oid;
  }

  async #flush(): Promise<void> {
    const piece = this.#piece.subarray(0, this.#filled);
    this.#filled = 0;
    await this.#options.count(piece.length * DEFLATED_WORK);
    this.#hash.update(piece);
    if (this.#header !== null) await this.#options.store(this.#header);
    this.#header = null;
    for (const bytes of this.#deflate.push(piece)) await this.#options.store(bytes);
  }
}

/** An instruction: bytes to insert, or else a range of the base to copy. */
interface Instruction {
  readonly inserted: Uint8Array | null;
  readonly offset: number;
  readonly size: number;
}

/** Reads a delta as it is inflated. */
class Instructions {
  readonly #pieces: AsyncGenerator<Uint8Array, void, void>;
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;

  constructor(pieces: AsyncGenerator<Uint8Array, void, void>) {
    this.#pieces = pieces;
  }

  /** Buffers a whole instruction, if there is one. @returns whether anything is left */
  async fill(): Promise<boolean> {
    while (this.#bytes.length - this.#at < MAX_INSTRUCTION_BYTES) {
      const { value, done } = await this.#pieces.next();
      if (done === true) return this.#at < this.#bytes.length;
      const rest = this.#bytes.subarray(this.#at);
      this.#bytes = new Uint8Array(rest.length + value.length);
      this.#bytes.set(rest);
      this.#bytes.set(value, rest.length);
      this.#at = 0;
    }
    return true;
  }

  /** A size at the delta's beginning; below 2^56, as in the module. */
  readSize(): number {
    let size = 0;
    for (let scale = 1; scale < 2 ** 56; scale *= 128) {
      const byte = this.#byte();
      size += (byte & 0x7f) * scale;
      if ((byte & 0x80) === 0) return size;
    }
    throw malformed("a size in it overflows");
  }

  next(): Instruction {
    const opcode = this.#byte();
    if (opcode === 0) throw malformed("it has the reserved instruction 0");
    if ((opcode & 0x80) !== 0) {
      const offset = this.#field(opcode, 0, 4);
      const size = this.#field(opcode, 4, 3);
      return { inserted: null, offset, size: size === 0 ? 0x1_0000 : size };
    }
    const inserted = this.#bytes.subarray(this.#at, this.#at + opcode);
    if (inserted.length < opcode) throw malformed("it is cut short");
    this.#at += opcode;
    return { inserted, offset: 0, size: 0 };
  }

  /** A number, lowest byte first, of the bytes whose bits are set in the opcode. */
  #field(opcode: number, firstBit: number, count: number): number {
    let value = 0;
    for (let i = 0; i < count; i++) if ((opcode & (1 << (firstBit + i))) !== 0) value += this.#byte() * 2 ** (8 * i);
    return value;
  }

  #byte(): number {
    if (this.#at === this.#bytes.length) throw malformed("it is cut short");
    return this.#bytes[this.#at++]!;
  }
}

function malformed(reason: string): GitError {
  return new GitError("corrupt-pack", { reason: `a delta is malformed: ${reason}` });
}
