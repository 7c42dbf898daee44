/** LFS objects that come in parts: what arrives, what is refused, and what stays behind. The bucket
 * takes no parts below 5 MiB, so objects here have three. */
import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { findProblems } from "../harness/find-problems.ts";
import { type ClientObject, LfsClient, objectOf } from "../harness/lfs.ts";
import { PartsUpload, tryBegin } from "../harness/lfs-parts.ts";
import { Random } from "../harness/random.ts";
import { type Server, type ServerOptions, startServer } from "../harness/server.ts";

const BODY_BYTES = 6_000_000;
const PART_BYTES = 5 * 1024 * 1024;

const start = (options: ServerOptions = {}): Promise<Server> =>
  startServer({ ...options, vars: { MAX_BODY_BYTES: String(BODY_BYTES), ...options.vars } });

/** How often a server is killed. */
const KILLS = 8;

let server: Server;

beforeAll(async () => {
  server = await start();
});
afterAll(() => server.close());

let names = 0;

async function make(at = server): Promise<LfsClient> {
  const name = `parts-${++names}`;
  expect((await askApi(at, "/repos", { method: "POST", json: { owner: "lfs", name } })).status).toBe(201);
  return new LfsClient(`${at.url}/lfs/${name}.git`);
}

const newObject = (): ClientObject => objectOf(randomBytes(2 * PART_BYTES + 70_000));

async function expectStored(lfs: LfsClient, { oid, bytes }: ClientObject): Promise<void> {
  const response = await lfs.get(oid);
  expect(response.status).toBe(200);
  expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
}

/** Expects that in the end the bucket has only so many files: those of objects and of parts that
 * wait. */
async function expectFiles(at: Server, count: number): Promise<void> {
  const find = async (): Promise<string[]> => {
    const paths = await readdir(at.persistDir, { recursive: true });
    return paths.filter((path) => /\/blobs\/[^/]+$/.test(path));
  };
  for (let tries = 0; (await find()).length > count; tries++) {
    expect(tries, "files that nothing needs are still there").toBeLessThan(100);
    await sleep(100);
  }
  expect(await find()).toHaveLength(count);
}

test("a batch is for parts where an object needs them and the client offers them", async () => {
  const lfs = await make();
  const [large, small] = [newObject(), objectOf("small")];
  const offered = { transfers: ["holdfast", "basic"] };
  const { body } = await lfs.batch("upload", [large, small], offered);
  expect(body).toMatchObject({ transfer: "holdfast" });
  const hrefs = body.objects.map(({ actions }) => actions!["upload"]!.href);
  expect(hrefs).toEqual([`${lfs.url}/objects/${large.oid}/uploads`, `${lfs.url}/objects/${small.oid}`]);
  expect((await lfs.batch("upload", [small], offered)).body).toMatchObject({ transfer: "basic" });
  expect((await lfs.batch("download", [large, small], offered)).body).toMatchObject({ transfer: "basic" });

  const refused = (await lfs.batch("upload", [large, small])).body;
  expect(refused).toMatchObject({ transfer: "basic" });
  expect(refused.objects[0]!.error!.message).toContain("git lfs-holdfast install");
  expect(refused.objects[1]!.actions).toBeDefined();
  const upload = await PartsUpload.begin(lfs, large);
  await upload.putAll();
  expect((await upload.complete()).status).toBe(200);
  // Who cannot send it need not.
  expect((await lfs.batch("upload", [large])).body.objects).toEqual([{ oid: large.oid, size: large.size }]);
  expect((await lfs.batch("upload", [large], offered)).body).toMatchObject({ transfer: "basic" });
  const beyond = { oid: "a".repeat(64), size: 10_000 * PART_BYTES + 1 };
  const { message } = (await lfs.batch("upload", [beyond], offered)).body.objects[0]!.error!;
  expect(message).toContain(`may have ${10_000 * PART_BYTES}`);
  expect((await tryBegin(lfs, beyond)).status).toBe(413);
});

