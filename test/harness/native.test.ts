import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git, listRefs, makeRepository, tryGit } from "./git.ts";
import { makeHistory } from "./history.ts";
import { type NativeServer, startNative } from "./native.ts";
import {
  decodeLines,
  decodePkts,
  demux,
  encodePack,
  encodePkt,
  encodeTree,
  FLUSH,
  hashObject,
  request,
} from "./raw.ts";
import { makeTempDir } from "./temp-dir.ts";

const rootDir = makeTempDir("native");
const shape = { commits: 60, files: 40, branches: 4, merges: 2, tags: 3 };
let native: NativeServer;
beforeAll(async () => {
  native = await startNative(rootDir);
});
afterAll(() => native.close());

async function makeRemote(name: string): Promise<string> {
  mkdirSync(join(rootDir, name));
  await git(join(rootDir, name), "init", "-q", "--bare");
  return `${native.url}/${name}`;
}

test("a history is sound, has the asked shape, and is the same each time", async () => {
  const history = await makeHistory(shape);
  await git(history, "fsck", "--full", "--strict");
  expect(await git(history, "rev-list", "--count", "main")).toBe(String(60 + 2 * 2));
  expect(await git(history, "rev-list", "--count", "--merges", "--all")).toBe("2");
  const refs = await listRefs(history);
  expect(refs.split("\n")).toHaveLength(1 + 4 + 3);
  expect(await listRefs(await makeHistory(shape))).toBe(refs);
  expect(await listRefs(await makeHistory({ ...shape, seed: 2 }))).not.toBe(refs);
});

test(
  "git pushes to the native server, with a chunked body too, and clones the same refs",
  { tags: "sweep" },
  async () => {
    const history = await makeHistory(shape);
    const remote = await makeRemote("whole.git");
    await git(history, "push", "-q", "--mirror", remote);
    const chunked = await makeRemote("chunked.git");
    await git(history, "-c", "http.postBuffer=1000", "push", "-q", "--mirror", chunked);
    expect(native.readCpuSeconds()).toBeGreaterThan(0);
    for (const url of [remote, chunked]) {
      const clone = join(makeTempDir("clone"), "clone.git");
      await git(rootDir, "clone", "-q", "--mirror", url, clone);
      await git(clone, "fsck", "--full");
      expect(await listRefs(clone)).toBe(await listRefs(history));
    }
  },
);

test("a hand-made push creates a ref, gzipped or chunked", async () => {
  const blob = Buffer.from("Hello\n");
  const tree = encodeTree([{ mode: "100644", name: "hello.txt", oid: hashObject("blob", blob) }]);
  const person = "Ada Example <ada@example.com> 1700000000 +0100";
  const commit = Buffer.from(`tree ${hashObject("tree", tree)}\nauthor ${person}\ncommitter ${person}\n\nHello\n`);
  const oid = hashObject("commit", commit);
  const pack = encodePack([
    { type: "blob", content: blob },
    { type: "tree", content: tree },
    { type: "commit", content: commit },
  ]);
  const command = encodePkt(`${"0".repeat(40)} ${oid} refs/heads/main\0report-status side-band-64k`);
  const remote = await makeRemote("by-hand.git");
  const headers = { "content-type": "application/x-git-receive-pack-request" };
  const push = async (body: Uint8Array | Uint8Array[], gzip: boolean): Promise<string[]> => {
    const response = await request(`${remote}/git-receive-pack`, { headers, body, gzip });
    expect(response.status).toBe(200);
    return decodeLines(demux(decodePkts(response.body)).data);
  };
  const body = Buffer.concat([command, FLUSH, pack]);
  expect(await push(body, true)).toEqual(["unpack ok", "ok refs/heads/main", "flush"]);
  expect(await git(join(rootDir, "by-hand.git"), "rev-parse", "main^{commit}")).toBe(oid);
  await git(join(rootDir, "by-hand.git"), "update-ref", "-d", "refs/heads/main");
  expect(await push([body.subarray(0, 7), body.subarray(7)], false)).toEqual([
    "unpack ok",
    "ok refs/heads/main",
    "flush",
  ]);
});

test("git reads hand-made deltas by offset and by id", async () => {
  const base = Buffer.from("x".repeat(300));
  // Copies all 300 bytes, then inserts "!": sizes 300 and 301 as varints, copy with two size bytes,
  // insert of one.
  const delta = Buffer.from([0xac, 0x02, 0xad, 0x02, 0xb0, 0x2c, 0x01, 0x01, 0x21]);
  const first = { type: "blob", content: base } as const;
  const one = encodePack([first]);
  const distance = one.length - 12 - 20;
  const repository = await makeRepository("packs.git", "--bare");
  for (const entry of [
    { type: "ofs-delta", content: delta, distance } as const,
    { type: "ref-delta", content: delta, baseOid: hashObject("blob", base) } as const,
  ]) {
    const pack = encodePack([first, entry]);
    const { code, stderr } = await tryGit(repository, ["index-pack", "--stdin", "--strict"], { stdin: pack });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(await git(repository, "cat-file", "-s", hashObject("blob", Buffer.from(`${base.toString()}!`)))).toBe("301");
  }
});

test("a pack which lies about its size is refused", async () => {
  const repository = await makeRepository("lies.git", "--bare");
  const pack = encodePack([{ type: "blob", content: Buffer.from("abc"), claimedSize: 4 }]);
  const { code } = await tryGit(repository, ["index-pack", "--stdin"], { stdin: pack });
  expect(code).not.toBe(0);
});
