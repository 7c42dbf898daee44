/** Files of 3 and 6 GB in Git LFS, by its real client: they arrive whole, and the server never
 * holds them. The larger one is more than a request may bring, and comes in parts. */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { once } from "node:events";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeRepository, tryGit } from "../harness/git.ts";
import { setUpLfs } from "../harness/lfs-tools.ts";
import { Random } from "../harness/random.ts";
import { helperDir } from "../harness/remote-helper.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

const GIB = 1024 ** 3;
const PIECE_BYTES = 64 * 1024 * 1024;

/** Of the whole runtime, whose local R2 takes several times what an isolate may have: a third of
 * the file. */
const MAX_MEMORY_BYTES = GIB;

let env: Record<string, string>;
let server: Server;

beforeEach(async () => {
  env = await setUpLfs(makeTempDir("home"));
  env = { ...env, PATH: `${await helperDir()}${delimiter}${env["PATH"]}` };
  await run(makeTempDir("cwd"), "lfs-holdfast", "install");
  server = await startServer({ vars: { MAX_BODY_BYTES: "" } });
});
afterEach(() => server?.close());

async function run(dir: string, ...args: string[]): Promise<void> {
  const { code, stderr } = await tryGit(dir, args, { env });
  expect(code, `git ${args.join(" ")}: ${stderr}`).toBe(0);
}

/** Writes a file. @returns its SHA-256 */
async function writeLarge(path: string, sizeBytes: number): Promise<string> {
  const hash = createHash("sha256");
  const file = createWriteStream(path);
  const piece = Buffer.from(new Random(3).bytes(PIECE_BYTES));
  for (let at = 0; at < sizeBytes; at += PIECE_BYTES) {
    // No two pieces are equal.
    piece.writeDoubleBE(at);
    hash.update(piece);
    if (!file.write(Buffer.from(piece))) await once(file, "drain");
  }
  file.end();
  await once(file, "close");
  return hash.digest("hex");
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  return hash.digest("hex");
}

test.each([3, 6])("a file of %i GB is pushed and cloned", async (gib) => {
  const dir = await makeRepository("large-file");
  await run(dir, "lfs", "track", "*.bin");
  const sha256 = await writeLarge(join(dir, "large.bin"), gib * GIB);
  await run(dir, "add", ".");
  await run(dir, "commit", "-q", "-m", "large");
  const startMs = Date.now();
  await run(dir, "push", "-q", `${server.url}/lfs/large.git`, "HEAD:refs/heads/main");
  const pushedMs = Date.now();
  const copy = join(makeTempDir("clone"), "c");
  await run(dir, "clone", "-q", `${server.url}/lfs/large`, copy);
  const times = [pushedMs - startMs, Date.now() - pushedMs].map((ms) => `${Math.round(ms / 1_000)} s`);
  expect(await hashFile(join(copy, "large.bin"))).toBe(sha256);
  const { peakMemoryBytes } = server.readUsage();
  const peak = `${Math.round(peakMemoryBytes / 1024 ** 2)} MiB`;
  console.log(`${gib} GiB: pushed in ${times[0]}, cloned in ${times[1]}, peak memory of the runtime ${peak}`);
  expect(peakMemoryBytes).toBeLessThan(MAX_MEMORY_BYTES);
});
