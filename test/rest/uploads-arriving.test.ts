/** Steps that are begun before their parts are there: each part is waited for, the pack's end is
 * found in it, and whatever goes wrong on the way leaves the parts. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { findProblems } from "../harness/find-problems.ts";
import { git } from "../harness/git.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../harness/pack-builder.ts";
import { Random } from "../harness/random.ts";
import { type Upload, UploadBench } from "../harness/upload-bench.ts";

/** The least that a part has which is not the last: `MIN_INNER_PART_BYTES`. */
const INNER_BYTES = 1024 * 1024;

/** How long a step waits for a part here. */
const WAIT_MS = 1_500;

let bench: UploadBench;
/** A pack of some MB: files of noise, and the commit that has them. */
let pack: Buffer;
let tip: string;

beforeAll(async () => {
  bench = await UploadBench.open({ BODY_WAIT_MS: WAIT_MS });
  const random = new Random(7);
  const blobs = Array.from({ length: 12 }, () => makeObject("blob", random.bytes(300_000)));
  const tree = makeTree(...blobs.map((blob, i): [string, string, typeof blob] => ["100644", `noise-${10 + i}`, blob]));
  const commit = makeCommit(tree);
  tip = commit.oid;
  pack = packOf(...blobs, tree, commit);
});
afterAll(() => bench.close());

function cut(bytes: Buffer, partBytes: number): Buffer[] {
  const count = Math.ceil(bytes.length / partBytes);
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * partBytes, (i + 1) * partBytes));
}

async function begin(name: string): Promise<Upload> {
  await bench.makeRepository(name);
  return bench.begin(name);
}

/** Waits until a step has begun to read its first part. */
async function awaitIndexing(name: string, upload: Upload): Promise<void> {
  await expect
    .poll(async () => (await bench.read(name, upload)).body.underWay?.title, { interval: 10 })
    .toBe("Receiving objects");
}

async function expectWhole(name: string, upload: Upload, wanted: string): Promise<void> {
  const done = await bench.complete(name, upload, { "refs/heads/main": [null, wanted] });
  expect(done.body.refs).toEqual([{ name: "refs/heads/main", refused: null }]);
  expect(await git(bench.dir, "ls-remote", `${bench.server.url}/${name}`, "refs/*")).toBe(`${wanted}\trefs/heads/main`);
  expect(await findProblems(`${bench.server.url}/${name}`)).toEqual([]);
  await bench.remove(name, upload);
  await bench.awaitGone(upload.id);
}

test("parts that arrive while the step is indexed, in any order, with others behind them", async () => {
  const name = "me/arriving";
  const upload = await begin(name);
  const parts = cut(pack, INNER_BYTES);
  const step = bench.index(name, upload, 5, [tip]);
  // Of another pack: it is not touched.
  expect((await bench.put(name, upload, 5 + parts.length, Buffer.from("another pack"))).status).toBe(204);
  const order = [...parts.keys()];
  [order[1], order[2]] = [order[2]!, order[1]!];
  for (const i of order) {
    await sleep(100);
    expect((await bench.put(name, upload, 5 + i, parts[i]!)).status).toBe(204);
  }
  const { status, body } = await step;
  expect([status, body.tips, body.parts.map(({ part }) => part)]).toEqual([200, [tip], [5 + parts.length]]);
  await expectWhole(name, upload, tip);
});

test("a pack that ends with a part, and one of a single small part", async () => {
  const name = "me/ending";
  const upload = await begin(name);
  // The last part is large enough for another one behind it.
  const half = Math.ceil(pack.length / 2);
  const step = bench.index(name, upload, 1, [tip]);
  for (const [i, part] of cut(pack, half).entries()) await bench.put(name, upload, 1 + i, part);
  expect((await step).status).toBe(200);
  const small = await bench.makePack(bench.commits[3]!, null);
  expect((await bench.put(name, upload, 3, small)).status).toBe(204);
  expect((await bench.index(name, upload, 3, [bench.commits[3]!])).body).toMatchObject({ steps: 2, parts: [] });
  await expectWhole(name, upload, bench.commits[3]!);
});

test("a part that does not come ends the step, which goes on once it is there", async () => {
  const name = "me/late";
  const upload = await begin(name);
  const parts = cut(pack, INNER_BYTES);
  await bench.put(name, upload, 1, parts[0]!);
  const { status, body } = await bench.index(name, upload, 1, [tip]);
  expect([status, body.error!.code]).toEqual([408, "timeout"]);
  expect(body.error!.message).toMatch(/^the step took too long: part 2 did not come in .* once that is there/);
  expect((await bench.read(name, upload)).body).toMatchObject({ steps: 0, underWay: null, parts: [{ part: 1 }] });
  for (const [i, part] of parts.entries()) await bench.put(name, upload, 1 + i, part);
  expect((await bench.index(name, upload, 1, [tip])).status).toBe(200);
  await expectWhole(name, upload, tip);
});

