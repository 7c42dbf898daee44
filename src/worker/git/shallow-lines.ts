import { OID_BYTES, toHex } from "../../base/format/oid.ts";
import type { ShallowUpdate } from "../../contract/fetch.ts";
import type { PacketText } from "../../base/http/packet-text.ts";

/** Writes the client's new shallow boundary, in lines that are the same in all protocol versions.
 * @see gitprotocol-pack(5) "shallow-update", gitprotocol-v2(5) "shallow-info" */
export function writeShallowLines(packets: PacketText, { shallow, unshallow }: ShallowUpdate): void {
  for (let at = 0; at < shallow.length; at += OID_BYTES) packets.bare(`shallow ${toHex(shallow, at)}`);
  for (let at = 0; at < unshallow.length; at += OID_BYTES) packets.bare(`unshallow ${toHex(unshallow, at)}`);
}
