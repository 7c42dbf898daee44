// A push that the Worker makes itself, from data that came another way. It uses git's own wire
// format, so that there is one way in.
import { GitError, type GitErrorCode } from "../format/errors.ts";
import { OBJECT_FORMAT, toHex } from "../format/oid.ts";
import { decodePkts, pktText } from "../format/pkt-line.ts";
import type { PushResult, RefCommand, RefOutcome } from "../repository/state/push.ts";
import { PacketText } from "./packet-text.ts";

/** Error codes for the statuses of a refused push. Any other status below 500 is the request's
 * fault, else the server's. */
const CODES: Readonly<Record<number, GitErrorCode>> = {
  403: "forbidden",
  404: "not-found",
  408: "timeout",
  409: "conflict",
  503: "unavailable",
};

/** Builds the request of an atomic push.
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
    const capabilities = i === 0 ? `\0report-status atomic object-format=${OBJECT_FORMAT}` : "";
    head.line(`${toHex(command.old)} ${toHex(command.new)} ${command.name}${capabilities}`);
  });
  let packReader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(head.flush().toBytes()),
    pull: async (controller) => {
      packReader ??= pack.getReader();
      const { value, done } = await packReader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => packReader?.cancel(reason) ?? pack.cancel(reason),
  });
  const headers = { "Content-Type": "application/x-git-receive-pack-request" };
  return new Request(`${url}/git-receive-pack`, { method: "POST", headers, body, duplex: "half" } as RequestInit);
}

/** Reads the result of a push.
 * @param commands the same as for `newPushRequest`: the report lists them in that order
 * @throws GitError for a request that was refused as a whole; "storage-failed" if the server
 * failed */
export async function readPushResult(response: Response, commands: readonly RefCommand[]): Promise<PushResult> {
  if (response.status !== 200) {
    const code = CODES[response.status] ?? (response.status < 500 ? "invalid" : "storage-failed");
    throw new GitError(code, { what: "push", reason: (await response.text()).trim() });
  }
  const [unpack, ...lines] = Array.from(decodePkts(new Uint8Array(await response.arrayBuffer())), (pkt) =>
    pkt.type === "data" ? pktText(pkt.payload) : "",
  ).filter((line) => line !== "");
  const refs = commands.map(({ name }, i): RefOutcome => {
    const line = lines[i] ?? "";
    // A name may contain anything, so a line can be split only by the name expected in it.
    return { name, error: line === `ok ${name}` ? null : line.slice(`ng ${name} `.length) };
  });
  return { unpack: unpack!.slice("unpack ".length), refs };
}
