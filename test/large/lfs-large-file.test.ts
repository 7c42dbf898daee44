/** Files of 3 and 6 GB in Git LFS, by its real client: they arrive whole, and the server never
 * holds them. The larger one is more than a request may bring, and comes in parts. */
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeRepository, tryGit } from "../harness/git.ts";
import { setUpLfs } from "../harness/lfs-tools.ts";
import { helperDir } from "../harness/remote-helper.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { hashFile, writeLarge } from "./large-file.ts";

const GIB = 1024 ** 3;

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
