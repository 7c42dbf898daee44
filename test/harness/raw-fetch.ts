/** A client of protocol v2 that asks as git does and discards what arrives, to leave the machine to
 * the server. */
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { gzipSync } from "node:zlib";
import { authorization } from "./authorization.ts";
import { DELIM, encodePkt, FLUSH } from "./raw.ts";

/** The measures of one response. */
interface RawFetch {
  /** From the request to the first byte of the pack or the refs. */
  readonly firstByteSeconds: number;
  readonly totalSeconds: number;
  /** On the wire, including HTTP's framing. */
  readonly sizeBytes: number;
  /** The value of the header `Holdfast-Cache`; null without one. */
  readonly cache: string | null;
}

/** A command that can be sent any number of times. */
export interface RawCommand {
  readonly body: Buffer;
  /** The first bytes of the pack or the refs. */
  readonly start: Buffer;
}

/** How much of the response is searched for the start and the HTTP header. */
const HEAD_BYTES = 4096;

/** A flush packet, then the end of a chunked body or of one with a length. */
const ENDS = ["0000\r\n0\r\n\r\n", "0000"];

function encodeCommand(name: string, lines: readonly string[]): Buffer {
  const capabilities = [`command=${name}`, "agent=git/2.39.5", "object-format=sha1"];
  return gzipSync(
    Buffer.concat([
      ...capabilities.map((line) => encodePkt(line)),
      DELIM,
      ...lines.map((line) => encodePkt(`${line}\n`)),
      FLUSH,
    ]),
  );
}

/** A fetch by a client that has nothing.
 * @param options further lines, such as `deepen 1` */
export function fetchCommand(wants: readonly string[], ...options: readonly string[]): RawCommand {
  const lines = ["thin-pack", "no-progress", "include-tag", "ofs-delta", ...options];
  const body = encodeCommand("fetch", [...lines, ...wants.map((oid) => `want ${oid}`), "done"]);
  // Without the side-band's number: HTTP may frame it separately. @see gitformat-pack(5)
  return { body, start: Buffer.from("PACK\0\0\0\x02", "latin1") };
}

/** A list of the refs with one of some prefixes; of all refs without any. */
export function lsRefsCommand(...prefixes: readonly string[]): RawCommand {
  const lines = ["peel", "symrefs", ...prefixes.map((prefix) => `ref-prefix ${prefix}`)];
  return { body: encodeCommand("ls-refs", lines), start: Buffer.from("\r\n\r\n") };
}

const HEADERS = {
  "content-type": "application/x-git-upload-pack-request",
  accept: "application/x-git-upload-pack-result",
  "git-protocol": "version=2",
  "content-encoding": "gzip",
};

/** Sends a command on its own connection. Counts the response, reading it into one reused buffer.
 * @throws Error if the server refuses, or ends early */
export function sendRaw(url: string, { body, start }: RawCommand): Promise<RawFetch> {
  const { protocol, hostname, port, pathname, host } = new URL(`${url}/git-upload-pack`);
  const began = performance.now();
  const readClock = (): number => (performance.now() - began) / 1000;
  return new Promise((resolve, reject) => {
    let sizeBytes = 0;
    let firstByteSeconds: number | undefined;
    let head = Buffer.alloc(0);
    let tail = "";
    const take = (size: number, buffer: Uint8Array): boolean => {
      sizeBytes += size;
      if (firstByteSeconds === undefined) {
        head = Buffer.concat([head, buffer.subarray(0, Math.min(size, HEAD_BYTES))]);
        if (head.includes(start)) firstByteSeconds = readClock();
      }
      tail = (tail + Buffer.from(buffer.subarray(Math.max(0, size - 16), size)).toString("latin1")).slice(-16);
      return true;
    };
    const onread = { buffer: Buffer.alloc(1024 * 1024), callback: take };
    const isTls = protocol === "https:";
    const address = { port: Number(port) || (isTls ? 443 : 80), host: hostname, onread };
    const socket = isTls ? connectTls({ ...address, servername: hostname }) : connect(address);
    socket.on("error", reject);
    socket.on("end", () => {
      socket.destroy();
      const text = head.toString("latin1");
      if (firstByteSeconds === undefined || !ENDS.some((end) => tail.endsWith(end))) {
        reject(new Error(`the answer is incomplete: ${text.slice(0, 600)} … ${JSON.stringify(tail)}`));
        return;
      }
      const cache = /^Holdfast-Cache: *(\S+)/im.exec(text)?.[1] ?? null;
      resolve({ firstByteSeconds, totalSeconds: readClock(), sizeBytes, cache });
    });
    const headers = { host, connection: "close", "content-length": body.length, ...HEADERS, ...authorization() };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`POST ${pathname} HTTP/1.1\r\n${lines.join("")}\r\n`);
    socket.write(body);
  });
}
