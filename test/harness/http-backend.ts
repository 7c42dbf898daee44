/** Runs `git http-backend` as a CGI program for node:http. Started by `native.ts` with the root
 * directory as its argument.
 * @see git-http-backend(1), RFC 3875 */
import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";

const rootDir = process.argv[2];
if (rootDir === undefined) throw new Error("the root folder is missing");

function describeRequest({ url = "/", method = "GET", headers }: IncomingMessage): Record<string, string> {
  const [path = "/", query = ""] = url.split("?", 2);
  const variables: Record<string, string | undefined> = {
    GIT_PROJECT_ROOT: rootDir,
    GIT_HTTP_EXPORT_ALL: "1",
    GIT_HTTP_MAX_REQUEST_BUFFER: "100M",
    PATH_INFO: decodeURIComponent(path),
    QUERY_STRING: query,
    REQUEST_METHOD: method,
    REMOTE_USER: "ada",
    REMOTE_ADDR: "127.0.0.1",
    CONTENT_TYPE: headers["content-type"],
    // A chunked body has no length; git then reads to its end.
    CONTENT_LENGTH: headers["content-length"],
    HTTP_CONTENT_ENCODING: headers["content-encoding"],
    GIT_PROTOCOL: headers["git-protocol"]?.toString(),
  };
  return Object.fromEntries(
    Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** Reads the CGI header up to its empty line; the rest stays in the stream. */
async function readHeader(output: Readable): Promise<string> {
  let bytes = Buffer.alloc(0);
  for (;;) {
    const chunk = output.read() as Buffer | null;
    if (chunk !== null) bytes = Buffer.concat([bytes, chunk]);
    const end = bytes.indexOf("\r\n\r\n");
    if (end >= 0) {
      if (end + 4 < bytes.length) output.unshift(bytes.subarray(end + 4));
      return bytes.toString("latin1", 0, end);
    }
    if (output.readableEnded) throw new Error("git http-backend ended without a header");
    await new Promise((more) => {
      output.once("readable", more);
      output.once("end", more);
    });
  }
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const git = spawn("git", ["-c", "http.receivepack=true", "http-backend"], {
    env: { ...process.env, ...describeRequest(request) },
    stdio: ["pipe", "pipe", "inherit"],
  });
  // Git may refuse before it has read the whole body; its response says why.
  git.stdin.on("error", () => request.resume());
  request.pipe(git.stdin);
  for (const line of (await readHeader(git.stdout)).split("\r\n")) {
    const [name = "", value = ""] = line.split(/:\s*/, 2);
    if (name === "Status") response.statusCode = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  git.stdout.pipe(response);
}

const server = createServer((request, response) => {
  serve(request, response).catch((error: unknown) => response.destroy(error as Error));
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit());
