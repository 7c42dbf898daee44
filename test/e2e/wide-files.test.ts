/** Files that R2 does not take in one request, and files whose size needs more than 32 bits. */
import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { deflateRawSync, constants as zlib } from "node:zlib";
import { expect, test } from "vitest";
import { findProblems } from "../harness/find-problems.ts";
import { git, makeRepository, tryGit } from "../harness/git.ts";
import { makeOddRepository } from "../harness/odd-tree.ts";
import {
  assemblePack,
  copy,
  encodeDelta,
  encodeEntryHead,
  insert,
  makeCommit,
  makeObject,
  makeTree,
  refDelta,
} from "../harness/pack-builder.ts";
import { encodeEntry } from "../harness/raw.ts";
import { sendPush } from "../harness/raw-push.ts";
import { startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

const MIB = 1024 * 1024;

test("a worktree's file that the bucket does not take in one request is written in parts, and read in windows", async () => {
  const large = randomBytes(9 * MIB + 5);
  const server = await startServer({ constants: { MAX_PUT_BYTES: 5 * MIB, DOWNLOAD_WINDOW_BYTES: MIB } });
  try {
    const dir = await makeOddRepository([{ branch: "main", files: { "large.bin": large, "x.txt": "x" } }]);
    await git(dir, "push", "-q", `${server.url}/me/repo.git`, "main");
    const api = `${server.url}/api/repos/me/repo`;
    expect((await fetch(`${api}/maintenance`, { method: "POST" })).status).toBe(200);
    const written = [...(await server.readObjects("worktrees/main/large.bin")).values()];
    expect(written).toHaveLength(1);
    expect(Buffer.compare(written[0]!.bytes, large)).toBe(0);
    expect(written[0]!.metadata).toMatchObject({ mode: "100644" });
    for (const [start, end] of [
      [0, large.length],
      [MIB - 1, 3 * MIB + 1],
      [large.length - 1, large.length],
    ] as const) {
      const response = await fetch(`${api}/raw/main/large.bin`, {
        headers: { Range: `bytes=${start}-${end - 1}`, "Accept-Encoding": "identity" },
      });
      expect(response.status).toBe(206);
      expect(response.headers.get("Content-Length")).toBe(String(end - start));
      expect(Buffer.compare(Buffer.from(await response.arrayBuffer()), large.subarray(start, end))).toBe(0);
    }
    // Without it the blob is read.
    await server.loseObjects("worktrees/main/large.bin");
    const again = Buffer.from(await (await fetch(`${api}/raw/main/large.bin`)).arrayBuffer());
    expect(Buffer.compare(again, large)).toBe(0);
  } finally {
    await server.close();
  }
});

/** A zlib stream of zeros, of which only one block is deflated. */
function deflateZeros(blocks: number): Buffer {
  const block = deflateRawSync(Buffer.alloc(64 * MIB), { level: 9, finishFlush: zlib.Z_FULL_FLUSH });
  const adler = Buffer.alloc(4);
  adler.writeUInt32BE(((blocks * 64 * MIB) % 65_521) * 0x1_0000 + 1);
  const last = Buffer.from([0x03, 0x00]);
  return Buffer.concat([Buffer.from([0x78, 0xda]), ...Array.from({ length: blocks }, () => block), last, adler]);
}

/** The id of a blob of zeros. */
function hashZeros(blocks: number): string {
  const hash = createHash("sha1").update(`blob ${blocks * 64 * MIB}\0`);
  const piece = Buffer.alloc(64 * MIB);
  for (let i = 0; i < blocks; i++) hash.update(piece);
  return hash.digest("hex");
}

test("a blob of 4.5 GiB is pushed, cloned, read past 4 GiB, and is a delta's base", { tags: "sweep" }, async () => {
  const blocks = 72;
  const sizeBytes = blocks * 64 * MIB;
  const zeros = hashZeros(blocks);
  const entry = Buffer.concat([encodeEntryHead(3, BigInt(sizeBytes)), deflateZeros(blocks)]);
  const text = makeObject("blob", "after it\n");
  const tree = makeTree(["100644", "text", text], ["100644", "zeros", zeros]);
  const commit = makeCommit(tree);
  const origin = await makeRepository("zeros");
  const pack = assemblePack([entry, ...[text, tree, commit].map((one) => encodeEntry(one))]);
  expect((await tryGit(origin, ["index-pack", "--stdin"], { stdin: pack })).code).toBe(0);
  await git(origin, "update-ref", "refs/heads/main", commit.oid);
  const server = await startServer({ vars: { WORKTREES: "none" } });
  try {
    const url = `${server.url}/me/wide`;
    await git(origin, "push", "-q", url, "main");
    // Made of what is too large to hold.
    const made = makeObject("blob", Buffer.concat([Buffer.alloc(70_000), Buffer.from("end")]));
    const next = makeCommit(makeTree(["100644", "made", made], ["100644", "zeros", zeros]), [commit.oid]);
    const delta = refDelta(zeros, encodeDelta(sizeBytes, made.content.length, copy(0, 70_000), insert("end")));
    const others = [makeTree(["100644", "made", made], ["100644", "zeros", zeros]), next];
    const { unpack } = await sendPush(url, {
      commands: [{ name: "refs/heads/main", old: commit.oid, new: next.oid }],
      pack: assemblePack([encodeEntry(delta), ...others.map((one) => encodeEntry(one))]),
    });
    expect(unpack).toBe("ok");
    const mirror = join(makeTempDir("clone"), "wide.git");
    await git(origin, "clone", "-q", "-c", "fetch.fsckObjects=true", "--mirror", url, mirror);
    expect((await git(mirror, "rev-list", "--objects", "--no-object-names", "main")).split("\n").toSorted()).toEqual(
      [commit, tree, text, next, others[0]!, made]
        .map(({ oid }) => oid)
        .concat(zeros)
        .toSorted(),
    );
    expect(await git(mirror, "cat-file", "-s", zeros)).toBe(String(sizeBytes));
    const range = `bytes=${sizeBytes - 9}-${sizeBytes - 1}`;
    const response = await fetch(`${server.url}/api/repos/me/wide/raw/main/zeros`, { headers: { Range: range } });
    expect(response.headers.get("Content-Range")).toBe(`${range.replace("=", " ")}/${sizeBytes}`);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.alloc(9));
    expect(await findProblems(url)).toEqual([]);
  } finally {
    await server.close();
  }
});
