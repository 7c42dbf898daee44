/** A server that imports come from, as a test wants it: it passes requests on, or answers them. */
import { once } from "node:events";
import { createServer, type IncomingMessage, request as open, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** A running upstream. */
export interface Upstream {
  /** Without a trailing slash. */
  readonly url: string;
  /** Requests so far, with their headers. */
  readonly requests: Pick<IncomingMessage, "method" | "url" | "headers">[];
  /** Answers each request. */
  handle: (request: IncomingMessage, response: ServerResponse) => void;
  close(): Promise<void>;
}

/** Starts a server on a free loopback port. */
export async function startUpstream(handle: Upstream["handle"]): Promise<Upstream> {
  const requests: IncomingMessage[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    requests.push(request);
    upstream.handle(request, response);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const upstream: Upstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    handle,
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return upstream;
}

/** Passes a request on.
 * @param target a server's URL
 * @param change of its headers; undefined removes one
 * @param onAnswer takes the answer in place of the client */
export function passOn(
  target: string,
  request: IncomingMessage,
  response: ServerResponse,
  change: Readonly<Record<string, string | undefined>> = {},
  onAnswer: (answer: IncomingMessage) => void = (answer) => {
    response.writeHead(answer.statusCode!, answer.headers);
    answer.pipe(response);
  },
): void {
  const { hostname, port } = new URL(target);
  const all = Object.entries({ ...request.headers, ...change }).filter(([, value]) => value !== undefined);
  const headers = Object.fromEntries(all) as Record<string, string>;
  const outgoing = open({ hostname, port, method: request.method, path: request.url, headers }, onAnswer);
  outgoing.on("error", () => response.destroy());
  response.on("close", () => outgoing.destroy());
  request.pipe(outgoing);
}
