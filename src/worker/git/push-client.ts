// A push that the Worker itself makes, from data that arrived in another form. It uses git's own
// wire format, so that all pushes take the same path.
import { OBJECT_FORMAT, toHex } from "../../base/format/oid.ts";
import { ALLOW_MISSING_LFS, type RefCommand } from "../../contract/push.ts";
import { PacketText } from "../../base/http/packet-text.ts";
import { PUSH_OUTCOME_TYPE } from "../../contract/push-outcome.ts";

/** Builds the request of an atomic push, which may lack the LFS objects of its pointer files, and
 * whose response `readOutcome` reads.
 * @param url of the repository
 * @param commands at least one
 * @param pack read as the push consumes it
 * @see gitprotocol-pack(5) "Reference Update Request and Packfile Transfer" */
export function newPushRequest(
  url: string,
  commands: readonly RefCommand[],
  pack: ReadableStream<Uint8Array>,
): Request {
  const head = new PacketText();
  commands.forEach((command, i) => {
    const capabilities = i === 0 ? `\0atomic push-options object-format=${OBJECT_FORMAT}` : "";
    head.line(`${toHex(command.old)} ${toHex(command.new)} ${command.name}${capabilities}`);
  });
  let packReader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(head.flush().line(ALLOW_MISSING_LFS).flush().toBytes()),
    pull: async (controller) => {
      packReader ??= pack.getReader();
      const { value, done } = await packReader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => packReader?.cancel(reason) ?? pack.cancel(reason),
  });
  const headers = { "Content-Type": "application/x-git-receive-pack-request", Accept: PUSH_OUTCOME_TYPE };
  return new Request(`${url}/git-receive-pack`, { method: "POST", headers, body, duplex: "half" } as RequestInit);
}
