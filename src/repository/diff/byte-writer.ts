import { writeByteString } from "../../format/byte-string.ts";

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

  /** @throws RangeError on a char code above 255 */
  writeByteString(byteString: string): void {
    this.#reserve(byteString.length);
    this.#length = writeByteString(byteString, this.#buffer, this.#length);
  }

  /** The bytes written. The writer must not be used afterwards. */
  finish(): Uint8Array {
    return this.#buffer.slice(0, this.#length);
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#buffer.length * 2));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}
