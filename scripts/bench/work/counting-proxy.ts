/** A proxy in front of a server, which counts what passes: what the server says of itself is not asked. */
import { once } from "node:events";
import { createServer, type IncomingMessage, request as requestHttp, type ServerResponse } from "node:http";
import { request as requestHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";

/** One that runs. */
export interface CountingProxy {
  /** Without a slash at its end; paths are the server's. */
  readonly url: string;
  /** Takes the bytes of the bodies that the server has sent since the last time, as they came over the wire, by path. */
  takeCounts(): Map<string, number>;
  close(): Promise<void>;
}

/** Starts one on a free loopback port.
 * @param target the server's URL */
export async function startCountingProxy(target: string): Promise<CountingProxy> {
  let counts = new Map<string, number>();
  const server = createServer((incoming, outgoing) => {
    forward(target, incoming, outgoing, (path, sizeBytes) => {
      counts.set(path, (counts.get(path) ?? 0) + sizeBytes);
      // Whoever breaks off has the other side broken off, which then says what it has to say.
    }).catch(() => outgoing.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    takeCounts() {
      const taken = counts;
      counts = new Map();
      return taken;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function forward(
  target: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  count: (path: string, sizeBytes: number) => void,
): Promise<void> {
  const url = new URL(incoming.url!, target);
  const asked = (url.protocol === "https:" ? requestHttps : requestHttp)(url.href, {
    method: incoming.method!,
    headers: { ...incoming.headers, host: url.host },
  });
  // A listener from the first: the answer may come before the request has gone out whole.
  const answered = once(asked, "response") as Promise<[IncomingMessage]>;
  const [[answer]] = await Promise.all([answered, pipeline(incoming, asked)]);
  answer.on("data", (piece: Buffer) => count(url.pathname, piece.length));
  outgoing.writeHead(answer.statusCode!, answer.headers);
  await pipeline(answer, outgoing);
}
