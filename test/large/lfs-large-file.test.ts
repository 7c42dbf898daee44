/** One file of 3 GB in Git LFS, by its real client: it arrives whole, and the server never
 * holds it. */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeRepository, tryGit } from "../harness/git.ts";
import { setUpLfs } from "../harness/lfs-tools.ts";
import { Random } from "../harness/random.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

const GIB = 1024 ** 3;
const FILE_BYTES = 3 * GIB;
const PIECE_BYTES = 64 * 1024 * 1024;

/** Of the whole runtime, whose local R2 takes several times what an isolate may have: a third of the file. */
const MAX_MEMORY_BYTES = GIB;

let env: Record<string, string>;
let server: Server;

beforeAll(async () => {
  env = await setUpLfs(makeTempDir("home"));
  server = await startServer({ vars: { MAX_BODY_BYTES: "" } });
});
afterAll(() => server?.close());

async function run(dir: string, ...args: string[]): Promise<void> {
  const { code, stderr } = await tryGit(dir, args, { env });
  expect(code, `git ${args.join(" ")}: ${stderr}`).toBe(0);
}

/** Writes the file. @returns its SHA-256 */
async function writeLarge(path: string): Promise<string> {
  const hash = createHash("sha256");
  const file = createWriteStream(path);
  const piece = Buffer.from(new Random(3).bytes(PIECE_BYTES));
  for (let at = 0; at < FILE_BYTES; at += PIECE_BYTES) {
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

test("a file of 3 GB is pushed and cloned", async () => {
  const dir = await makeRepository("large-file");
  await run(dir, "lfs", "track", "*.bin");
  const sha256 = await writeLarge(join(dir, "large.bin"));
  await run(dir, "add", ".");
  await run(dir, "commit", "-q", "-m", "large");
  await run(dir, "push", "-q", `${server.url}/lfs/large.git`, "HEAD:refs/heads/main");
  const copy = join(makeTempDir("clone"), "c");
  await run(dir, "clone", "-q", `${server.url}/lfs/large`, copy);
  expect(await hashFile(join(copy, "large.bin"))).toBe(sha256);
  const { peakMemoryBytes } = server.readUsage();
  console.log(`peak memory of the runtime: ${Math.round(peakMemoryBytes / 1024 ** 2)} MiB`);
  expect(peakMemoryBytes).toBeLessThan(MAX_MEMORY_BYTES);
});
