/** An HTTP proxy before a server, as the platform's front is: it ends bodies above a size with 413,
 * counts what is sent, and can cut connections. */
import { once } from "node:events";
import { createServer, request as open } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** A request that has passed, or been refused. */
export interface PassedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Of its body. */
  sentBytes: number;
  /** Of the server's answer; null: it has not begun. */
  status: number | null;
}

/** A running proxy. */
export interface FrontProxy {
  /** Without a trailing slash. */
  readonly url: string;
  readonly requests: readonly PassedRequest[];
  /** Called with each piece of a body that arrives, before it is passed on, and with all requests
   * up to now; true: the connection is cut. */
  cutAt: (request: PassedRequest, requests: readonly PassedRequest[]) => boolean;
  /** Called when an answer begins; true: the connection is cut before the client has any of it. */
  cutAnswer: (request: PassedRequest) => boolean;
  close(): Promise<void>;
}

/** Starts a proxy on a free loopback port.
 * @param maxBodyBytes a request that declares more, or brings more, is answered 413 */
export async function startFrontProxy(target: string, maxBodyBytes = Infinity): Promise<FrontProxy> {
  const requests: PassedRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((incoming, response) => {
    const noted: PassedRequest = { method: incoming.method!, path: incoming.url!, sentBytes: 0, status: null };
    requests.push(noted);
    const refuse = (): void => {
      if (!response.headersSent) response.writeHead(413, { Connection: "close" });
      response.end("<html><h1>413 Payload Too Large</h1></html>");
      incoming.unpipe();
      incoming.resume();
    };
    if (Number(incoming.headers["content-length"] ?? 0) > maxBodyBytes) return refuse();
    const { hostname, port } = new URL(target);
    const { method, url: path, headers } = incoming;
    const outgoing = open({ hostname, port, method, path, headers }, (answer) => {
      noted.status = answer.statusCode!;
      if (proxy.cutAnswer(noted)) return void response.destroy();
      response.writeHead(answer.statusCode!, answer.headers);
      answer.on("error", () => response.destroy());
      answer.pipe(response);
    });
    outgoing.on("error", () => response.destroy());
    response.on("close", () => outgoing.destroy());
    incoming.on("data", (piece: Buffer) => {
      noted.sentBytes += piece.length;
      if (noted.sentBytes > maxBodyBytes) {
        outgoing.destroy();
        refuse();
      } else if (proxy.cutAt(noted, requests)) {
        incoming.destroy();
        outgoing.destroy();
      } else outgoing.write(piece);
    });
    incoming.on("end", () => outgoing.end());
    return undefined;
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy: FrontProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    cutAt: () => false,
    cutAnswer: () => false,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
  return proxy;
}
