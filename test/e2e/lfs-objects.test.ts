/** Objects of Git LFS, as its client sends and reads them: what arrives, what is refused, what
 * stays behind, and who may have what. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { findProblems } from "../harness/find-problems.ts";
import { git, makeRepository } from "../harness/git.ts";
import { LfsClient, objectOf, pointerOf } from "../harness/lfs.ts";
import { type Server, startServer } from "../harness/server.ts";

let server: Server;

beforeAll(async () => {
  server = await startServer({ vars: { MAX_BODY_BYTES: "20000000" } });
});
afterAll(() => server.close());

async function makeAt(name: string): Promise<LfsClient> {
  const [owner, repository] = name.split("/");
  expect((await askApi(server, "/repos", { method: "POST", json: { owner, name: repository } })).status).toBe(201);
  return new LfsClient(`${server.url}/${name}.git`);
}

/** Waits until no R2 object has the text in its key. */
async function awaitGone(text: string): Promise<void> {
  for (let tries = 0; (await server.readObjects(text)).size > 0; tries++) {
    expect(tries, "R2 objects are still there").toBeLessThan(100);
    await sleep(100);
  }
}

describe("transfers", () => {
  test("objects of any size come back whole, in ranges, and with either form of the URL", async () => {
    const lfs = await makeAt("lfs/sizes");
    const objects = [0, 1, 4_095, 300_000, 9_000_001].map((size) => objectOf(randomBytes(size)));
    await lfs.upload(objects);
    const bare = new LfsClient(`${server.url}/lfs/sizes`);
    const { body } = await bare.batch("download", objects);
    for (const [i, { oid, bytes, size }] of objects.entries()) {
      const { href, header } = body.objects[i]!.actions!["download"]!;
      expect(href).toBe(`${server.url}/lfs/sizes/info/lfs/objects/${oid}`);
      const response = await fetch(href, { headers: header });
      expect([response.status, response.headers.get("Content-Length")]).toEqual([200, String(size)]);
      expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    }
    const { oid, bytes } = objects.at(-1)!;
    const range = await lfs.get(oid, { Range: "bytes=9000000-" });
    expect([range.status, range.headers.get("Content-Range")]).toEqual([206, "bytes 9000000-9000000/9000001"]);
    expect(Buffer.from(await range.arrayBuffer()).equals(bytes.subarray(9_000_000))).toBe(true);
    expect((await lfs.get(oid, { Range: "bytes=9000001-" })).status).toBe(416);
    const head = await lfs.get(oid, {}, "HEAD");
    expect([head.status, head.headers.get("Content-Length")]).toEqual([200, "9000001"]);
  });

  test("what is there is not asked for again, and sending it again changes nothing", { tags: "sweep" }, async () => {
    const lfs = await makeAt("lfs/again");
    const object = objectOf("the same");
    await lfs.upload([object]);
    expect((await lfs.batch("upload", [object])).body.objects).toEqual([{ oid: object.oid, size: object.size }]);
    expect((await lfs.put(object)).status).toBe(200);
    const ids = await Promise.all(Array.from({ length: 20 }, async () => (await lfs.put(objectOf("at once"))).status));
    expect(ids).toEqual(Array.from({ length: 20 }, () => 200));
    await awaitSettled("lfs/again", 2);
    expect(await findProblems(`${server.url}/lfs/again`)).toEqual([]);
  });

  /** Waits until only so many R2 objects of LFS are there: those of uploads that came second go. */
  async function awaitSettled(name: string, count: number): Promise<void> {
    const { body } = await askApi<{ id: string }>(server, `/repos/${name}`);
    const find = async (): Promise<number> => (await server.readObjects(`${body.id}/lfs/`)).size;
    for (let tries = 0; (await find()) > count; tries++) {
      expect(tries).toBeLessThan(100);
      await sleep(100);
    }
    expect(await find()).toBe(count);
  }

  test("bytes with another hash or size are refused, and leave nothing", async () => {
    const lfs = await makeAt("lfs/wrong");
    const object = objectOf(randomBytes(3_000_000));
    for (const bytes of [randomBytes(3_000_000), Buffer.alloc(0), object.bytes.subarray(1)]) {
      const response = await lfs.put(object, bytes);
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ message: expect.stringContaining("its SHA-256 is") });
    }
    expect((await lfs.get(object.oid)).status).toBe(404);
    expect((await lfs.batch("download", [object])).body.objects[0]!.error!.code).toBe(404);
    await awaitGone(object.oid);
    await lfs.upload([object]);
    const { body } = await lfs.batch("upload", [{ oid: object.oid, size: object.size + 1 }]);
    expect(body.objects[0]!.error).toEqual({ code: 422, message: "the object has 3000000 bytes, not 3000001" });
    expect((await lfs.ask("POST", "verify", "error", { oid: object.oid, size: 3_000_001 })).status).toBe(422);
    const verified = await fetch(`${lfs.url}/verify`, {
      method: "POST",
      body: JSON.stringify({ oid: object.oid, size: object.size }),
    });
    expect(verified.status).toBe(200);
  });

  test("uploads that are cut anywhere leave nothing", async () => {
    const lfs = await makeAt("lfs/cut");
    const { oid, bytes } = objectOf(randomBytes(1_000_000));
    const { port, pathname } = new URL(`${lfs.url}/objects/${oid}`);
    const cutAt = [0, 1, 65_536, 500_000, 999_999];
    for (const sentBytes of cutAt) {
      const socket = connect(Number(port), "127.0.0.1");
      socket.on("error", () => undefined);
      socket.write(`PUT ${pathname} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: ${bytes.length}\r\n\r\n`);
      await new Promise<void>((resolve) => socket.write(bytes.subarray(0, sentBytes), () => resolve()));
      await sleep(50);
      socket.destroy();
    }
    expect((await lfs.get(oid)).status).toBe(404);
    await awaitGone(oid);
    expect(await findProblems(`${server.url}/lfs/cut`)).toEqual([]);
  });

  test(
    "what a killed server was storing is removed, and what it acknowledged is there",
    { tags: "sweep" },
    async () => {
      const own = await startServer();
      try {
        await askApi(own, "/repos", { method: "POST", json: { owner: "lfs", name: "killed" } });
        const lfs = new LfsClient(`${own.url}/lfs/killed.git`);
        const done = objectOf(randomBytes(100_000));
        await lfs.upload([done]);
        const cut = Array.from({ length: 4 }, () => objectOf(randomBytes(9_000_000)));
        const puts = cut.map((object) =>
          lfs.put(object).then(
            ({ status }) => status === 200,
            () => false,
          ),
        );
        await sleep(30);
        await own.kill();
        const acknowledged = await Promise.all(puts);
        await own.restart();
        expect((await lfs.get(done.oid)).status).toBe(200);
        for (const [i, object] of cut.entries()) {
          const response = await lfs.get(object.oid);
          // One whose answer was lost may be there, but then it is whole.
          if (response.status === 200) expect(objectOf(Buffer.from(await response.arrayBuffer())).oid).toBe(object.oid);
          else expect([response.status, acknowledged[i]]).toEqual([404, false]);
        }
        await lfs.upload(cut);
        for (const { oid } of cut) expect((await lfs.get(oid)).status).toBe(200);
        expect(await findProblems(`${own.url}/lfs/killed`)).toEqual([]);
      } finally {
        await own.close();
      }
    },
  );

  test("an object above what a request may have is refused with the way out", async () => {
    const lfs = await makeAt("lfs/large");
    const { body } = await lfs.batch("upload", [{ oid: "a".repeat(64), size: 20_000_001 }]);
    expect(body.objects[0]!.error!.message).toContain("MAX_BODY_BYTES");
    const { hostname, port, pathname } = new URL(`${lfs.url}/objects/${"a".repeat(64)}`);
    const socket = connect(Number(port), hostname);
    socket.write(`PUT ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Length: 20000001\r\n\r\n`);
    const [answer] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    expect(answer.toString()).toMatch(/^HTTP\/1.1 413 /);
  });
});