test(
  "parts come in any order, at once, twice, and the object is there when it is complete",
  { tags: "sweep" },
  async () => {
    const lfs = await make();
    const object = newObject();
    const upload = await PartsUpload.begin(lfs, object);
    expect([upload.partBytes, upload.count]).toEqual([PART_BYTES, 3]);
    const parts = [3, 1, 1, 2, 3, 2];
    const answers = await Promise.all(parts.map((part) => upload.put(part)));
    expect(answers.map(({ status }) => status)).toEqual(parts.map(() => 200));
    expect((await upload.put(2)).status).toBe(200);
    expect((await upload.ask("GET")).body.parts).toEqual([1, 2, 3]);
    expect((await lfs.get(object.oid)).status).toBe(404);
    const completed = await Promise.all([upload.complete(), upload.complete(), upload.complete()]);
    expect(completed.map(({ status }) => status)).toEqual([200, 200, 200]);
    await expectStored(lfs, object);
    const range = await lfs.get(object.oid, { Range: `bytes=${PART_BYTES - 2}-${PART_BYTES + 1}` });
    expect(Buffer.from(await range.arrayBuffer())).toEqual(object.bytes.subarray(PART_BYTES - 2, PART_BYTES + 2));
    // The answer may have been lost.
    expect((await upload.complete()).status).toBe(200);
    expect((await upload.ask("GET")).status).toBe(404);
    expect((await tryBegin(lfs, object)).body.id).toBeUndefined();
    expect(await findProblems(lfs.url.replace(".git/info/lfs", ""))).toEqual([]);
  },
);

test(
  "an object is read back in as many goes as it takes, and each goes on where the one before ended",
  { tags: "sweep" },
  async () => {
    const own = await start({ constants: { CHECK_MS: 0 } });
    try {
      const lfs = await make(own);
      const upload = await PartsUpload.begin(lfs, newObject());
      await upload.putAll();
      const checked: (number | undefined)[] = [];
      for (let goes = 0; goes < 4; goes++) checked.push((await upload.ask("POST")).body.checked);
      const window = 4 * 1024 * 1024;
      expect(checked).toEqual([window, 2 * window, undefined, undefined]);
      await expectStored(lfs, upload.object);
    } finally {
      await own.close();
    }
  },
);

test(
  "an object that no single request can have brought is sent in windows, whole and in ranges",
  { tags: "sweep" },
  async () => {
    const own = await start({ constants: { MAX_PUT_BYTES: PART_BYTES, DOWNLOAD_WINDOW_BYTES: 3_000_000 } });
    try {
      const lfs = await make(own);
      const object = newObject();
      const upload = await PartsUpload.begin(lfs, object);
      await upload.putAll();
      expect((await upload.complete()).status).toBe(200);
      await expectStored(lfs, object);
      for (const [from, to] of [
        [2_999_999, 6_000_001],
        [7, 8],
        [object.size - 1, object.size - 1],
      ] as const) {
        const response = await lfs.get(object.oid, { Range: `bytes=${from}-${to}` });
        expect(response.status).toBe(206);
        const bytes = Buffer.from(await response.arrayBuffer());
        expect(bytes.equals(object.bytes.subarray(from, to + 1))).toBe(true);
      }
      // What is lost behind the server's back is no empty answer.
      await own.loseObjects(object.oid);
      expect((await lfs.get(object.oid)).status).toBeGreaterThanOrEqual(500);
    } finally {
      await own.close();
    }
  },
);

