import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { FetchEvent } from "../../src/contract/log-events.ts";
import { git, makeRepository, tryGit } from "../harness/git.ts";
import { DELIM, encodePkt, FLUSH } from "../harness/raw.ts";
import { type Server, startServer } from "../harness/server.ts";

const CLONES = 20;
const MIB = 1024 * 1024;

/** Of the noise: more than twice what the sockets of a client that takes nothing can hold. */
const SIZE_MIB = 14;

/** How much memory the packs that one isolate sends may take together. */
const MEMORY_BYTES = 64 * MIB;

let server: Server;
let url: URL;
/** Commits above so many bytes of noise. A client that asks for a commit of its own gets a response
 * of its own. */
let tips: string[];

beforeAll(async () => {
  server = await startServer();
  url = new URL(`${server.url}/me/storm.git/git-upload-pack`);
  const dir = await makeRepository("storm");
  for (let i = 0; i < SIZE_MIB; i++) writeFileSync(join(dir, `noise-${i}`), randomBytes(MIB));
  // Random bytes do not compress.
  await git(dir, "config", "core.compression", "0");
  await git(dir, "add", ".");
  await git(dir, "commit", "-q", "-m", "noise");
  const stream = Array.from(
    { length: 3 * CLONES - 1 },
    (_, i) =>
      `commit refs/heads/main\ncommitter A <a@example.com> ${1_700_001_000 + i} +0000\ndata 0\n` +
      (i === 0 ? "from refs/heads/main^0\n" : ""),
  );
  expect((await tryGit(dir, ["fast-import", "--quiet"], { stdin: stream.join("\n") })).code).toBe(0);
  await git(dir, "push", "-q", `${server.url}/me/storm.git`, "main");
  tips = (await git(dir, "rev-list", "main")).split("\n");
});
afterAll(() => server.close());

/** Sends a request that no other client sends, over a connection of its own. */
function requestClone(): Socket {
  const body = Buffer.concat([
    encodePkt("command=fetch"),
    DELIM,
    ...["no-progress", "ofs-delta", `want ${tips.pop()!}`, "done"].map((line) => encodePkt(`${line}\n`)),
    FLUSH,
  ]);
  const socket = connect(Number(url.port), url.hostname);
  socket.write(
    `POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nConnection: close\r\nGit-Protocol: version=2\r\n` +
      `Content-Type: application/x-git-upload-pack-request\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  socket.write(body);
  return socket;
}

/** Reads the response, and returns its size. */
async function drain(socket: Socket): Promise<number> {
  let bytes = 0;
  for await (const piece of socket) bytes += (piece as Buffer).length;
  return bytes;
}

async function takeFetches(count: number): Promise<FetchEvent[]> {
  const events: FetchEvent[] = [];
  while (events.length < count) events.push(await server.takeEvent("fetch"));
  return events;
}

test(
  `${CLONES} clones at once take no more than ${MEMORY_BYTES} bytes of memory, and few reads`,
  { tags: "sweep" },
  async () => {
    const sizes = await Promise.all(Array.from({ length: CLONES }, () => drain(requestClone())));
    expect(Math.min(...sizes)).toBeGreaterThan(SIZE_MIB * MIB);
    const events = await takeFetches(CLONES);
    expect(
      events.every(({ complete, packBytes, cache }) => complete && packBytes > SIZE_MIB * MIB && cache === "miss"),
    ).toBe(true);
    expect(events.reduce((sum, { peakBytes }) => sum + peakBytes, 0)).toBeLessThanOrEqual(MEMORY_BYTES);
    for (const { operations, packBytes } of events) {
      expect(operations.gets).toBeLessThanOrEqual(packBytes / 1_000_000 + 10);
    }
  },
);

test("clients that take nothing hold up nobody, and are served when they go on", { tags: "sweep" }, async () => {
  const idle = Array.from({ length: CLONES }, () => requestClone().pause());
  const sizes = await Promise.all(Array.from({ length: 3 }, () => drain(requestClone())));
  expect(Math.min(...sizes)).toBeGreaterThan(SIZE_MIB * MIB);
  await takeFetches(3);
  const late = await Promise.all(idle.map(drain));
  expect(Math.min(...late)).toBeGreaterThan(SIZE_MIB * MIB);
  expect((await takeFetches(CLONES)).every(({ complete }) => complete)).toBe(true);
});

test("a client that leaves ends its clone", { tags: "sweep" }, async () => {
  const socket = requestClone();
  await new Promise((come) => socket.once("data", come));
  socket.destroy();
  const [event] = await takeFetches(1);
  expect(event!.complete).toBe(false);
  expect(event!.packBytes).toBeLessThan(SIZE_MIB * MIB);
});
