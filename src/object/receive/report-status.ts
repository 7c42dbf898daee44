import { type RefOutcome, explainRefusal } from "../../contract/push.ts";
import { PacketText } from "../../base/http/packet-text.ts";

/** Byte limit for a reported reason: with the longest ref name, the line still fits into a
 * packet. */
const MAX_REASON_BYTES = 1_000;

/** Encodes the result of a push for the capabilities `report-status` and `report-status-v2`.
 * @param unpack "ok", or why the pack was refused
 * @see gitprotocol-pack(5) "Report Status" */
export function encodeReport(unpack: string, refs: readonly RefOutcome[]): Uint8Array {
  const report = new PacketText().line(`unpack ${oneLine(unpack)}`);
  for (const { name, refusal } of refs)
    report.line(refusal === null ? `ok ${name}` : `ng ${name} ${oneLine(explainRefusal(refusal))}`);
  return report.flush().toBytes();
}

/** A reason as one line of plain text: names from objects may contain any bytes. */
function oneLine(reason: string): string {
  return reason.replaceAll(/[^ -~]/g, "?").slice(0, MAX_REASON_BYTES);
}
