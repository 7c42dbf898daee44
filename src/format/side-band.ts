import { encodePkt, MAX_PKT_BYTES, PKT_HEADER_BYTES, writePktLength } from "./pkt-line.ts";

/** What a multiplexed packet carries. @see gitprotocol-pack(5) "Packfile Data" */
export type Band = typeof PACK_BAND | typeof PROGRESS_BAND | typeof ERROR_BAND;

/** The band of the pack, or of report-status. */
export const PACK_BAND = 1;

/** The band of progress messages for the user. */
export const PROGRESS_BAND = 2;

/** The band of the message that ends the connection. */
export const ERROR_BAND = 3;

/** Data bytes of a packet under the capability `side-band-64k`, and always in protocol v2. */
export const SIDE_BAND_64K_DATA_BYTES = MAX_PKT_BYTES - PKT_HEADER_BYTES - 1;

/** Data bytes of a packet under the old capability `side-band`: 1,000 with length and band. */
export const SIDE_BAND_DATA_BYTES = 1_000 - PKT_HEADER_BYTES - 1;

/** Bytes of the buffers that the framer hands out: eight of the longest packets, since large writes are what makes streams fast. */
export const FRAME_BUFFER_BYTES = 8 * MAX_PKT_BYTES;

/** Bytes before each packet's data: length and band. */
const FRAME_HEADER_BYTES = PKT_HEADER_BYTES + 1;

/** Frames one message, split where it is longer than a packet.
 * @param maxDataBytes `SIDE_BAND_64K_DATA_BYTES` or `SIDE_BAND_DATA_BYTES` */
export function* encodeSideBand(
  band: Band,
  message: Uint8Array,
  maxDataBytes = SIDE_BAND_64K_DATA_BYTES,
): Generator<Uint8Array, void> {
  for (let at = 0; at < message.length; at += maxDataBytes) {
    const data = message.subarray(at, at + maxDataBytes);
    const payload = new Uint8Array(1 + data.length);
    payload[0] = band;
    payload.set(data, 1);
    yield encodePkt(payload);
  }
}

/** Frames a long stream on one band into buffers of about 512 KB, all alike but the last. Each byte is copied once, packets are
 * full whatever the pieces' sizes, and a packet costs no more than one view of its piece. */
export class SideBandFramer {
  readonly #band: Band;
  readonly #maxPacketBytes: number;
  readonly #bufferBytes: number;
  #buffer: Uint8Array | null = null;
  /** End of what is written into the buffer. */
  #end = 0;
  /** Where the open packet begins; packets fill the buffer without a gap. */
  #packetStart = 0;

  /** @param maxDataBytes `SIDE_BAND_64K_DATA_BYTES` or `SIDE_BAND_DATA_BYTES` */
  constructor(band: Band = PACK_BAND, maxDataBytes = SIDE_BAND_64K_DATA_BYTES) {
    this.#band = band;
    this.#maxPacketBytes = FRAME_HEADER_BYTES + maxDataBytes;
    this.#bufferBytes = Math.floor(FRAME_BUFFER_BYTES / this.#maxPacketBytes) * this.#maxPacketBytes;
  }

  /** Frames the next piece; it may be reused once the generator is done.
   * @yields buffers as they fill; each is the receiver's to keep */
  *frame(piece: Uint8Array): Generator<Uint8Array, void> {
    for (let at = 0; at < piece.length;) {
      const buffer = (this.#buffer ??= new Uint8Array(this.#bufferBytes));
      if (this.#end === this.#packetStart) this.#end += FRAME_HEADER_BYTES;
      const packetEnd = this.#packetStart + this.#maxPacketBytes;
      const size = Math.min(piece.length - at, packetEnd - this.#end);
      buffer.set(piece.subarray(at, at + size), this.#end);
      at += size;
      this.#end += size;
      if (this.#end < packetEnd) continue;
      this.#closePacket(buffer);
      if (this.#end === this.#bufferBytes) yield this.#release(buffer);
    }
  }

  /** Closes the open packet, at the stream's end or before something on another band.
   * @returns what was not handed out yet, or null */
  flush(): Uint8Array | null {
    if (this.#buffer === null) return null;
    if (this.#end > this.#packetStart) this.#closePacket(this.#buffer);
    return this.#release(this.#buffer);
  }

  #closePacket(buffer: Uint8Array): void {
    writePktLength(this.#end - this.#packetStart, buffer, this.#packetStart);
    buffer[this.#packetStart + PKT_HEADER_BYTES] = this.#band;
    this.#packetStart = this.#end;
  }

  #release(buffer: Uint8Array): Uint8Array {
    const filled = buffer.subarray(0, this.#end);
    this.#buffer = null;
    this.#end = this.#packetStart = 0;
    return filled;
  }
}
