/** Uploads in parts and steps, through the API: what arrives, what is refused, and that nothing
 * stays behind. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { findProblems } from "../../harness/find-problems.ts";
import { git, listRefs, makeRepository } from "../../harness/git.ts";
import { beginning, request } from "../../harness/raw.ts";
import type { Server } from "../../harness/server.ts";
import { hashOf, MAX_PART_BYTES, type Upload, UploadBench } from "../../harness/upload-bench.ts";

let bench: UploadBench;
let server: Server;
let dir: string;
/** Commits of `main`, the oldest first. */
let commits: readonly string[];

beforeAll(async () => {
  bench = await UploadBench.open();
  ({ server, dir, commits } = bench);
});
afterAll(() => bench.close());

test("steps arrive unseen, and the refs move at once at the end", async () => {
  const name = "me/steps";
  await bench.makeRepository(name);
  const upload = await bench.begin(name, { sizeBytes: 1_000 });
  await bench.sendAll(name, upload);
  const { body } = await bench.read(name, upload);
  expect(body).toMatchObject({ complete: false, steps: 3, tips: [commits.at(-1)], parts: [] });
  expect(await git(dir, "ls-remote", `${server.url}/${name}`)).toBe("");
  expect((await askApi(server, `/repos/${name}/git/commits/${commits[3]}`)).status).toBe(404);
  // Prune is due at once here, and must leave what the session brought.
  await bench.runJobs(name);
  expect(await findProblems(`${server.url}/${name}`)).toEqual([]);
  const forked = await askApi(server, `/repos/${name}/forks`, { method: "POST", json: { name: "steps-fork" } });
  expect(forked.status).toBe(201);
  expect((await askApi<{ objects: number }>(server, "/repos/me/steps-fork/maintenance")).body.objects).toBe(0);
  const refs = { "refs/heads/main": [null, commits.at(-1)!], "refs/tags/old": [null, commits[4]!] } as const;
  const done = await bench.complete(name, upload, { ...refs, "refs/heads/none": [commits[1]!, commits[2]!] } as never);
  expect(done.status).toBe(200);
  expect(done.body.refs.map(({ refused }) => refused === null)).toEqual([true, true, false]);
  const clone = `${await makeRepository("clone", "--bare")}/copy`;
  await git(dir, "clone", "-q", "--mirror", `${server.url}/${name}`, clone);
  await git(clone, "fsck", "--full", "--strict");
  expect(await listRefs(clone)).toBe(`${commits.at(-1)} refs/heads/main\n${commits[4]} refs/tags/old`);
  expect(await git(clone, "rev-list", "--objects", "--all", "--no-object-names")).toBe(
    await git(dir, "rev-list", "--objects", "main", "--no-object-names"),
  );
  await bench.awaitGone(upload.id);
  expect(await findProblems(`${server.url}/${name}`)).toEqual([]);
  const again = await bench.complete(name, upload, { "refs/heads/main": [null, commits.at(-1)!] });
  expect(again.body.refs).toEqual([{ name: "refs/heads/main", refused: null }]);
  expect((await bench.read(name, upload)).body.complete).toBe(true);
});

