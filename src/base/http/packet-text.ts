import { fromByteString } from "../format/byte-string.ts";
import { MAX_PKT_BYTES, PKT_HEADER_BYTES } from "../format/pkt-line.ts";
import type { Band } from "../format/side-band.ts";

/** A sequence of text packets, collected as one byte string: thousands of short packets cost one
 * buffer. */
export class PacketText {
  readonly #prefix: string;
  #text = "";

  /** @param band band on which the lines are sent; null: not multiplexed */
  constructor(band: Band | null = null) {
    this.#prefix = band === null ? "" : String.fromCharCode(band);
  }

  /** Adds a line and its LF.
   * @param line byte string
   * @throws RangeError if it is longer than a packet */
  line(line: string): this {
    return this.bare(`${line}\n`);
  }

  /** Adds text without an LF: git omits it from some lines, and not every client accepts one there.
   * @param text byte string
   * @throws RangeError if it is longer than a packet */
  bare(text: string): this {
    const length = PKT_HEADER_BYTES + this.#prefix.length + text.length;
    if (length > MAX_PKT_BYTES) throw new RangeError(`a packet of ${length} bytes is too long`);
    this.#text += `${length.toString(16).padStart(4, "0")}${this.#prefix}${text}`;
    return this;
  }

  flush(): this {
    this.#text += "0000";
    return this;
  }

  delim(): this {
    this.#text += "0001";
    return this;
  }

  /** The packets so far. */
  toBytes(): Uint8Array {
    return fromByteString(this.#text);
  }
}

/** Lines of a request that are read between two looks at the clock: a tenth of a millisecond. */
export const LINES_PER_STEP = 32;
