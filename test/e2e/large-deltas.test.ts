// Files larger than what is held of a blob (32 MiB), edited: git sends them as deltas of a few bytes.
import { createHash } from "node:crypto";
import { createReadStream, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git, makeRepository, tryGit } from "../harness/git.ts";
import {
  assemblePack,
  copy,
  encodeDelta,
  insert,
  makeCommit,
  makeObject,
  makeTree,
  refDelta,
} from "../harness/pack-builder.ts";
import { encodeEntry } from "../harness/raw.ts";
import { sendPush } from "../harness/raw-push.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

const MIB = 1024 * 1024;
const LINE_BYTES = 40;

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

/** Lines that are all different, so that a copy has one place to come from. */
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
  // How well it is compressed is not what takes time here.
  await git(dir, "config", "core.compression", "1");
  const first = makeLines(1_100_000);
  await commitFile(dir, first, "one");
  const url = `${server.url}/me/text.git`;
  await git(dir, "push", "-q", url, "HEAD:refs/heads/main");
  // A line more in front, one changed, a thousand moved to the end, some gone.
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
  // Its own check: every id against the content.
  const checked = await fetch(`${server.url}/api/repos/me/text/fsck`, { method: "POST" });
  expect(await checked.json()).toMatchObject({ problems: [] });
  // The same history in one pack: the base is in it.
  await git(dir, "push", "-q", `${server.url}/me/whole.git`, "HEAD:refs/heads/main");
  const again = makeTempDir("again");
  await git(again, "clone", "-q", "--bare", `${server.url}/me/whole.git`, "again.git");
  expect(await git(join(again, "again.git"), "fsck", "--full")).toBe("");
  await rm(clone, { recursive: true });
}, 300_000);

test("100 MB of zeros", async () => {
  const dir = await makeRepository("zeros");
  await commitFile(dir, Buffer.alloc(100_000_000), "zeros");
  const url = `${server.url}/me/zeros.git`;
  await git(dir, "push", "-q", url, "HEAD:refs/heads/main");
  const response = await fetch(`${server.url}/api/repos/me/zeros/raw/main/large.txt`, {
    headers: { Range: "bytes=-10" },
  });
  expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.alloc(10));
}, 120_000);

test("a bomb of deltas ends at the limit of a push's work, and others are served meanwhile", async () => {
  const other = await startServer({ vars: { LIMITS: JSON.stringify({ maxPushWorkBytes: 2_000_000_000 }) } });
  try {
    const base = makeObject("blob", Buffer.alloc(MIB, "noise of a bomb"));
    // 128 MiB of each, from 40 bytes.
    const grow = (text: string) => {
      const size = 128 * MIB + text.length;
      return refDelta(
        base.oid,
        encodeDelta(MIB, size, ...Array.from({ length: 128 }, () => copy(0, MIB)), insert(text)),
      );
    };
    const tree = makeTree(["100644", "base", base]);
    const commit = makeCommit(tree);
    const bombs = Array.from({ length: 200 }, (_, i) => encodeEntry(grow(`${i}`)));
    const pack = assemblePack([...[base, tree, commit].map((object) => encodeEntry(object)), ...bombs]);
    expect(pack.length).toBeLessThan(60_000);
    let isDone = false;
    const url = `${other.url}/me/bomb.git`;
    const sent = sendPush(url, { commands: [{ name: "refs/heads/main", new: commit.oid }], pack }).finally(() => {
      isDone = true;
    });
    const waits: number[] = [];
    const sentMs = performance.now();
    while (!isDone) {
      const start = performance.now();
      await (await fetch(`${other.url}/api/repos/me/bomb`)).arrayBuffer();
      await (await fetch(`${url}/info/refs?service=git-upload-pack`)).arrayBuffer();
      waits.push(performance.now() - start);
    }
    expect((await sent).unpack).toMatch(/work of the push .* exceeds the limit of 2000000000/);
    expect(waits.length).toBeGreaterThan(5);
    // Of the seconds that the bomb takes, whatever else the machine does.
    const median = waits.toSorted((a, b) => a - b).at(Math.floor(waits.length / 2));
    expect(median).toBeLessThan(Math.max(1_000, (performance.now() - sentMs) / 5));
  } finally {
    await other.close();
  }
}, 180_000);
