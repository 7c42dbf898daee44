/** Steps whose pack comes in the request's body, and goes on in parts that are not there yet: each
 * is waited for, the pack's end is found, and whatever goes wrong on the way leaves the parts. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { findProblems } from "../../harness/find-problems.ts";
import { git } from "../../harness/git.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../../harness/pack-builder.ts";
import { Random } from "../../harness/random.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";
import { type Upload, UploadBench } from "../../harness/upload-bench.ts";

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
  const step = bench.send(name, upload, new Uint8Array(parts[0]!), 5, [tip]);
  const behind = parts.slice(1);
  // Of another pack: it is not touched.
  expect((await bench.put(name, upload, 5 + behind.length, Buffer.from("another pack"))).status).toBe(204);
  const order = [...behind.keys()];
  [order[0], order[1]] = [order[1]!, order[0]!];
  for (const i of order) {
    await sleep(100);
    expect((await bench.put(name, upload, 5 + i, behind[i]!)).status).toBe(204);
  }
  const { status, body } = await step;
  expect([status, body.tips, body.parts.map(({ part }) => part)]).toEqual([200, [tip], [5 + behind.length]]);
  await expectWhole(name, upload, tip);
});

test("a pack that ends with a part, one that ends with the body, and one without parts", async () => {
  const name = "me/ending";
  const upload = await begin(name);
  // The last part is large enough for another one behind it.
  const [body, part, ...others] = cut(pack, Math.ceil(pack.length / 2));
  expect(others).toEqual([]);
  const step = bench.send(name, upload, new Uint8Array(body!), 1, [tip]);
  expect((await bench.put(name, upload, 1, part!)).status).toBe(204);
  expect((await step).status).toBe(200);
  for (const [i, from] of [null, 7].entries()) {
    const small = new Uint8Array(await bench.makePack(bench.commits[3 + i]!, bench.commits[2 + i]!));
    const first = i === 0 ? new Uint8Array(await bench.makePack(bench.commits[2]!, null)) : null;
    if (first !== null) expect((await bench.send(name, upload, first, null, [bench.commits[2]!])).status).toBe(200);
    const sent = await bench.send(name, upload, small, from, [bench.commits[3 + i]!]);
    expect([sent.status, sent.body.steps, sent.body.parts]).toEqual([200, 3 + i, []]);
  }
  await expectWhole(name, upload, bench.commits[4]!);
});

test("a bundle", async () => {
  const name = "me/bundle";
  const upload = await begin(name);
  const path = join(makeTempDir("bundle"), "main.bundle");
  await git(bench.dir, "bundle", "create", "-q", path, "main");
  const wanted = bench.commits.at(-1)!;
  expect((await bench.send(name, upload, new Uint8Array(readFileSync(path)), null, [wanted])).status).toBe(200);
  await expectWhole(name, upload, wanted);
});

test("a body that is cut, empty or no pack leaves nothing, and the same may be sent again", async () => {
  const name = "me/cut";
  const upload = await begin(name);
  const cutOff = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(new Uint8Array(pack.subarray(0, 1_500_000)));
      await awaitIndexing(name, upload);
      controller.error(new Error("cut"));
    },
  });
  await expect(bench.send(name, upload, cutOff, null, [tip])).rejects.toThrow();
  await expect
    .poll(async () => (await bench.read(name, upload)).body.underWay, { interval: 20, timeout: 5_000 })
    .toBeNull();
  const refused: [Buffer, number | null, string][] = [
    [Buffer.alloc(0), null, "it is empty"],
    [Buffer.from("no pack at all, but some text"), null, "does not begin with PACK"],
    [Buffer.concat([pack, Buffer.from("more")]), null, "bytes follow its trailer"],
    [Buffer.concat([pack, Buffer.alloc(600_000)]), 9, "bytes follow its trailer"],
    [pack.subarray(0, -100_000), null, ""],
  ];
  for (const [body, from, reason] of refused) {
    const answer = await bench.send(name, upload, new Uint8Array(body), from, [tip]);
    expect([answer.status, answer.body.error!.message]).toEqual([422, expect.stringContaining(reason)]);
  }
  expect((await bench.read(name, upload)).body).toMatchObject({ steps: 0, underWay: null, parts: [] });
  expect((await bench.send(name, upload, new Uint8Array(pack), null, [tip])).status).toBe(200);
  await expectWhole(name, upload, tip);
});

test("tips are named in the URL, as many as it has space for", async () => {
  const name = "me/tips";
  const upload = await begin(name);
  const refused = [[], ["HEAD"], Array.from({ length: 101 }, () => tip)];
  // More than is under way between two sockets: the client still sends when it is refused.
  const large = new Uint8Array(20_000_000);
  for (const tips of refused) {
    const { status, body } = await bench.send(name, upload, large, null, tips);
    expect([status, body.error!.code]).toEqual([422, "invalid"]);
  }
  const other = { id: randomUUID() };
  expect((await bench.send(name, other, large, null, [tip])).status).toBe(404);
  await bench.remove(name, upload);
});

test("a part that does not come ends the step, which goes on once all of it is there", async () => {
  const name = "me/late";
  const upload = await begin(name);
  const parts = cut(pack, INNER_BYTES);
  await bench.put(name, upload, 2, parts[1]!);
  const { status, body } = await bench.send(name, upload, new Uint8Array(parts[0]!), 2, [tip]);
  expect([status, body.error!.code]).toEqual([408, "timeout"]);
  expect(body.error!.message).toMatch(/^the step took too long: part 3 did not come in .* once that is there/);
  expect((await bench.read(name, upload)).body).toMatchObject({ steps: 0, underWay: null, parts: [{ part: 2 }] });
  for (const [i, part] of parts.entries()) await bench.put(name, upload, 1 + i, part);
  const numbers = [...parts.keys()].map((i) => 1 + i);
  expect((await bench.index(name, upload, numbers, [tip])).status).toBe(200);
  await expectWhole(name, upload, tip);
});

test("a part that is too small for another one to follow ends the pack", async () => {
  const name = "me/too-small";
  const upload = await begin(name);
  const [body, ...parts] = cut(pack, INNER_BYTES - 1);
  for (const [i, part] of parts.entries()) await bench.put(name, upload, 1 + i, part);
  const answer = await bench.send(name, upload, new Uint8Array(body!), 1, [tip]);
  expect([answer.status, answer.body.error!.code]).toEqual([422, "corrupt-pack"]);
  expect((await bench.read(name, upload)).body).toMatchObject({ steps: 0, underWay: null });
  await bench.remove(name, upload);
  await bench.awaitGone(upload.id);
});

test("bytes behind the pack, in its last part, refuse it", async () => {
  const name = "me/followed";
  const upload = await begin(name);
  const half = pack.length >>> 1;
  await bench.put(name, upload, 1, Buffer.concat([pack.subarray(half), Buffer.from("more")]));
  const { status, body } = await bench.send(name, upload, new Uint8Array(pack.subarray(0, half)), 1, [tip]);
  expect([status, body.error!.message]).toEqual([422, expect.stringContaining("bytes follow its trailer")]);
  await bench.remove(name, upload);
  await bench.awaitGone(upload.id);
});

test("a part that is replaced after it was read refuses the step", async () => {
  const name = "me/replaced";
  const upload = await begin(name);
  const [body, ...parts] = cut(pack, INNER_BYTES);
  await bench.put(name, upload, 1, parts[0]!);
  const step = bench.send(name, upload, new Uint8Array(body!), 1, [tip]);
  await awaitIndexing(name, upload);
  await sleep(100);
  const other = Buffer.from(parts[0]!);
  other[100]! ^= 1;
  await bench.put(name, upload, 1, other);
  for (const [i, part] of parts.entries()) if (i > 0) await bench.put(name, upload, 1 + i, part);
  const { status, body: answer } = await step;
  expect([status, answer.error!.message]).toEqual([409, expect.stringContaining("a part of the step was replaced")]);
  await bench.put(name, upload, 1, parts[0]!);
  expect((await bench.send(name, upload, new Uint8Array(body!), 1, [tip])).status).toBe(200);
  await expectWhole(name, upload, tip);
});

test("a session that ends while a step waits ends the step", async () => {
  const name = "me/ended";
  const upload = await begin(name);
  const startMs = performance.now();
  const step = bench.send(name, upload, new Uint8Array(pack.subarray(0, INNER_BYTES)), 1, [tip]);
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
  const [body, ...parts] = cut(pack, INNER_BYTES);
  await bench.put(name, upload, 1, parts[0]!);
  const send = () => bench.send(name, upload, new Uint8Array(body!), 1, [tip]);
  const step = send().catch((error: unknown) => error);
  await awaitIndexing(name, upload);
  await bench.server.kill();
  expect(await step).toBeInstanceOf(TypeError);
  await bench.server.restart();
  expect((await bench.read(name, upload)).body.parts.map(({ part }) => part)).toEqual([1]);
  const again = send();
  for (const [i, part] of parts.entries()) if (i > 0) await bench.put(name, upload, 1 + i, part);
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
  const [body, ...parts] = cut(pack, INNER_BYTES);
  const step = bench.send(name, upload, new Uint8Array(body!), 1, [tip]);
  for (const [i, part] of parts.entries()) expect((await bench.put(name, upload, 1 + i, part)).status).toBe(204);
  expect((await step).status).toBe(200);
  await expectWhole(name, upload, tip);
});
