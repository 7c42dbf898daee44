// Decodes a response as a client does, from memory. The server itself reads packets from streams
// only.
import { GitError } from "../../src/base/format/errors.ts";
import { fromByteString, toByteString } from "../../src/base/format/byte-string.ts";
import { MAX_PKT_BYTES, type Pkt, PKT_HEADER_BYTES } from "../../src/base/format/pkt-line.ts";
import { type Band, ERROR_BAND, PACK_BAND, PROGRESS_BAND } from "../../src/base/format/side-band.ts";

/** "0001": the end of a section, protocol v2. */
export const DELIM_PKT: Uint8Array = fromByteString("0001");

/** "0002": the end of a response over a stateless connection, protocol v2. */
export const RESPONSE_END_PKT: Uint8Array = fromByteString("0002");

const SPECIAL_PKTS: readonly Pkt[] = [{ type: "flush" }, { type: "delim" }, { type: "response-end" }];

/** Decodes a body that is in memory as a whole.
 * @yields its packets in order, up to the last byte
 * @throws GitError "bad-request" on a length that is not hex, 0003 or above fff0, or a truncated
 * packet */
export function* decodePkts(body: Uint8Array): Generator<Pkt, void> {
  for (let offset = 0; offset < body.length;) {
    const digits = toByteString(body.subarray(offset, offset + PKT_HEADER_BYTES));
    const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : NaN;
    const end = offset + Math.max(PKT_HEADER_BYTES, length);
    if (length === 3 || length > MAX_PKT_BYTES || !(end <= body.length))
      throw new GitError("bad-request", { reason: `no packet begins with ${JSON.stringify(digits)}` });
    yield SPECIAL_PKTS[length] ?? { type: "data", payload: body.subarray(offset + PKT_HEADER_BYTES, end) };
    offset = end;
  }
}

/** Splits a packet's payload into its band and data.
 * @throws GitError "bad-request" on an empty payload or an unknown band */
export function decodeSideBand(payload: Uint8Array): { band: Band; data: Uint8Array } {
  const band = payload[0];
  if (band !== PACK_BAND && band !== PROGRESS_BAND && band !== ERROR_BAND)
    throw new GitError("bad-request", { reason: `side-band ${band ?? "missing"} is unknown` });
  return { band, data: payload.subarray(1) };
}