test("parts that are wrong leave an upload as it was; one that lacks some says which", { tags: "sweep" }, async () => {
  const lfs = await make();
  const object = newObject();
  const upload = await PartsUpload.begin(lfs, object);
  const own = upload.bytesOf(1);
  const changed = Buffer.from(own);
  changed[3_000_000]! ^= 1;
  const cases: [part: number | string, bytes: Buffer, sha256: string | undefined, reason: string][] = [
    [1, changed, objectOf(own).oid, "its SHA-256 is"],
    [1, own.subarray(1), undefined, `has ${PART_BYTES} bytes, not ${PART_BYTES - 1}`],
    [3, own, undefined, `has 70000 bytes, not ${PART_BYTES}`],
    [4, own, undefined, "there is no part 4"],
    [0, own, undefined, "1 or more"],
    ["x", own, undefined, "1 or more"],
    [1, own, "x", "sha256"],
  ];
  for (const [part, bytes, sha256, reason] of cases) {
    const { status, body } = await upload.put(part, bytes, sha256);
    expect([status, body.message]).toEqual([422, expect.stringContaining(reason)]);
  }
  expect((await upload.ask("GET")).body.parts).toEqual([]);
  expect((await upload.put(2)).status).toBe(200);
  const { status, body } = await upload.complete();
  expect([status, body.message]).toEqual([422, expect.stringContaining("these of its 3 parts have not come: 1, 3")]);

  // A part with a SHA-256 of its own is replaced by the right one.
  expect((await upload.put(1, changed)).status).toBe(200);
  expect((await upload.put(1)).status).toBe(200);
  expect((await upload.put(3)).status).toBe(200);
  expect((await upload.complete()).status).toBe(200);
  await expectStored(lfs, object);
});

test(
  "an object with another SHA-256 is not stored, and an upload that is given up leaves nothing",
  { tags: "sweep" },
  async () => {
    const own = await start();
    try {
      const lfs = await make(own);
      const object = newObject();
      const wrong = await PartsUpload.begin(lfs, { ...object, oid: "b".repeat(64) });
      await wrong.putAll();
      const { status, body } = await wrong.complete();
      expect([status, body.message]).toEqual([422, expect.stringContaining(`is ${object.oid}, not bbb`)]);
      expect((await wrong.ask("GET")).status).toBe(404);
      expect((await lfs.get("b".repeat(64))).status).toBe(404);

      const given = await PartsUpload.begin(lfs, object);
      await given.put(2);
      expect((await given.ask("DELETE")).status).toBe(200);
      for (const method of ["GET", "POST", "DELETE"] as const) expect((await given.ask(method)).status).toBe(404);
      expect((await given.put(1)).status).toBe(404);
      await expectFiles(own, 0);

      // With the repository, uploads go that are under way.
      const open = await PartsUpload.begin(lfs, object);
      await open.put(1);
      await expectFiles(own, 1);
      const name = lfs.url.split("/")[4]!.replace(".git", "");
      expect((await askApi(own, `/repos/lfs/${name}`, { method: "DELETE" })).status).toBe(204);
      await expectFiles(own, 0);
    } finally {
      await own.close();
    }
  },
);

test(
  "a server that is killed while parts come, or while it completes, loses nothing that it acknowledged",
  { tags: "sweep" },
  async () => {
    const own = await start();
    try {
      const lfs = await make(own);
      const object = newObject();
      const upload = await PartsUpload.begin(lfs, object);
      const there = new Set<number>();
      const random = new Random(5);
      for (let kill = 0; kill < KILLS; kill++) {
        const isWhole = there.size === upload.count;
        const missing = [1, 2, 3].filter((part) => !there.has(part));
        const calls = isWhole ? [upload.complete()] : missing.map((part) => upload.put(part));
        const answers = Promise.all(calls.map((call) => call.catch(() => null)));
        await sleep(random.below(isWhole ? 60 : 120));
        await own.kill();
        for (const [i, answer] of (await answers).entries())
          if (!isWhole && answer?.status === 200) there.add(missing[i]!);
        await own.restart();
        const { status, body } = await upload.ask("GET");
        // Its answer was lost.
        if (isWhole && status === 404) break;
        expect(status).toBe(200);
        expect(body.parts).toEqual(expect.arrayContaining([...there]));
        for (const part of body.parts) there.add(part);
      }
      for (let part = 1; part <= 3; part++) if (!there.has(part)) expect((await upload.put(part)).status).toBe(200);
      expect((await upload.complete()).status).toBe(200);
      await expectStored(lfs, object);
      expect(await findProblems(lfs.url.replace(".git/info/lfs", ""))).toEqual([]);
      expect((await own.readObjects("/lfs/")).size).toBe(1);
    } finally {
      await own.close();
    }
  },
);

