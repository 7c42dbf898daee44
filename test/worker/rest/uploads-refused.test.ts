/** Uploads that go wrong: steps that are refused, parts that are lost, requests at the same time.
 * Each gets an answer that says so, and nothing of it stays. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { findProblems } from "../../harness/find-problems.ts";
import { git } from "../../harness/git.ts";
import { assemblePack, makeCommit, makeObject, makeTree, packOf } from "../../harness/pack-builder.ts";
import { encodeEntry } from "../../harness/raw.ts";
import { MAX_FILE_BYTES, MAX_PART_BYTES, type Upload, UploadBench } from "../../harness/upload-bench.ts";

let bench: UploadBench;

beforeAll(async () => {
  bench = await UploadBench.open();
});
afterAll(() => bench.close());

/** Ends a session, and expects that nothing of it is stored. */
async function expectEnd(name: string, upload: { readonly id: string }): Promise<void> {
  await bench.remove(name, upload);
  await bench.awaitGone(upload.id);
  expect(await findProblems(`${bench.server.url}/${name}`)).toEqual([]);
}

/** A session of a new repository that has the parts of a pack. */
async function send(name: string, pack: Buffer): Promise<{ upload: Upload; parts: number[] }> {
  await bench.makeRepository(name);
  const upload = await bench.begin(name);
  return { upload, parts: await bench.putPack(name, upload, 1, pack) };
}

test(
  "a session that is completed several times at once moves its refs once, and each time says so",
  { tags: "sweep" },
  async () => {
    const name = "me/completed-at-once";
    const tip = bench.commits[20]!;
    const { upload, parts } = await send(name, await bench.makePack(tip, null));
    expect((await bench.index(name, upload, parts, [tip])).status).toBe(200);
    const refs = { "refs/heads/main": [null, tip] } as const;
    const answers = await Promise.all(Array.from({ length: 5 }, () => bench.complete(name, upload, refs)));
    for (const { status, body } of answers) {
      expect([status, body]).toEqual([200, { refs: [{ name: "refs/heads/main", refused: null }] }]);
    }
    const { body } = await askApi<{ pushes: { refs: unknown[] }[] }>(bench.server, `/repos/${name}/pushes`);
    expect(body.pushes.flatMap(({ refs }) => refs)).toHaveLength(1);
    expect(await git(bench.dir, "ls-remote", `${bench.server.url}/${name}`, "refs/*")).toBe(`${tip}\trefs/heads/main`);
    await expectEnd(name, upload);
  },
);

test("a step that names a part twice is refused, and can be sent right", async () => {
  const name = "me/named-twice";
  const tip = bench.commits[20]!;
  const { upload, parts } = await send(name, await bench.makePack(tip, null));
  const { status, body } = await bench.index(name, upload, [parts[0]!, ...parts], [tip]);
  expect([status, body.error!.message]).toEqual([
    422,
    expect.stringContaining("part 1 is not there, or is named twice"),
  ]);
  expect((await bench.index(name, upload, parts, [tip])).status).toBe(200);
  await expectEnd(name, upload);
});

test("a part whose bytes the bucket has lost is named, and can be sent again", async () => {
  const name = "me/lost";
  const tip = bench.commits.at(-1)!;
  const pack = await bench.makePack(tip, null);
  const { upload, parts } = await send(name, pack);
  const [key] = [...(await bench.server.readObjects(upload.id))].find(([, { bytes }]) =>
    bytes.equals(pack.subarray(0, bytes.length)),
  )!;
  expect(await bench.server.loseObjects(key)).toBe(1);
  const { status, body } = await bench.index(name, upload, parts, [tip]);
  expect([status, body.error!.message]).toEqual([422, expect.stringContaining("part 1 has been lost by the bucket")]);
  expect((await bench.read(name, upload)).body.parts.map(({ part }) => part)).toEqual(parts.slice(1));
  await bench.putPack(name, upload, 1, pack);
  expect((await bench.index(name, upload, parts, [tip])).status).toBe(200);
  await expectEnd(name, upload);
});

test("a step with an object that fsck refuses is told which, and why", async () => {
  const name = "me/refused-object";
  const blob = makeObject("blob", "content\n");
  const tree = makeTree(["100644", ".git", blob]);
  const commit = makeCommit(tree);
  const { upload, parts } = await send(name, packOf(blob, tree, commit));
  const { status, body } = await bench.index(name, upload, parts, [commit.oid]);
  expect([status, body.error!.code]).toEqual([422, "bad-object"]);
  expect(body.error!.message).toContain(`${tree.oid} fails fsck: hasDotgit`);
  expect((await bench.read(name, upload)).body).toMatchObject({ steps: 0, tips: [], parts: [{ part: 1 }] });
  await expectEnd(name, upload);
});

test("a step with a file beyond the limit of files is told the size, and the way out", async () => {
  const name = "me/huge";
  const entry = encodeEntry({ type: "blob", content: Buffer.alloc(100), claimedSize: MAX_FILE_BYTES + 1 });
  const { upload, parts } = await send(name, assemblePack([entry]));
  const { status, body } = await bench.index(name, upload, parts, [bench.commits[0]!]);
  expect([status, body.error!.code]).toEqual([413, "too-large"]);
  expect(body.error!.message).toMatch(/limit of 10000000 \(it is 10000001\): .* finds it; move it to Git LFS/);
  await expectEnd(name, upload);
});

test("while a step is indexed, its progress is told, and no other one begins", { tags: "sweep" }, async () => {
  const name = "me/under-way";
  const blob = makeObject("blob", randomBytes(MAX_PART_BYTES - 10_000));
  const tree = makeTree(["100644", "noise", blob]);
  const commit = makeCommit(tree);
  const pack = packOf(blob, tree, commit);
  await bench.makeRepository(name);
  const upload = await bench.begin(name);
  expect((await bench.put(name, upload, 1, pack)).status).toBe(204);
  let isOver = false;
  const step = bench.index(name, upload, [1], [commit.oid]).finally(() => (isOver = true));
  const seen: NonNullable<Upload["underWay"]>[] = [];
  while (!isOver && seen.length < 2) {
    const { underWay } = (await bench.read(name, upload)).body;
    if (underWay === null) continue;
    expect(underWay.done).toBeLessThanOrEqual(underWay.total);
    seen.push(underWay);
    const other = await bench.index(name, upload, [1], [commit.oid]);
    if (!isOver)
      expect([other.status, other.body.error!.message]).toEqual([409, expect.stringContaining("another step")]);
  }
  expect(seen.length).toBeGreaterThan(0);
  expect((await step).body).toMatchObject({ steps: 1, underWay: null, tips: [commit.oid] });
  await expectEnd(name, upload);
});
