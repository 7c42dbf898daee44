import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { DEFAULT_LIMITS } from "../../../src/base/format/configured-limits.ts";
import type { FetchContext } from "../../../src/worker/git/fetch-context.ts";
import { parseService, unknownServiceResponse } from "../../../src/base/http/smart-http.ts";
import { advertiseUploadPack, serveUploadPack } from "../../../src/worker/git/upload-pack.ts";
import type { FetchSource } from "../../../src/contract/fetch.ts";
import type { ChunkStore } from "../../../src/base/chunks/chunk-store.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { nodeCodec } from "../../object/stored-repository.ts";

/** An HTTP server for one repository, without the runtime. */
export interface FetchServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves git-upload-pack in this process.
 * @param chunks where the stored bytes are */
export async function startFetchServer(
  source: FetchSource,
  chunks: ChunkStore = new MemoryChunkStore(),
): Promise<FetchServer> {
  const context: FetchContext = {
    source,
    chunks,
    codec: nodeCodec,
    limits: DEFAULT_LIMITS,
    movedTo: () => null,
    waitUntil: () => undefined,
    observe: () => undefined,
  };
  const server = createServer((incoming, outgoing) => {
    answer(incoming, context)
      .then((response) => send(response, outgoing))
      .catch((error: unknown) => outgoing.destroy(error as Error));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/repository.git`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function answer(incoming: IncomingMessage, context: FetchContext): Promise<Response> {
  const url = new URL(incoming.url!, "http://127.0.0.1");
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  const body = incoming.method === "POST" ? new Uint8Array(Buffer.concat(pieces)) : null;
  const headers = Object.entries(incoming.headers).filter(([, value]) => typeof value === "string") as [
    string,
    string,
  ][];
  const request = new Request(url, { method: incoming.method!, headers, body });
  if (!url.pathname.endsWith("/info/refs")) return serveUploadPack(request, context);
  return parseService(url) === "git-upload-pack" ? advertiseUploadPack(request, context) : unknownServiceResponse();
}

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body !== null) {
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
      // What was sent before a failure must arrive.
      await new Promise((written) => outgoing.write(piece, written));
    }
  }
  outgoing.end();
}
