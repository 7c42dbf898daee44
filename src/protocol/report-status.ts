import type { PushResult } from "../repository/state/push.ts";
import { PacketText } from "./packet-text.ts";

/** Byte limit for a reported reason: with the longest ref name, the line still fits into a
 * packet. */
const MAX_REASON_BYTES = 1_000;

/** Encodes the result of a push for the capabilities `report-status` and `report-status-v2`.
 * @see gitprotocol-pack(5) "Report Status" */
export function encodeReport({ unpack, refs }: PushResult): Uint8Array {
  const report = new PacketText().line(`unpack ${oneLine(unpack)}`);
  for (const { name, error } of refs) report.line(error === null ? `ok ${name}` : `ng ${name} ${oneLine(error)}`);
  return report.flush().toBytes();
}

/** A reason as one line of plain text: names from objects may contain any bytes. */
function oneLine(reason: string): string {
  return reason.replaceAll(/[^ -~]/g, "?").slice(0, MAX_REASON_BYTES);
}
