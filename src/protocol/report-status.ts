import type { PushResult } from "../repository/state/push.ts";
import { PacketText } from "./packet-text.ts";

/** Bytes of a reason that are reported: with the longest name a line still fits its packet. */
const MAX_REASON_BYTES = 1_000;

/** Encodes how a push ended, for the capabilities `report-status` and `report-status-v2`.
 * @see gitprotocol-pack(5) "Report Status" */
export function encodeReport({ unpack, refs }: PushResult): Uint8Array {
  const report = new PacketText().line(`unpack ${oneLine(unpack)}`);
  for (const { name, error } of refs) report.line(error === null ? `ok ${name}` : `ng ${name} ${oneLine(error)}`);
  return report.flush().toBytes();
}

/** A reason as one line of plain text: objects name themselves in it, with whatever bytes. */
function oneLine(reason: string): string {
  return reason.replaceAll(/[^ -~]/g, "?").slice(0, MAX_REASON_BYTES);
}
