/** A plain file server, as a program of its own: PUT writes a file, GET sends it. It prints its
 * URL.
 * Usage: node file-server.ts DIR */
import { createReadStream, createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";

const [dir = "."] = process.argv.slice(2);

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = join(dir, basename(request.url!));
  if (request.method === "PUT") {
    await pipeline(request, createWriteStream(path));
    response.end();
    return;
  }
  response.setHeader("Content-Length", (await stat(path)).size);
  await pipeline(createReadStream(path), response);
}

const server = createServer((request, response) => {
  serve(request, response).catch(() => response.destroy());
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