describe("batches", () => {
  test("each object has its own answer", async () => {
    const lfs = await makeAt("lfs/batch");
    const there = objectOf("there");
    await lfs.upload([there]);
    const bad = [there.oid.toUpperCase(), "../../x", "", `${there.oid}0`, "a".repeat(40), `sha256:${there.oid}`];
    const asked = [
      there,
      ...bad.map((oid) => ({ oid, size: 5 })),
      { oid: "b".repeat(64), size: -1 },
      { oid: "b".repeat(64), size: 1.5 },
    ];
    for (const operation of ["upload", "download"]) {
      const { status, body } = await askLoosely(lfs, operation, asked);
      expect(status).toBe(200);
      expect(body.objects.map(({ error }) => error?.code ?? 0)).toEqual([0, ...bad.map(() => 422), 422, 422]);
    }
  });

  /** A batch whose answer repeats values that the schema does not allow. */
  async function askLoosely(lfs: LfsClient, operation: string, objects: readonly { oid: string; size: number }[]) {
    const response = await fetch(`${lfs.url}/objects/batch`, {
      method: "POST",
      body: JSON.stringify({ operation, objects: objects.map(({ oid, size }) => ({ oid, size })) }),
    });
    type Body = { objects: { error?: { code: number } }[] };
    return { status: response.status, body: (await response.json()) as Body };
  }

  test("what is no batch is refused with the reason", async () => {
    const lfs = await makeAt("lfs/refused");
    const { oid, size } = objectOf("x");
    const object = { oid, size };
    const many = Array.from({ length: 10_000 }, (_, i) => ({ oid: i.toString(16).padStart(64, "0"), size: 1 }));
    const cases: [expected: number, reason: string, body: unknown, headers?: Record<string, string>][] = [
      [400, "not JSON", "{"],
      [400, "not JSON", ""],
      [422, "objects", { operation: "upload" }],
      [422, "operation", { operation: "delete", objects: [] }],
      [422, "ref.name", { operation: "upload", ref: { name: "main" }, objects: [object] }],
      [422, 'objects.0: Unrecognized key: "Size"', { operation: "upload", objects: [{ ...object, Size: 1 }] }],
      [422, "basic", { operation: "upload", transfers: ["tus"], objects: [object] }],
      [409, "sha256", { operation: "upload", hash_algo: "sha512", objects: [object] }],
      [406, "git-lfs+json", { operation: "upload", objects: [object] }, { Accept: "text/html" }],
      [413, "1000", { operation: "upload", objects: many.slice(0, 1_001) }],
      [413, "limit", { operation: "upload", objects: many.map((one) => ({ ...one, padding: "x".repeat(100) })) }],
    ];
    for (const [status, reason, body, headers] of cases) {
      const answer = await lfs.ask("POST", "objects/batch", "batch", body, headers);
      expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(reason)]);
    }
    expect((await lfs.batch("download", many.slice(0, 1_000))).body.objects).toHaveLength(1_000);
    expect((await lfs.ask("POST", "nothing", "error", {})).status).toBe(404);
    const wrong = await lfs.ask("DELETE", "locks", "error");
    expect([wrong.status, wrong.headers.get("Allow")]).toEqual([405, "GET, POST"]);
    for (const path of [`objects/${object.oid.toUpperCase()}x`, "objects/%2e%2e%2fx", `objects/${"A".repeat(64)}`])
      expect((await lfs.ask("GET", path, "error")).status).toBe(422);
  });

  test("the first upload makes the repository, as the push after it would", async () => {
    const lfs = new LfsClient(`${server.url}/lfs/first.git`);
    expect((await lfs.batch("download", [objectOf("x")])).status).toBe(404);
    expect((await lfs.ask("POST", "locks/verify", "verify", {})).body).toEqual({ ours: [], theirs: [] });
    await lfs.upload([objectOf("x")]);
    const dir = await makeRepository("first");
    await git(dir, "commit", "-q", "--allow-empty", "-m", "one");
    await git(dir, "push", "-q", `${server.url}/lfs/first`, "HEAD:refs/heads/trunk");
    // The registry, which answers this, hears of the push soon after it.
    await expect
      .poll(async () => (await askApi(server, "/repos/lfs/first")).body)
      .toMatchObject({ defaultBranch: "trunk" });
  });
});

