import { LF, fromByteString, joinBytes, toByteString, writeByteString } from "./byte-string.ts";
import { GitError } from "./errors.ts";

/** Bytes of a pkt-line's length prefix: four hex digits, which count themselves. */
export const PKT_HEADER_BYTES = 4;

/** Bytes of the longest pkt-line, its length included ("fff0"). @see gitprotocol-common(5) */
export const MAX_PKT_BYTES = 65_520;

/** "0000": the end of a message. Shared: do not write to it. */
export const FLUSH_PKT: Uint8Array = fromByteString("0000");

/** One decoded packet. A payload is a view of the buffer that it was read from. */
export type Pkt =
  | { readonly type: "data"; readonly payload: Uint8Array }
  | { readonly type: "flush" | "delim" | "response-end" };

/** The packets without content, by their length. */
const SPECIAL_PKTS: readonly Pkt[] = [{ type: "flush" }, { type: "delim" }, { type: "response-end" }];

/** Frames bytes as one pkt-line.
 * @param payload bytes, or a byte string, at most 65,516
 * @throws RangeError if the payload is longer: splitting is up to the caller */
export function encodePkt(payload: Uint8Array | string): Uint8Array {
  const pkt = new Uint8Array(PKT_HEADER_BYTES + payload.length);
  if (typeof payload === "string") writeByteString(payload, pkt, PKT_HEADER_BYTES);
  else pkt.set(payload, PKT_HEADER_BYTES);
  writePktLength(pkt.length, pkt, 0);
  return pkt;
}

/** Writes the four hex digits of a pkt-line's length.
 * @param pktBytes length of the whole packet, header included
 * @throws RangeError above 65,520 */
export function writePktLength(pktBytes: number, into: Uint8Array, offset: number): void {
  if (pktBytes > MAX_PKT_BYTES) throw new RangeError(`a pkt-line of ${pktBytes} bytes is too long`);
  for (let digit = 0; digit < PKT_HEADER_BYTES; digit++) {
    const nibble = (pktBytes >> (12 - 4 * digit)) & 15;
    into[offset + digit] = nibble < 10 ? 48 + nibble : 87 + nibble;
  }
}

/** Decodes a text packet's content to a byte string, without its trailing LF, if any. */
export function pktText(payload: Uint8Array): string {
  return toByteString(payload.at(-1) === LF ? payload.subarray(0, -1) : payload);
}

/** Reads a streamed body: first pkt-lines, then raw bytes (a pack), without losing bytes in
 * between. */
export class ByteReader {
  readonly #pull: () => Promise<Uint8Array | null>;
  #buffered: Uint8Array = new Uint8Array(0);
  #consumedBytes = 0;

  /** @param pull returns the next piece, or null at the end, also when called again; a returned
   * piece is never overwritten */
  constructor(pull: () => Promise<Uint8Array | null>) {
    this.#pull = pull;
  }

  /** Bytes returned so far, for checking limits of a section. */
  get consumedBytes(): number {
    return this.#consumedBytes;
  }

  /** Reads one packet.
   * @returns null if the body ends before it
   * @throws GitError "bad-request" on a length that is not hex, 0003 or above fff0, or a truncated
   * packet */
  async readPkt(): Promise<Pkt | null> {
    if (this.#buffered.length < PKT_HEADER_BYTES) await this.#fill(PKT_HEADER_BYTES);
    if (this.#buffered.length === 0) return null;
    const pktBytes = decodePktLength(this.#buffered);
    return decodePkt(await this.readExact(pktBytes));
  }

  /** Reads exactly this many bytes; returns a view where they are contiguous.
   * @throws GitError "bad-request" if the body ends before */
  async readExact(sizeBytes: number): Promise<Uint8Array> {
    if (this.#buffered.length < sizeBytes) await this.#fill(sizeBytes);
    if (this.#buffered.length < sizeBytes) throw truncated();
    return this.#take(sizeBytes);
  }

  /** Returns the next raw bytes: first what is buffered, then the source's pieces without copying.
   * @returns at least 1 byte, or null at the body's end */
  async read(): Promise<Uint8Array | null> {
    if (this.#buffered.length === 0) await this.#fill(1);
    return this.#buffered.length === 0 ? null : this.#take(this.#buffered.length);
  }

  #take(sizeBytes: number): Uint8Array {
    const taken = this.#buffered.subarray(0, sizeBytes);
    this.#buffered = this.#buffered.subarray(sizeBytes);
    this.#consumedBytes += sizeBytes;
    return taken;
  }

  /** Pulls until this many bytes are buffered or the source ends. Pieces are joined once, at the
   * end, so that even a body in single bytes takes linear time. */
  async #fill(wantedBytes: number): Promise<void> {
    const pieces = [this.#buffered];
    let bufferedBytes = this.#buffered.length;
    while (bufferedBytes < wantedBytes) {
      const piece = await this.#pull();
      if (piece === null) break;
      pieces.push(piece);
      bufferedBytes += piece.length;
    }
    this.#buffered = joinPieces(pieces);
  }
}

/** Joins pieces; a single one that is not empty is not copied. */
function joinPieces(pieces: readonly Uint8Array[]): Uint8Array {
  const filled = pieces.filter((piece) => piece.length > 0);
  return filled.length === 1 ? filled[0]! : joinBytes(filled);
}

/** Length of the packet that begins here, with its prefix; 4 for the special packets. */
function decodePktLength(bytes: Uint8Array): number {
  if (bytes.length < PKT_HEADER_BYTES) throw truncated();
  let length = 0;
  for (let at = 0; at < PKT_HEADER_BYTES; at++) {
    const nibble = hexNibble(bytes[at]!);
    if (nibble < 0) throw badLength(bytes);
    length = length * 16 + nibble;
  }
  if (length === 3 || length > MAX_PKT_BYTES) throw badLength(bytes);
  return Math.max(length, PKT_HEADER_BYTES);
}

/** Decodes one packet whose length has been checked. "0004", an empty line, should not be sent but
 * may be received. */
function decodePkt(pkt: Uint8Array): Pkt {
  const special = pkt.length === PKT_HEADER_BYTES ? SPECIAL_PKTS[pkt[3]! - 0x30] : undefined;
  return special ?? { type: "data", payload: pkt.subarray(PKT_HEADER_BYTES) };
}

function hexNibble(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function truncated(): GitError {
  return new GitError("bad-request", { reason: "the body ends inside a packet" });
}

function badLength(bytes: Uint8Array): GitError {
  const length = JSON.stringify(toByteString(bytes.subarray(0, PKT_HEADER_BYTES)));
  return new GitError("bad-request", { reason: `bad pkt-line length ${length}` });
}
