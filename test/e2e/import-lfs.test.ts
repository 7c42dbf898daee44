/** Imports and mirrors that bring objects of Git LFS, from another Holdfast and from servers that
 * lie. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { findProblems } from "../harness/find-problems.ts";
import { git, makeRepository } from "../harness/git.ts";
import { type ClientObject, LFS_TYPE, LfsClient, objectOf, pointerOf } from "../harness/lfs.ts";
import { type Server, startServer } from "../harness/server.ts";
import { passOn, startUpstream, type Upstream } from "../harness/upstream.ts";
import { testSome } from "../harness/sweep.ts";

interface Import {
  readonly state: string;
  readonly error: string | null;
  readonly lfs: { readonly objects: number; readonly bytes: number; readonly missing: number } | null;
}

let server: Server;
let upstream: Upstream;
let dir: string;

/** What the upstream has, which is more than one run brings. */
const many = Array.from({ length: 13 }, (_, i) => objectOf(`small ${i}`));
const large = objectOf(randomBytes(6_000_000));
const empty = objectOf("");
const lacking = objectOf("what the upstream lacks");
const sent = [...many, large, empty];

beforeAll(async () => {
  server = await startServer({
    vars: { ALLOW_PRIVATE_IMPORTS: "on" },
    constants: { RUN_LFS_OBJECTS: 10, IMPORT_RETRY_MS: 20, BODY_WAIT_MS: 1_500, ANSWER_WAIT_MS: 1_500 },
  });
  upstream = await startUpstream(passAll);
  dir = await makeRepository("upstream");
  await new LfsClient(`${server.url}/me/upstream.git`).upload(sent);
  await commit(Object.fromEntries([...sent, lacking].map((object, i) => [`${i}.bin`, object])));
});
afterAll(async () => {
  await upstream?.close();
  await server?.close();
});
afterEach(() => {
  upstream.handle = passAll;
});

const passAll = (request: IncomingMessage, response: ServerResponse): void => passOn(server.url, request, response);

/** Pushes pointer files to the upstream. */
async function commit(files: Record<string, ClientObject>): Promise<void> {
  for (const [path, object] of Object.entries(files)) writeFileSync(join(dir, path), pointerOf(object));
  await git(dir, "add", ".");
  await git(dir, "commit", "-q", "-m", "pointers");
  await git(dir, "push", "-q", "-o", "lfs=allow-missing", `${server.url}/me/upstream`, "HEAD:main");
}

let names = 0;

async function begin(json: Readonly<Record<string, unknown>>): Promise<string> {
  const name = `copy-${++names}`;
  expect((await askApi(server, "/repos", { method: "POST", json: { owner: "me", name } })).status).toBe(201);
  const wanted = { url: `${upstream.url}/me/upstream.git`, ...json };
  const { status, body } = await askApi(server, `/repos/me/${name}/import`, { method: "POST", json: wanted });
  expect([status, body]).toMatchObject([202, {}]);
  return name;
}

async function settled(name: string): Promise<Import> {
  for (let looks = 0; looks < 600; looks++) {
    const { body } = await askApi<Import>(server, `/repos/me/${name}/import`);
    if (body.state !== "running") return body;
    await sleep(50);
  }
  throw new Error(`the import of ${name} has not ended`);
}

/** Expects objects to be there, whole, and the others not. */
async function expectObjects(name: string, objects: readonly ClientObject[], missing: readonly ClientObject[]) {
  const lfs = new LfsClient(`${server.url}/me/${name}.git`);
  for (const { oid, bytes } of objects) {
    const response = await lfs.get(oid);
    expect([response.status, Buffer.from(await response.arrayBuffer()).equals(bytes)]).toEqual([200, true]);
  }
  for (const { oid } of missing) expect((await lfs.get(oid)).status).toBe(404);
  expect(await findProblems(`${server.url}/me/${name}`)).toEqual([]);
}

const sizeOf = (objects: readonly ClientObject[]): number => objects.reduce((sum, { size }) => sum + size, 0);

test("an import brings the objects that the upstream has, and says how many it lacks", async () => {
  const name = await begin({ lfs: true });
  const lfs = { objects: sent.length, bytes: sizeOf(sent), missing: 1 };
  expect(await settled(name)).toMatchObject({ state: "done", error: null, lfs });
  await expectObjects(name, sent, [lacking]);
});

test("without lfs, an import takes the pointers alone", async () => {
  const name = await begin({});
  expect(await settled(name)).toMatchObject({ state: "done", error: null, lfs: null });
  await expectObjects(name, [], [large]);
  expect((await askApi(server, `/repos/me/${name}/lfs`)).body).toMatchObject({ objects: 0, missing: sent.length + 1 });
});

test("a mirror brings what comes later, and asks for nothing where nothing has come", { tags: "sweep" }, async () => {
  const name = await begin({ lfs: true, mirror: true });
  expect(await settled(name)).toMatchObject({ state: "waiting", lfs: { objects: sent.length } });
  const batches = () => upstream.requests.filter(({ url }) => url!.endsWith("/objects/batch")).length;
  const sync = async () => {
    await askApi(server, `/repos/me/${name}/import/sync`, { method: "POST" });
    return settled(name);
  };
  const before = batches();
  await sync();
  expect(batches()).toBe(before);
  const later = objectOf(randomBytes(100_000));
  await new LfsClient(`${server.url}/me/upstream.git`).upload([later]);
  await commit({ "later.bin": later });
  sent.push(later);
  for (let tries = 0; ; tries++) {
    if ((await sync()).lfs!.objects === sent.length) break;
    expect(tries).toBeLessThan(50);
  }
  await expectObjects(name, [later, large], []);
});

