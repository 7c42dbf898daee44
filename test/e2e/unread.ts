// Clients that request large files and read nothing.
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "vitest";
import { git } from "../harness/git.ts";
import { makeOddRepository } from "../harness/odd-tree.ts";
import { type Server, startServer } from "../harness/server.ts";

export const MIB = 1024 * 1024;

/** Deflates to a fiftieth: few bytes are read from storage for many that are produced. */
const text = Buffer.alloc(32 * MIB, Array.from({ length: 3_000 }, (_, i) => `line ${(i * 7_919) % 3_001}\n`).join(""));

/** Starts a server with a file of 32 MiB in `me/repo`. */
export async function startWithLargeFile(): Promise<Server> {
  // No worktrees: they would be read instead of the blobs.
  const server = await startServer({ vars: { WORKTREES: "none" } });
  const dir = await makeOddRepository([{ branch: "main", files: { "large.txt": text } }]);
  await git(dir, "push", "-q", `${server.url}/me/repo.git`, "main");
  return server;
}

/** Sends a request, and reads only the head of the response. */
async function askUnread(server: Server, path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  const asked = request(`${server.url}/api/repos/me/repo/${path}`, { headers });
  asked.end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  expect(response.statusCode).toBeLessThan(300);
  return response;
}

/** How far the server's memory rises for responses that nobody reads, in MiB. */
export async function measureUnread(
  server: Server,
  paths: readonly string[],
  headers: Record<string, string> = {},
): Promise<number> {
  await server.restart();
  // The memory that the very first requests take does not count.
  for (const path of ["raw/main/large.txt", "archive/main.tar.gz", "archive/main.zip"]) {
    (await askUnread(server, path)).destroy();
  }
  await fetch(`${server.url}/api/repos/me/repo/raw/main/large.txt`).then((response) => response.arrayBuffer());
  const before = server.readUsage().memoryBytes;
  const responses = await Promise.all(paths.map((path) => askUnread(server, path, headers)));
  let most = 0;
  // Waits until the server has used no CPU for half a second: then it produces nothing any more.
  for (let [quiet, lastSeconds] = [0, -1]; quiet < 5;) {
    await wait(100);
    const { memoryBytes, cpuSeconds } = server.readUsage();
    most = Math.max(most, memoryBytes);
    quiet = cpuSeconds - lastSeconds < 0.011 ? quiet + 1 : 0;
    lastSeconds = cpuSeconds;
  }
  for (const response of responses) response.destroy();
  return (most - before) / MIB;
}