test("objects count against the quota", async () => {
  const lfs = await makeAt("lfs/quota");
  const put = { method: "PUT", json: { maxBytes: 10_000 } };
  expect((await askApi(server, "/repos/lfs/quota/quota", put)).status).toBe(200);
  await lfs.upload([objectOf(randomBytes(6_000))]);
  const next = objectOf(randomBytes(6_000));
  const { status, body } = await lfs.batch("upload", [next]);
  expect([status, body.message]).toEqual([507, expect.stringContaining("quota")]);
  const refused = await lfs.put(next);
  expect([refused.status, ((await refused.json()) as { message: string }).message]).toEqual([
    413,
    expect.stringContaining("quota"),
  ]);
  await lfs.upload([objectOf(randomBytes(1_000))]);
});

test(
  "an object is only in repositories that have it; forks have those of their parent, and keep them",
  { tags: "sweep" },
  async () => {
    const lfs = await makeAt("lfs/parent");
    const other = await makeAt("lfs/other");
    const object = objectOf(randomBytes(50_000));
    await lfs.upload([object]);
    expect((await other.get(object.oid)).status).toBe(404);
    expect((await other.batch("download", [object])).body.objects[0]!.error!.code).toBe(404);

    const dir = await makeRepository("parent");
    writeFileSync(join(dir, "a.bin"), pointerOf(object));
    await git(dir, "add", ".");
    await git(dir, "commit", "-q", "-m", "one");
    await git(dir, "push", "-q", `${server.url}/lfs/parent`, "HEAD:refs/heads/main");
    for (const [parent, name] of [
      ["parent", "child"],
      ["child", "grandchild"],
    ] as const) {
      const made = await askApi(server, `/repos/lfs/${parent}/forks`, { method: "POST", json: { owner: "lfs", name } });
      expect(made.status, JSON.stringify(made.body)).toBe(201);
    }
    const grandchild = new LfsClient(`${server.url}/lfs/grandchild`);
    const readAll = async (): Promise<boolean> => {
      const response = await grandchild.get(object.oid);
      return response.status === 200 && Buffer.from(await response.arrayBuffer()).equals(object.bytes);
    };
    expect(await readAll()).toBe(true);
    expect((await server.readObjects(object.oid)).size).toBe(1);
    const own = objectOf(randomBytes(1_000));
    await grandchild.upload([own]);
    expect((await lfs.get(own.oid)).status).toBe(404);

    expect((await askApi(server, "/repos/lfs/parent", { method: "DELETE" })).status).toBe(204);
    expect((await askApi(server, "/repos/lfs/child", { method: "DELETE" })).status).toBe(204);
    await sleep(1_000);
    expect(await readAll()).toBe(true);
    expect(await findProblems(`${server.url}/lfs/grandchild`)).toEqual([]);
    expect((await askApi(server, "/repos/lfs/grandchild", { method: "DELETE" })).status).toBe(204);
    await awaitGone(object.oid);
  },
);
