// Edited files that are larger than the largest blob held in memory (32 MiB): git sends them as
// deltas of a few bytes.
import { createHash } from "node:crypto";
import { createReadStream, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findProblems } from "../harness/find-problems.ts";
import { git, makeRepository, tryGit } from "../harness/git.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

const LINE_BYTES = 40;

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

/** Lines that all differ, so each copy instruction has one possible source. */
function makeLines(count: number): Buffer {
  const lines = Buffer.alloc(count * LINE_BYTES);
  for (let i = 0; i < count; i++) {
    const word = Math.imul(i, 0x9e37_79b1) >>> 0;
    lines.write(
      `${String(i).padStart(9)} ${word.toString(16).padStart(8, "0")}`.padEnd(LINE_BYTES - 1) + "\n",
      i * LINE_BYTES,
    );
  }
  return lines;
}

async function commitFile(dir: string, content: Uint8Array, message: string): Promise<void> {
  writeFileSync(join(dir, "large.txt"), content);
  await git(dir, "add", ".");
  await git(dir, "commit", "-q", "-m", message);
}

function sha1(content: Uint8Array): string {
  return createHash("sha1").update(content).digest("hex");
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash("sha1");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

test("a text of 44 MB, edited and pushed as a delta, thin and in one pack", async () => {
  const dir = await makeRepository("text");
  // Compression would only cost time.
  await git(dir, "config", "core.compression", "1");
  const first = makeLines(1_100_000);
  await commitFile(dir, first, "one");
  const url = `${server.url}/me/text.git`;
  await git(dir, "push", "-q", url, "HEAD:refs/heads/main");
  // One line added in front, one changed, a thousand moved to the end, some removed.
  const edited = Buffer.concat([
    Buffer.from("a new line\n"),
    first.subarray(40_000, 20_000_000),
    Buffer.from("changed"),
    first.subarray(20_000_007, 43_000_000),
    first.subarray(0, 40_000),
  ]);
  await commitFile(dir, edited, "two");
  await commitFile(dir, edited.subarray(0, 1_000), "three: nearly nothing of it");
  const pushed = await tryGit(dir, ["push", url, "HEAD:refs/heads/main"]);
  expect(pushed.stderr).toMatch(/HEAD -> main/);
  server.takeEvents();

  const clone = join(makeTempDir("clone"), "clone");
  await git(makeTempDir("cwd"), "clone", "-q", url, clone);
  expect(await git(clone, "fsck", "--full")).toBe("");
  await git(clone, "checkout", "-q", "HEAD~1");
  expect(await hashFile(join(clone, "large.txt"))).toBe(sha1(edited));
  const raw = `${server.url}/api/repos/me/text/raw/main~1/large.txt`;
  const part = await fetch(raw, { headers: { Range: "bytes=20000000-20000099" } });
  expect(part.status).toBe(206);
  expect(Buffer.from(await part.arrayBuffer()).equals(edited.subarray(20_000_000, 20_000_100))).toBe(true);
  // Holdfast's own check: every id against the content.
  expect(await findProblems(`${server.url}/me/text.git`)).toEqual([]);
  // The same history in one pack, which contains the base.
  await git(dir, "push", "-q", `${server.url}/me/whole.git`, "HEAD:refs/heads/main");
  const again = makeTempDir("again");
  await git(again, "clone", "-q", "--bare", `${server.url}/me/whole.git`, "again.git");
  expect(await git(join(again, "again.git"), "fsck", "--full")).toBe("");
  await rm(clone, { recursive: true });
});

test("100 MB of zeros", async () => {
  const dir = await makeRepository("zeros");
  await commitFile(dir, Buffer.alloc(100_000_000), "zeros");
  const url = `${server.url}/me/zeros.git`;
  await git(dir, "push", "-q", url, "HEAD:refs/heads/main");
  const response = await fetch(`${server.url}/api/repos/me/zeros/raw/main/large.txt`, {
    headers: { Range: "bytes=-10" },
  });
  expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.alloc(10));
});
