// A text of 400 MB, edited: git sends it as a delta of some hundred bytes, which is applied window
// by window.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { expect, test } from "vitest";
import { git, makeRepository } from "../harness/git.ts";
import { measureRise } from "../harness/isolate-memory.ts";
import { findFreePort, type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

const MB = 1_000_000;
const SIZE_BYTES = 400 * MB;
const LINE_BYTES = 40;

/** How far the server's process may rise, in MB: the memory of one large object, of a push, and
 * what the runtime takes for 400 MB that pass through. */
const MAX_RISE_MB = 400;

/** What its isolate may have, without the memories of WebAssembly, which are below 30 MB here. */
const MAX_ISOLATE_MB = 90;

/** Writes lines that all differ. */
async function writeText(path: string): Promise<void> {
  const file = await open(path, "w");
  const piece = Buffer.alloc(MB * 4, " ");
  for (let start = 0; start < SIZE_BYTES; start += piece.length) {
    for (let at = 0; at < piece.length; at += LINE_BYTES) {
      const line = (start + at) / LINE_BYTES;
      const word = (Math.imul(line, 0x9e37_79b1) >>> 0).toString(16);
      piece.write(`${String(line).padStart(9)} ${word}`.padEnd(LINE_BYTES - 1) + "\n", at, "latin1");
    }
    await file.write(piece);
  }
  await file.close();
}

/** Changes some lines in place, and appends one. */
async function edit(path: string): Promise<void> {
  const file = await open(path, "r+");
  for (const at of [0, 123 * MB, 399 * MB]) await file.write("changed", at);
  await file.write("one more line\n", SIZE_BYTES);
  await file.close();
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

/** The largest rise of the server's memory during an action, the most memory of the isolate without
 * WebAssembly, and the time; garbage is collected all the time. */
async function measure(
  server: Server,
  inspectorPort: number,
  act: () => Promise<unknown>,
): Promise<{ riseMb: number; isolateMb: number; ms: number }> {
  const startMs = performance.now();
  const { processBytes, isolateBytes } = await measureRise(server, inspectorPort, act);
  const ms = Math.round(performance.now() - startMs);
  return { riseMb: Math.round(processBytes / MB), isolateMb: Math.round(isolateBytes / MB), ms };
}

test("a text of 400 MB, edited", async () => {
  const dir = await makeRepository("text");
  const path = join(dir, "large.txt");
  const inspectorPort = await findFreePort();
  const server = await startServer({ vars: { WORKTREES: "none" }, inspectorPort });
  try {
    const url = `${server.url}/me/text.git`;
    const commit = async (): Promise<void> => {
      await git(dir, "add", ".");
      await git(dir, "commit", "-q", "-m", "version");
    };
    const push = () => git(dir, "push", "-q", url, "HEAD:refs/heads/main");
    await writeText(path);
    await commit();
    const first = await measure(server, inspectorPort, push);
    await edit(path);
    await commit();
    await server.restart();
    server.takeEvents();
    const second = await measure(server, inspectorPort, push);
    const { packBytes } = await server.takeEvent("push");
    // It did come as a delta.
    expect(packBytes).toBeLessThan(MB);
    await server.restart();
    const worktree = join(makeTempDir("clone"), "clone");
    const cloned = await measure(server, inspectorPort, () => git(makeTempDir("cwd"), "clone", "-q", url, worktree));
    expect(await hashFile(join(worktree, "large.txt"))).toBe(await hashFile(path));
    expect(await git(worktree, "rev-parse", "HEAD")).toBe(await git(dir, "rev-parse", "HEAD"));
    console.log("a text of 400 MB", JSON.stringify({ first, second, cloned, packBytes }));
    for (const { riseMb, isolateMb } of [first, second, cloned]) {
      expect(riseMb).toBeLessThan(MAX_RISE_MB);
      expect(isolateMb).toBeLessThan(MAX_ISOLATE_MB);
    }
  } finally {
    await server.close();
  }
});
