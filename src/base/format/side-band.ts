import { encodePkt, MAX_PKT_BYTES, PKT_HEADER_BYTES, writePktLength } from "./pkt-line.ts";

/** The content of a multiplexed packet. @see gitprotocol-pack(5) "Packfile Data" */
export type Band = typeof PACK_BAND | typeof PROGRESS_BAND | typeof ERROR_BAND;

/** The band of the pack, or of report-status. */
export const PACK_BAND = 1;

/** The band of progress messages for the user. */
export const PROGRESS_BAND = 2;

/** The band of an error message that ends the connection. */
export const ERROR_BAND = 3;

/** Data bytes of a packet with the capability `side-band-64k`, and always in protocol v2. */
export const SIDE_BAND_64K_DATA_BYTES = MAX_PKT_BYTES - PKT_HEADER_BYTES - 1;

/** Data bytes of a packet with the old capability `side-band`: 1,000 with length and band. */
export const SIDE_BAND_DATA_BYTES = 1_000 - PKT_HEADER_BYTES - 1;

/** Bytes of the framer's buffers: eight of the longest packets, since large writes make streams
 * fast. */
export const FRAME_BUFFER_BYTES = 8 * MAX_PKT_BYTES;

/** Bytes before each packet's data: length and band. */
const FRAME_HEADER_BYTES = PKT_HEADER_BYTES + 1;

/** Frames one message, split if it is longer than a packet.
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

/** Frames a long stream on one band into buffers of about 512 KB, all of the same size but the
 * last. Each byte is copied once, packets are full whatever the sizes of the pieces, and a packet
 * costs no more than one view of its piece. */
export class SideBandFramer {
  readonly #band: Band;
  readonly #maxPacketBytes: number;
  readonly #bufferBytes: number;
  #buffer: Uint8Array | null = null;
  /** End of the bytes written to the buffer. */
  #end = 0;
  /** Start of the open packet; packets fill the buffer without gaps. */
  #packetStart = 0;

  /** @param maxDataBytes `SIDE_BAND_64K_DATA_BYTES` or `SIDE_BAND_DATA_BYTES` */
  constructor(band: Band = PACK_BAND, maxDataBytes = SIDE_BAND_64K_DATA_BYTES) {
    this.#band = band;
    this.#maxPacketBytes = FRAME_HEADER_BYTES + maxDataBytes;
    this.#bufferBytes = Math.floor(FRAME_BUFFER_BYTES / this.#maxPacketBytes) * this.#maxPacketBytes;
  }

  /** Frames the next piece, which may be reused once the generator is done.
   * @yields full buffers; the receiver owns them */
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
   * @returns the remaining bytes, or null */
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