/** Answers requests for objects' bytes, and passes the others on. */
function answerObjects(answer: (request: IncomingMessage, response: ServerResponse) => void): void {
  upstream.handle = (request, response) => {
    if (/\/objects\/[0-9a-f]{64}/.test(request.url!)) answer(request, response);
    else passAll(request, response);
  };
}

test("an object that is cut is asked for again, and what came before is not", { tags: "sweep" }, async () => {
  const asked: string[] = [];
  answerObjects((request, response) => {
    asked.push(request.url!.slice(-64));
    const isCut = request.url!.endsWith(large.oid) && asked.filter((oid) => oid === large.oid).length < 3;
    if (!isCut) return passAll(request, response);
    response.writeHead(200, { "Content-Length": large.size });
    response.write(large.bytes.subarray(0, 4_000_000), () => setTimeout(() => response.destroy(), 50));
  });
  const name = await begin({ lfs: true });
  expect(await settled(name)).toMatchObject({ state: "done", lfs: { missing: 1 } });
  await expectObjects(name, sent, [lacking]);
  expect(asked.filter((oid) => oid === large.oid)).toHaveLength(3);
  for (const { oid } of many) expect(asked.filter((one) => one === oid).length).toBeLessThanOrEqual(3);
});

test("bytes with another hash, or more or fewer of them, leave nothing", { tags: "sweep" }, async () => {
  const wrong = [large, many[0]!, many[1]!];
  answerObjects((request, response) => {
    const at = wrong.findIndex(({ oid }) => request.url!.endsWith(oid));
    if (at < 0) return passAll(request, response);
    const { bytes } = wrong[at]!;
    response.end([randomBytes(bytes.length), Buffer.concat([bytes, bytes]), bytes.subarray(1)][at]);
  });
  const name = await begin({ lfs: true });
  expect(await settled(name)).toMatchObject({ state: "done", lfs: { missing: 4 } });
  await expectObjects(name, [empty, ...many.slice(2, 9)], wrong);
});

/** Answers a batch with places of the test's own. */
function answerBatch(place: (oid: string) => unknown): void {
  upstream.handle = (request, response) => {
    if (!request.url!.endsWith("/objects/batch")) return passAll(request, response);
    void (async () => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      const { objects } = JSON.parse(Buffer.concat(pieces).toString()) as { objects: { oid: string }[] };
      const answered = objects.map((object) => ({ ...object, actions: { download: place(object.oid) } }));
      response.writeHead(200, { "Content-Type": LFS_TYPE }).end(JSON.stringify({ objects: answered }));
    })();
  };
}

test("objects are where the upstream says, with its headers; redirects lose them", { tags: "sweep" }, async () => {
  const seen: IncomingMessage[] = [];
  const elsewhere: Upstream = await startUpstream((request, response) => {
    seen.push(request);
    if (request.url!.startsWith("/first/"))
      return void response
        .writeHead(302, {
          Location: `${upstream.url}${request.url!.replace("/first/", "/me/upstream/info/lfs/objects/")}`,
        })
        .end();
    passOn(server.url, request, response);
  });
  try {
    answerBatch((oid) => ({ href: `${elsewhere.url}/first/${oid}?signature=1`, header: { "X-Own": "1" } }));
    const name = await begin({ lfs: true });
    expect(await settled(name)).toMatchObject({ state: "done", lfs: { objects: sent.length } });
    await expectObjects(name, [large, empty], []);
    expect(seen.length).toBeGreaterThan(0);
    for (const { headers } of seen) expect(headers).toMatchObject({ "x-own": "1" });
    const redirected = upstream.requests.filter(({ url }) => url!.endsWith("?signature=1"));
    expect(redirected.length).toBeGreaterThan(0);
    for (const { headers } of redirected) expect(headers["x-own"]).toBeUndefined();
  } finally {
    await elsewhere.close();
  }
});

const NO_ADDRESSES = ["file:///etc/passwd", "http://user:password@127.0.0.1/", "no URL"];

testSome(1, NO_ADDRESSES, "an object at %s is not asked for", async (href) => {
  answerBatch(() => ({ href }));
  const name = await begin({ lfs: true });
  expect(await settled(name)).toMatchObject({ state: "done", lfs: { objects: 0, missing: sent.length + 1 } });
});

const FAULTS: readonly (readonly [string, (response: ServerResponse) => unknown, RegExp])[] = [
  ["no batch", (response: ServerResponse) => response.writeHead(200).end("{}"), /what is no batch/],
  ["no JSON", (response: ServerResponse) => response.writeHead(200).end("<html>"), /what is no JSON/],
  ["too much", (response: ServerResponse) => response.writeHead(200).end(" ".repeat(2_000_000)), /more than \d+ bytes/],
  ["an error", (response: ServerResponse) => response.writeHead(500).end(), /answered 500/],
  ["no rights", (response: ServerResponse) => response.writeHead(403).end(), /send `authorization`/],
  ["no Git LFS", (response: ServerResponse) => response.writeHead(404).end(), /import without `lfs`/],
];

testSome(1, FAULTS, "an upstream that answers with %s fails the import with the reason", async ([, answer, error]) => {
  upstream.handle = (request, response) => {
    if (request.url!.endsWith("/objects/batch")) answer(response);
    else passAll(request, response);
  };
  const name = await begin({ lfs: true });
  expect(await settled(name)).toMatchObject({ state: "failed", error: expect.stringMatching(error) });
  expect((await askApi(server, `/repos/me/${name}/lfs`)).body).toMatchObject({ objects: 0 });
});
