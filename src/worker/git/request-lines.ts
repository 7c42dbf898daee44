import { OID_BYTES, toHex } from "../../base/format/oid.ts";
import { GitError } from "../../base/format/errors.ts";
import { type ByteReader, pktText } from "../../base/format/pkt-line.ts";
import type { ShallowUpdate } from "../../contract/fetch.ts";
import { type PacketText, LINES_PER_STEP } from "../../base/http/packet-text.ts";
import { TimeSlice } from "../../base/pacing/time-slice.ts";

/** Reason for refusing a well-framed request, for the ERR packet (byte string); null: accepted. */
export type Refusal = string | null;

/** End of a sequence of lines: a flush or delimiter packet, the end of the request, or a
 * refusal. */
type LinesEnd = "flush" | "delim" | "end" | { readonly refusal: string };

/** Passes lines to `accept`, as byte strings without their LF, up to the first packet that is not a
 * line, or the first refusal.
 * @throws GitError "bad-request" when the request is badly framed */
export async function readLines(reader: ByteReader, accept: (line: string) => Refusal): Promise<LinesEnd> {
  const slice = new TimeSlice();
  for (let lines = 1; ; lines++) {
    if (lines % LINES_PER_STEP === 0) await slice.pause();
    const pkt = await reader.readPkt();
    if (pkt === null) return "end";
    if (pkt.type === "flush" || pkt.type === "delim") return pkt.type;
    if (pkt.type !== "data") throw badFraming(`an unexpected ${pkt.type} packet`);
    const line = pktText(pkt.payload);
    const refusal = line.includes("\0") ? "NUL in a line" : accept(line);
    if (refusal !== null) return { refusal };
  }
}

/** The error for a request whose packets break the protocol. */
export function badFraming(reason: string): GitError {
  return new GitError("bad-request", { reason });
}

/** Writes the client's new shallow boundary, in the lines of all protocol versions.
 * @see gitprotocol-pack(5) "shallow-update", gitprotocol-v2(5) "shallow-info" */
export function writeShallowLines(packets: PacketText, { shallow, unshallow }: ShallowUpdate): void {
  for (let at = 0; at < shallow.length; at += OID_BYTES) packets.bare(`shallow ${toHex(shallow, at)}`);
  for (let at = 0; at < unshallow.length; at += OID_BYTES) packets.bare(`unshallow ${toHex(unshallow, at)}`);
}
