// LEB128 varints, also of integers above 2³², and of differences as zigzag.
import { GitError } from "../../../base/format/errors.ts";

/** Maps 0, −1, 1, −2, … to 0, 1, 2, 3, … */
export function toZigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

/** The inverse of `toZigzag`. */
export function fromZigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

/** Writes integers and bytes into a buffer of sufficient size. */
export class VarintWriter {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #at = 0;

  constructor(mostBytes: number) {
    this.#bytes = new Uint8Array(mostBytes);
  }

  /** Number of bytes written so far. */
  get length(): number {
    return this.#at;
  }

  byte(value: number): void {
    this.#bytes[this.#at++] = value;
  }

  bytes(bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** Skips some bytes, to be written later.
   * @returns their offset */
  skip(bytes: number): number {
    this.#at += bytes;
    return this.#at - bytes;
  }

  /** Writes a little-endian u32 into skipped bytes. */
  u32(at: number, value: number): void {
    for (let k = 0; k < 4; k++) this.#bytes[at + k] = value >>> (8 * k);
  }

  varint(value: number): void {
    let rest = value;
    // Divides larger numbers, because bit operations take 32 bits only.
    for (; rest >= 2 ** 31; rest = Math.floor(rest / 128)) this.#bytes[this.#at++] = (rest % 128) | 0x80;
    for (; rest >= 0x80; rest >>>= 7) this.#bytes[this.#at++] = (rest & 0x7f) | 0x80;
    this.#bytes[this.#at++] = rest;
  }

  /** Writes an integer that may be negative. */
  zigzag(value: number): void {
    this.varint(toZigzag(value));
  }

  /** Returns the written bytes. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#at);
  }
}

/** Reads the output of a `VarintWriter`. */
export class VarintReader {
  readonly #bytes: Uint8Array;
  readonly #table: string;
  /** Offset of the next value. */
  at: number;

  /** @param table table of the bytes, for errors */
  constructor(bytes: Uint8Array, at: number, table: string) {
    this.#bytes = bytes;
    this.at = at;
    this.#table = table;
  }

  /** @throws GitError "storage-failed" when the bytes have ended */
  byte(): number {
    const byte = this.#bytes[this.at++];
    if (byte === undefined) throw this.#cut();
    return byte;
  }

  /** @returns a view
   * @throws as `byte` */
  bytes(count: number): Uint8Array {
    const bytes = this.#bytes.subarray(this.at, this.at + count);
    if (bytes.length < count) throw this.#cut();
    this.at += count;
    return bytes;
  }

  /** @throws as `byte` */
  varint(): number {
    // Handles one byte, the most frequent case, separately: this much is compiled into the loops
    // that call it.
    const byte = this.#bytes[this.at]!;
    if (!(byte < 0x80)) return this.#longVarint();
    this.at += 1;
    return byte;
  }

  #longVarint(): number {
    let byte = this.byte();
    let value = byte & 0x7f;
    // Most of the remaining varints take two bytes, or three.
    byte = this.byte();
    value |= (byte & 0x7f) << 7;
    if (byte < 0x80) return value;
    byte = this.byte();
    value |= (byte & 0x7f) << 14;
    if (byte < 0x80) return value;
    for (let scale = 0x20_0000; byte >= 0x80; scale *= 0x80) {
      byte = this.byte();
      value += (byte & 0x7f) * scale;
    }
    return value;
  }

  /** @throws as `byte` */
  zigzag(): number {
    return fromZigzag(this.varint());
  }

  #cut(): GitError {
    return new GitError("storage-failed", { key: this.#table, reason: "a page is cut" });
  }
}