describe("a part", () => {
  const name = "me/parts";
  let upload: Upload;
  beforeAll(async () => {
    await bench.makeRepository(name);
    upload = await bench.begin(name);
  });

  test("with another checksum is refused, and counts when it is sent again", async () => {
    const bytes = Buffer.from("not a pack");
    const refused = await bench.put(name, upload, 1, bytes, hashOf(Buffer.from("another")));
    expect([refused.status, refused.body.error!.code]).toEqual([422, "invalid"]);
    expect((await bench.read(name, upload)).body.parts).toEqual([]);
    for (let time = 0; time < 2; time++) expect((await bench.put(name, upload, 1, bytes)).status).toBe(204);
    expect((await bench.read(name, upload)).body.parts).toEqual([{ part: 1, sizeBytes: 10, checksum: hashOf(bytes) }]);
  });

  test("replaces one of the same number, whose object goes", async () => {
    const bytes = Buffer.from("another attempt");
    expect((await bench.put(name, upload, 1, bytes)).status).toBe(204);
    for (let tries = 0; (await server.readObjects(upload.id)).size > 1 && tries < 100; tries++) await sleep(100);
    const stored = [...(await server.readObjects(upload.id)).values()].map((object) => object.bytes.toString());
    expect(stored).toEqual(["another attempt"]);
  });

  test("that is too large is refused with the limit", async () => {
    const url = `${server.url}/api/repos/${name}/uploads/${upload.id}/parts/2?sha256=${"0".repeat(64)}`;
    // Refused for its length: a client that keeps sending does not always get to read the answer.
    const { status, body } = await request(url, {
      method: "PUT",
      headers: { "content-type": "application/octet-stream", "content-length": String(MAX_PART_BYTES + 1) },
      body: beginning(1_000),
    });
    expect([status, body.toString()]).toEqual([413, expect.stringContaining(`limit of ${MAX_PART_BYTES}`)]);
  });

  test("that has not arrived, or is no pack, ends no session", async () => {
    const missing = await bench.index(name, upload, [1, 7], [commits[0]!]);
    expect([missing.status, missing.body.error!.message]).toEqual([422, expect.stringContaining("part 7")]);
    const corrupt = await bench.index(name, upload, [1], [commits[0]!]);
    expect([corrupt.status, corrupt.body.error!.code]).toEqual([422, "corrupt-pack"]);
    expect((await bench.read(name, upload)).body).toMatchObject({ steps: 0, parts: [{ part: 1 }] });
  });

  test("goes with its session", async () => {
    expect((await bench.remove(name, upload)).status).toBe(204);
    await bench.awaitGone(upload.id);
    expect((await bench.read(name, upload)).status).toBe(404);
    expect((await bench.put(name, upload, 1, Buffer.from("late"))).status).toBe(404);
    await bench.awaitGone(upload.id);
  });
});

test("a step whose history is incomplete is refused, and so are refs to what has not come", async () => {
  const name = "me/incomplete";
  await bench.makeRepository(name);
  const upload = await bench.begin(name);
  const parts = await bench.putPack(name, upload, 1, await bench.makePack(commits[40]!, commits[20]!));
  const { status, body } = await bench.index(name, upload, parts, [commits[40]!]);
  expect(status).toBe(422);
  expect(body.error!.message).toMatch(/missing|neither in it nor in the repository/);
  const done = await bench.complete(name, upload, { "refs/heads/main": [null, commits[40]!] });
  expect(done.body.refs[0]!.refused).toContain("missing necessary objects");
  expect((await bench.read(name, upload)).body.complete).toBe(false);
});

test("a session that was deleted leaves no object and no byte", async () => {
  const name = "me/deleted";
  await bench.makeRepository(name);
  const upload = await bench.begin(name);
  await bench.sendAll(name, upload);
  await bench.putPack(name, upload, 100, await bench.makePack(commits[20]!, null));
  expect((await bench.remove(name, upload)).status).toBe(204);
  await bench.awaitGone(upload.id);
  const countObjects = async (): Promise<number> =>
    (await askApi<{ objects: number }>(server, `/repos/${name}/maintenance`)).body.objects;
  for (let tries = 0; (await countObjects()) > 0; tries++) {
    expect(tries, "objects are still there").toBeLessThan(50);
    await bench.runJobs(name);
    await sleep(100);
  }
  expect(await findProblems(`${server.url}/${name}`)).toEqual([]);
});