test("a part that is too small for another one to follow ends the pack", async () => {
  const name = "me/too-small";
  const upload = await begin(name);
  for (const [i, part] of cut(pack, INNER_BYTES - 1).entries()) await bench.put(name, upload, 1 + i, part);
  const { status, body } = await bench.index(name, upload, 1, [tip]);
  expect([status, body.error!.code]).toEqual([422, "corrupt-pack"]);
  expect((await bench.read(name, upload)).body).toMatchObject({ steps: 0, underWay: null });
  await bench.remove(name, upload);
  await bench.awaitGone(upload.id);
});

test("bytes behind the pack, in its last part, refuse it", async () => {
  const name = "me/followed";
  const upload = await begin(name);
  await bench.put(name, upload, 1, Buffer.concat([pack, Buffer.from("more")]));
  const { status, body } = await bench.index(name, upload, 1, [tip]);
  expect([status, body.error!.message]).toEqual([422, expect.stringContaining("bytes follow its trailer")]);
  await bench.remove(name, upload);
  await bench.awaitGone(upload.id);
});

test("a part that is replaced after it was read refuses the step", async () => {
  const name = "me/replaced";
  const upload = await begin(name);
  const parts = cut(pack, INNER_BYTES);
  await bench.put(name, upload, 1, parts[0]!);
  const step = bench.index(name, upload, 1, [tip]);
  await awaitIndexing(name, upload);
  const other = Buffer.from(parts[0]!);
  other[100]! ^= 1;
  await bench.put(name, upload, 1, other);
  for (const [i, part] of parts.entries()) if (i > 0) await bench.put(name, upload, 1 + i, part);
  const { status, body } = await step;
  expect([status, body.error!.message]).toEqual([409, expect.stringContaining("a part of the step was replaced")]);
  await bench.put(name, upload, 1, parts[0]!);
  expect((await bench.index(name, upload, 1, [tip])).status).toBe(200);
  await expectWhole(name, upload, tip);
});

test("a session that ends while a step waits ends the step", async () => {
  const name = "me/ended";
  const upload = await begin(name);
  await bench.put(name, upload, 1, pack.subarray(0, INNER_BYTES));
  const startMs = performance.now();
  const step = bench.index(name, upload, 1, [tip]);
  await awaitIndexing(name, upload);
  expect((await bench.remove(name, upload)).status).toBe(204);
  expect((await step).status).toBe(404);
  expect(performance.now() - startMs).toBeLessThan(WAIT_MS);
  await bench.awaitGone(upload.id);
  expect(await findProblems(`${bench.server.url}/${name}`)).toEqual([]);
});

test("a server that is killed meanwhile has the parts, and the step can be begun again", async () => {
  const name = "me/killed";
  const upload = await begin(name);
  const parts = cut(pack, INNER_BYTES);
  for (const i of [0, 1]) await bench.put(name, upload, 1 + i, parts[i]!);
  const step = bench.index(name, upload, 1, [tip]).catch((error: unknown) => error);
  await awaitIndexing(name, upload);
  await bench.server.kill();
  expect(await step).toBeInstanceOf(TypeError);
  await bench.server.restart();
  expect((await bench.read(name, upload)).body.parts.map(({ part }) => part)).toEqual([1, 2]);
  const again = bench.index(name, upload, 1, [tip]);
  for (const [i, part] of parts.entries()) if (i > 1) await bench.put(name, upload, 1 + i, part);
  expect((await again).status).toBe(200);
  await expectWhole(name, upload, tip);
});

test("a quota that the parts just fit is not met twice", async () => {
  const name = "me/fitting";
  const upload = await begin(name);
  const set = await askApi(bench.server, `/repos/${name}/quota`, {
    method: "PUT",
    json: { maxBytes: pack.length + 50_000 },
  });
  expect(set.status).toBe(200);
  const step = bench.index(name, upload, 1, [tip]);
  for (const [i, part] of cut(pack, INNER_BYTES).entries())
    expect((await bench.put(name, upload, 1 + i, part)).status).toBe(204);
  expect((await step).status).toBe(200);
  await expectWhole(name, upload, tip);
});

test("a step names its parts in one way", async () => {
  const name = "me/named";
  const upload = await begin(name);
  const path = `/repos/${name}/uploads/${upload.id}/steps`;
  for (const json of [{ tips: [tip] }, { tips: [tip], parts: [1], from: 1 }]) {
    const { status, body } = await askApi<{ error: { message: string } }>(bench.server, path, { method: "POST", json });
    expect([status, body.error.message]).toEqual([422, expect.stringContaining("either `parts` or `from`")]);
  }
  await bench.remove(name, upload);
});
