import { LF, writeByteString } from "../../base/format/byte-string.ts";

/** Collects bytes in a buffer that grows. */
export class ByteWriter {
  #buffer = new Uint8Array(1024);
  #length = 0;

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  write(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Writes each line after a sign.
   * @param lines whole lines; the last may lack its LF */
  writeLines(sign: number, lines: Uint8Array, count: number): void {
    this.#reserve(lines.length + count);
    const buffer = this.#buffer;
    let end = this.#length;
    let isStart = true;
    // Byte by byte: to make a view of each line costs as much as a hundred bytes.
    for (let at = 0; at < lines.length; at++) {
      if (isStart) buffer[end++] = sign;
      const byte = lines[at]!;
      buffer[end++] = byte;
      isStart = byte === LF;
    }
    this.#length = end;
  }

  /** @throws RangeError on a char code above 255 */
  writeByteString(byteString: string): void {
    this.#reserve(byteString.length);
    this.#length = writeByteString(byteString, this.#buffer, this.#length);
  }

  /** The bytes written. The writer must not be used afterwards. */
  finish(): Uint8Array {
    return new Uint8Array(this.#buffer.buffer.transfer(this.#length));
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#buffer.length) return;
    // Frees the old buffer at once, which a copy would leave to the garbage collector.
    this.#buffer = new Uint8Array(this.#buffer.buffer.transfer(Math.max(needed, this.#buffer.length * 2)));
  }
}