test("a quota counts parts as they come, and once when they are objects", async () => {
  const name = "me/limited";
  await bench.makeRepository(name);
  const pack = await bench.makePack(commits[20]!, null);
  const maxBytes = pack.length + 5_000;
  const set = await askApi(server, `/repos/${name}/quota`, { method: "PUT", json: { maxBytes } });
  expect(set.status).toBe(200);
  await sleep(100);
  const refused = await askApi(server, `/repos/${name}/uploads`, { method: "POST", json: { sizeBytes: maxBytes + 1 } });
  expect(refused.status).toBe(413);
  const upload = await bench.begin(name, { sizeBytes: pack.length });
  const parts = await bench.putPack(name, upload, 1, pack);
  const beyond = await bench.put(name, upload, 99, Buffer.alloc(6_000));
  expect([beyond.status, beyond.body.error]).toEqual([413, expect.objectContaining({ limitKind: "quota" })]);
  expect((await bench.index(name, upload, parts, [commits[20]!])).status).toBe(200);
  expect((await bench.put(name, upload, 99, Buffer.alloc(6_000))).status).toBe(413);
});

test("rules for refs hold: at once if nothing could move, and at the end", async () => {
  const name = "me/protected";
  await bench.makeRepository(name);
  await git(dir, "push", "-q", `${server.url}/${name}`, `${commits[5]}:refs/heads/main`);
  const rules = [{ pattern: "refs/heads/main", noForce: true, noDelete: true }];
  const set = await askApi(server, `/repos/${name}/protected-refs`, { method: "PUT", json: { rules } });
  expect(set.status, JSON.stringify(set.body)).toBe(200);
  const deletion = { name: "refs/heads/main", old: commits[5], new: null };
  const refused = await askApi<{ error: { code: string } }>(server, `/repos/${name}/uploads`, {
    method: "POST",
    json: { refs: [deletion] },
  });
  expect([refused.status, refused.body.error!.code]).toEqual([403, "forbidden"]);
  const upload = await bench.begin(name);
  const done = await bench.complete(name, upload, { "refs/heads/main": [commits[5]!, commits[2]!] });
  expect(done.body.refs[0]!.refused).toMatch(/protected/);
});

test("two sessions at once: the second to complete is told that the ref has moved", async () => {
  const name = "me/twice";
  await bench.makeRepository(name);
  const uploads = await Promise.all([bench.begin(name), bench.begin(name)]);
  await Promise.all(uploads.map((upload) => bench.sendAll(name, upload)));
  const tip = commits.at(-1)!;
  const results = await Promise.all([
    bench.complete(name, uploads[0]!, { "refs/heads/main": [null, tip] }),
    bench.complete(name, uploads[1]!, { "refs/heads/main": [null, commits[40]!] }),
  ]);
  expect(results.filter(({ body }) => body.refs[0]!.refused === null)).toHaveLength(1);
  for (const { id } of uploads) {
    await bench.remove(name, { id });
    await bench.awaitGone(id);
  }
  expect(await findProblems(`${server.url}/${name}`)).toEqual([]);
});

test("a crash between any two requests loses nothing that was acknowledged", { tags: "sweep" }, async () => {
  const name = "me/crashes";
  await bench.makeRepository(name);
  const upload = await bench.begin(name);
  const restart = async (): Promise<void> => {
    await server.kill();
    await server.restart();
  };
  let base: string | null = null;
  for (const [i, tip] of [commits[30]!, commits.at(-1)!].entries()) {
    const parts = await bench.putPack(name, upload, 1 + 100 * i, await bench.makePack(tip, base));
    await restart();
    expect((await bench.read(name, upload)).body.parts).toHaveLength(parts.length);
    expect((await bench.index(name, upload, parts, [tip])).status).toBe(200);
    await restart();
    expect((await bench.read(name, upload)).body).toMatchObject({ steps: i + 1, tips: [tip], parts: [] });
    base = tip;
  }
  const done = await bench.complete(name, upload, { "refs/heads/main": [null, commits.at(-1)!] });
  expect(done.body.refs[0]!.refused).toBeNull();
  await restart();
  await bench.awaitGone(upload.id);
  expect(await findProblems(`${server.url}/${name}`)).toEqual([]);
});
