/** A client of protocol v2 that asks for everything as `git clone` does, and drops it as it comes. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { gzipSync } from "node:zlib";
import { DELIM, encodePkt, FLUSH } from "../../test/harness/raw.ts";

/** How a pack came. */
export interface RawFetch {
  /** From the request to the pack's first byte. */
  readonly firstByteSeconds: number;
  readonly totalSeconds: number;
  /** Of the response's body. */
  readonly sizeBytes: number;
}

/** The pack's first bytes on band 1. @see gitprotocol-pack(5), "Packfile Data" */
const PACK_START = Buffer.from("\x01PACK");

/** Fetches all that the wanted objects lead to.
 * @throws Error if the server refuses, or ends early */
export async function fetchRaw(url: string, wants: readonly string[]): Promise<RawFetch> {
  const lines = ["thin-pack", "no-progress", "include-tag", "ofs-delta", ...wants.map((oid) => `want ${oid}`), "done"];
  const body = gzipSync(
    Buffer.concat([
      encodePkt("command=fetch"),
      encodePkt("agent=git/2.39.5"),
      encodePkt("object-format=sha1"),
      DELIM,
      ...lines.map((line) => encodePkt(`${line}\n`)),
      FLUSH,
    ]),
  );
  const start = performance.now();
  const outgoing = request(`${url}/git-upload-pack`, {
    method: "POST",
    agent: false,
    headers: {
      "content-type": "application/x-git-upload-pack-request",
      accept: "application/x-git-upload-pack-result",
      "git-protocol": "version=2",
      "content-encoding": "gzip",
      "content-length": body.length,
    },
  });
  outgoing.end(body);
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  return readPack(response, () => (performance.now() - start) / 1000);
}

async function readPack(response: IncomingMessage, readClock: () => number): Promise<RawFetch> {
  let firstByteSeconds: number | undefined;
  let sizeBytes = 0;
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  for await (const piece of response as AsyncIterable<Buffer>) {
    sizeBytes += piece.length;
    if (firstByteSeconds === undefined) {
      head = Buffer.concat([head, piece]);
      if (head.includes(PACK_START)) firstByteSeconds = readClock();
    }
    tail = Buffer.concat([tail, piece.subarray(-4)]).subarray(-4);
  }
  if (firstByteSeconds === undefined || !tail.equals(FLUSH)) {
    throw new Error(`no whole pack came: status ${response.statusCode}, ${head.toString("latin1", 0, 300)}`);
  }
  return { firstByteSeconds, totalSeconds: readClock(), sizeBytes };
}