test("who may not write has no uploads, nor does another repository or object", { tags: "sweep" }, async () => {
  const admin = "holdfast-admin-token-for-tests";
  const own = await start({ vars: { ACCESS: "token", ADMIN_TOKEN: admin } });
  const ask = async (path: string, json: unknown): Promise<{ token: string }> => {
    const headers = { Authorization: `Bearer ${admin}`, "Content-Type": "application/json" };
    const response = await fetch(`${own.url}/api${path}`, { method: "POST", headers, body: JSON.stringify(json) });
    return (await response.json()) as { token: string };
  };
  try {
    for (const name of ["one", "two"]) await ask("/repos", { owner: "lfs", name });
    const clientOf = async (right: string, more: object = {}): Promise<LfsClient> =>
      new LfsClient(
        `${own.url}/lfs/one.git`,
        (await ask("/tokens", { owner: "lfs", name: "t", right, ...more })).token,
      );
    const writer = await clientOf("write");
    const object = newObject();
    const upload = await PartsUpload.begin(writer, object);
    const expiring = await clientOf("write", { expiresAt: new Date(Date.now() + 1_500).toISOString() });
    expect((await upload.ask("GET", expiring.authorization())).status).toBe(200);
    await sleep(1_600);
    const callers: [client: LfsClient, status: number][] = [
      [await clientOf("read"), 403],
      [await clientOf("write", { owner: "elsewhere" }), 404],
      [new LfsClient(writer.url), 401],
      [expiring, 401],
    ];
    for (const [client, status] of callers) {
      const headers = client.authorization();
      for (const method of ["GET", "POST", "DELETE"] as const)
        expect([method, (await upload.ask(method, headers)).status]).toEqual([method, status]);
      const part = await fetch(`${upload.url}/1?sha256=${object.oid}`, { method: "PUT", headers, body: "x" });
      expect(part.status).toBe(status);
    }
    const elsewhere = [
      upload.url.replace("/one.git", "/two.git"),
      upload.url.replace(object.oid, "c".repeat(64)),
      upload.url.slice(0, -1),
    ];
    for (const url of elsewhere)
      for (const method of ["GET", "POST", "DELETE"] as const)
        expect((await upload.ask(method, writer.authorization(), url)).status).toBe(404);
    await upload.putAll();
    expect((await upload.complete()).status).toBe(200);
  } finally {
    await own.close();
  }
});

test(
  "uploads count against the quota as their parts come, and a repository has so many at a time",
  { tags: "sweep" },
  async () => {
    const own = await start({ constants: { MAX_LFS_PART_UPLOADS: 2 } });
    try {
      const lfs = await make(own);
      const name = lfs.url.split("/")[4]!.replace(".git", "");
      const setQuota = (maxBytes: number) =>
        askApi(own, `/repos/lfs/${name}/quota`, { method: "PUT", json: { maxBytes } });
      const [first, second] = [newObject(), newObject()];
      await setQuota(first.size + PART_BYTES);
      const [one, two] = [await PartsUpload.begin(lfs, first), await PartsUpload.begin(lfs, second)];
      const third = await tryBegin(lfs, newObject());
      expect([third.status, third.body.message]).toEqual([409, expect.stringContaining("has 2 of them")]);
      await one.putAll();
      expect((await two.put(1)).status).toBe(200);
      const refused = await two.put(2);
      expect([refused.status, refused.body.message]).toEqual([413, expect.stringContaining("quota")]);
      expect((await one.complete()).status).toBe(200);
      expect((await two.put(2)).status).toBe(413);
      await setQuota(first.size + second.size - 1);
      expect((await two.put(2)).status).toBe(200);
      expect((await two.put(3)).status).toBe(413);
      await setQuota(first.size + second.size);
      expect((await two.put(3)).status).toBe(200);
      expect((await two.complete()).status).toBe(200);
      await expectStored(lfs, second);
      const { status, body } = await tryBegin(lfs, newObject());
      expect([status, body.message]).toEqual([413, expect.stringContaining("quota")]);
    } finally {
      await own.close();
    }
  },
);
