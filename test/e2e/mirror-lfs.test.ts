/** Mirrors that send objects of Git LFS: to another Holdfast, to a plain LFS server, and to servers
 * that refuse, lie, hang or die. */
import { createHash, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { git, listRefs, makeRepository } from "../harness/git.ts";
import { type ClientObject, LFS_TYPE, LfsClient, objectOf, pointerOf } from "../harness/lfs.ts";
import { type Mirror, Mirrors } from "../harness/mirrors.ts";
import { type NativeServer, startNative } from "../harness/native.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { passOn, startUpstream, type Upstream } from "../harness/upstream.ts";
import { testSome } from "../harness/sweep.ts";

let server: Server;
let root: string;
let native: NativeServer;
/** What mirrors send to. */
let target: Upstream;

beforeAll(async () => {
  server = await startServer({
    vars: { ALLOW_PRIVATE_IMPORTS: "on", SECRETS_KEY: "a secret of the deployment, of which nobody knows" },
    constants: { MIRROR_RETRY_MS: 50, LFS_BATCH_OBJECTS: 4, ANSWER_WAIT_MS: 5_000, BODY_WAIT_MS: 5_000 },
  });
  root = makeTempDir("targets");
  native = await startNative(root);
  target = await startUpstream(() => undefined);
});
afterAll(async () => {
  await target?.close();
  await native?.close();
  await server?.close();
});
afterEach(() => {
  target.handle = () => undefined;
  target.requests.splice(0);
});

const small = Array.from({ length: 9 }, (_, i) => objectOf(`small ${i}`));
const large = objectOf(randomBytes(3_000_000));
const empty = objectOf("");
const lacking = objectOf("what nobody has sent");
const all = [...small, large, empty];

let names = 0;

/** A repository here with pointer files to objects, and its local copy. */
async function start(objects: readonly ClientObject[] = all, others: readonly ClientObject[] = []) {
  const name = `me/sent-${++names}`;
  const url = `${server.url}/${name}`;
  const dir = await makeRepository("source");
  const commit = async (...pointers: readonly ClientObject[]): Promise<void> => {
    for (const object of pointers) writeFileSync(join(dir, `${object.oid.slice(0, 9)}.bin`), pointerOf(object));
    await git(dir, "add", ".");
    await git(dir, "commit", "-q", "-m", "pointers");
    await git(dir, "push", "-q", "-o", "lfs=allow-missing", url, "HEAD:main");
  };
  await new LfsClient(`${url}.git`).upload(objects);
  await commit(...objects, ...others);
  return { name, url, dir, commit, mirrors: new Mirrors(server, name), lfs: new LfsClient(`${url}.git`) };
}

/** A plain LFS server beside git's own. */
class LfsStore {
  readonly objects = new Map<string, Buffer>();
  readonly batches: { operation: string; transfers: string[]; objects: { oid: string; size: number }[] }[] = [];
  readonly verified: string[] = [];
  readonly puts: IncomingMessage[] = [];
  readonly repository: string;
  readonly url: string;
  /** Says otherwise what becomes of an object that is sent. */
  judge: (oid: string, response: ServerResponse) => boolean = () => false;
  /** Says otherwise of an object what is to be done. */
  describe: (oid: string) => object | null = () => null;

  constructor() {
    this.repository = `target-${++names}.git`;
    this.url = `${target.url}/${this.repository}`;
  }

  async begin(): Promise<this> {
    await git(root, "init", "-q", "--bare", join(root, this.repository));
    target.handle = (request, response) => void this.#answer(request, response).catch(() => response.destroy());
    return this;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url!;
    if (!path.includes("/info/lfs/")) return passOn(native.url, request, response);
    const oid = path.slice(-64);
    if (request.method === "PUT") {
      this.puts.push(request);
      if (this.judge(oid, response)) return;
    }
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces);
    if (request.method === "PUT") {
      const isWhole = createHash("sha256").update(body).digest("hex") === oid;
      if (isWhole) this.objects.set(oid, body);
      return void response.writeHead(isWhole ? 200 : 422).end();
    }
    response.setHeader("Content-Type", LFS_TYPE);
    const asked = JSON.parse(body.toString()) as LfsStore["batches"][number] & { oid: string; size: number };
    if (path.endsWith("/verify")) {
      this.verified.push(asked.oid);
      return void response.writeHead(this.objects.get(asked.oid)?.length === asked.size ? 200 : 404).end("{}");
    }
    this.batches.push(asked);
    response.end(JSON.stringify({ transfer: "basic", objects: asked.objects.map((object) => this.#show(object)) }));
  }

  #show(object: { oid: string; size: number }): object {
    if (this.objects.has(object.oid)) return object;
    const upload = { href: `${this.url}/info/lfs/objects/${object.oid}`, header: { "X-Own": "1" } };
    const verify = { href: `${this.url}/info/lfs/verify` };
    return { ...object, ...(this.describe(object.oid) ?? { actions: { upload, verify } }) };
  }

  expectObjects(objects: readonly ClientObject[]): void {
    expect([...this.objects.keys()].toSorted()).toEqual(objects.map(({ oid }) => oid).toSorted());
  }
}

const sizeOf = (objects: readonly ClientObject[]): number => objects.reduce((sum, { size }) => sum + size, 0);
const sent = (objects: readonly ClientObject[], more: object = {}): object => ({
  refusedRefs: 0,
  lfs: { objects: objects.length, bytes: sizeOf(objects), missing: 0, refused: 0, refusal: null, ...more },
});

describe("objects go before the refs that need them", () => {
  test("to another Holdfast, which refuses refs whose objects it lacks", { tags: "sweep" }, async () => {
    target.handle = (request, response) => passOn(server.url, request, response);
    const { dir, commit, mirrors, lfs } = await start();
    const to = `me/received-${++names}`;
    const { id } = await mirrors.create({ url: `${target.url}/${to}`, lfs: true });
    expect(await mirrors.settled(id)).toMatchObject(sent(all));
    const later = objectOf(randomBytes(50_000));
    await lfs.upload([later]);
    await commit(later);
    expect(await mirrors.settled(id)).toMatchObject(sent([...all, later]));
    const there = new LfsClient(`${server.url}/${to}.git`);
    for (const { oid, bytes } of [...all, later])
      expect(Buffer.from(await (await there.get(oid)).arrayBuffer()).equals(bytes)).toBe(true);
    expect(await git(dir, "ls-remote", `${server.url}/${to}`, "main")).toContain(await git(dir, "rev-parse", "HEAD"));
  });

  test("to a plain LFS server: each with its length, once, and verified", async () => {
    const store = await new LfsStore().begin();
    const { commit, mirrors, lfs } = await start();
    store.objects.set(small[0]!.oid, small[0]!.bytes);
    const { id } = await mirrors.create({ url: store.url, lfs: true, authorization: "Bearer secret" });
    const wanted = all.slice(1);
    expect(await mirrors.settled(id)).toMatchObject(sent(wanted));
    store.expectObjects(all);
    expect(store.verified.toSorted()).toEqual(wanted.map(({ oid }) => oid).toSorted());
    for (const { headers, url } of store.puts) {
      const { size } = wanted.find(({ oid }) => url!.endsWith(oid))!;
      expect(headers).toMatchObject({ "content-length": `${size}`, "x-own": "1", authorization: "Bearer secret" });
      expect(headers["transfer-encoding"]).toBeUndefined();
    }
    expect(store.batches.every(({ operation, transfers }) => operation === "upload" && transfers[0] === "basic")).toBe(
      true,
    );
    const before = store.batches.length;
    const later = objectOf("later");
    await lfs.upload([later]);
    await commit(later);
    await mirrors.settled(id);
    store.expectObjects([...all, later]);
    // Only what is new is asked for.
    expect(store.batches.slice(before).flatMap(({ objects }) => objects)).toEqual([
      { oid: later.oid, size: later.size },
    ]);
    expect(await listRefs(join(root, store.repository))).toContain("refs/heads/main");
  });

  test(
    "also those of commits that the target had before, and none of refs that are not sent",
    { tags: "sweep" },
    async () => {
      const store = await new LfsStore().begin();
      const { dir, url, commit, mirrors } = await start(small);
      const { id } = await mirrors.create({ url: store.url, refs: ["refs/heads/main"] });
      expect(await mirrors.settled(id)).toMatchObject({ lfs: null });
      store.expectObjects([]);
      // A branch that is not mirrored, and whose commit the target happens to have.
      await git(dir, "push", "-q", url, "HEAD:refs/heads/before");
      await new LfsClient(`${url}.git`).upload([large]);
      await git(dir, "checkout", "-q", "-b", "other");
      writeFileSync(join(dir, "large.bin"), pointerOf(large));
      await git(dir, "add", ".");
      await git(dir, "commit", "-q", "-m", "not to be sent");
      await git(dir, "push", "-q", url, "HEAD:refs/heads/other");
      await git(dir, "push", "-q", join(root, store.repository), "HEAD:refs/heads/other");
      await git(dir, "checkout", "-q", "-");
      await mirrors.change(id, { lfs: true });
      expect(await mirrors.settled(id)).toMatchObject(sent(small));
      store.expectObjects(small);
      await commit(empty);
      expect(await mirrors.settled(id)).toMatchObject({ lfs: { missing: 1 } });
      await new LfsClient(`${url}.git`).upload([empty]);
      await mirrors.sync(id);
      expect(await mirrors.settled(id)).toMatchObject(sent([...small, empty]));
      store.expectObjects([...small, empty]);
      expect(await mirrors.change(id, { lfs: false })).toMatchObject({ lfs: null });
    },
  );

  test(
    "also where commits came before anything of Git LFS: they are looked through first",
    { tags: "sweep" },
    async () => {
      const store = await new LfsStore().begin();
      const dir = await makeRepository("before");
      await git(dir, "commit", "-q", "--allow-empty", "-m", "before");
      const name = `me/sent-${++names}`;
      await git(dir, "push", "-q", `${server.url}/${name}`, "HEAD:main");
      await new LfsClient(`${server.url}/${name}.git`).upload(small);
      for (const object of small) writeFileSync(join(dir, `${object.oid.slice(0, 9)}.bin`), pointerOf(object));
      await git(dir, "add", ".");
      await git(dir, "commit", "-q", "-m", "pointers");
      await git(dir, "push", "-q", `${server.url}/${name}`, "HEAD:main");
      const mirrors = new Mirrors(server, name);
      const { id } = await mirrors.create({ url: store.url, lfs: true });
      expect(await mirrors.settled(id)).toMatchObject(sent(small));
      store.expectObjects(small);
    },
  );

  test("what is not here does not hold up the refs, and is told", async () => {
    const store = await new LfsStore().begin();
    const { mirrors } = await start(small, [lacking]);
    const { id } = await mirrors.create({ url: store.url, lfs: true });
    expect(await mirrors.settled(id)).toMatchObject(sent(small, { missing: 1 }));
    store.expectObjects(small);
  });
});

describe("after a cut, what came is not sent again", () => {
  test("the target cuts one object off, twice", { tags: "sweep" }, async () => {
    const store = await new LfsStore().begin();
    let cuts = 0;
    store.judge = (oid, response) => {
      if (oid !== large.oid || ++cuts > 2) return false;
      setTimeout(() => response.destroy(), 20);
      return true;
    };
    const { mirrors } = await start();
    const { id } = await mirrors.create({ url: store.url, lfs: true });
    expect(await mirrors.settled(id)).toMatchObject(sent(all));
    store.expectObjects(all);
    expect(store.puts).toHaveLength(all.length + 2);
  });

  test("this server dies, twice", { tags: "sweep", timeout: 120_000 }, async () => {
    const store = await new LfsStore().begin();
    let kills = 0;
    let died = null as Promise<void> | null;
    store.judge = (oid) => {
      // While the object is on its way. What a dying server had sent still comes.
      if (store.objects.size < 3 * (kills + 1) || kills === 2 || died !== null || store.objects.has(oid)) return false;
      kills += 1;
      died = server.kill();
      return true;
    };
    const { mirrors } = await start();
    const { id } = await mirrors.create({ url: store.url, lfs: true });
    let found: Mirror | null = null;
    while (found?.state !== "synced") {
      found = await mirrors.read(id).catch(() => null);
      if (died !== null) {
        await died;
        await server.restart();
        [died, found] = [null, null];
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(kills).toBe(2);
    store.expectObjects(all);
    // Of a kill, what was on its way.
    expect(store.puts.length).toBeLessThan(all.length + 2 * 8);
    expect(found).toMatchObject({ refusedRefs: 0, lfs: { missing: 0, refused: 0 } });
  });
});

test("what the target refuses is tried again, then told, and the refs go on", { tags: "sweep" }, async () => {
  const store = await new LfsStore().begin();
  const refused = [small[1]!, small[2]!, small[3]!, small[4]!];
  store.judge = (oid, response) => {
    if (oid === refused[0]!.oid) return (response.writeHead(413).end(), true);
    if (oid === refused[1]!.oid) return (response.writeHead(507).end(), true);
    // It says so, and does not have it.
    if (oid === refused[2]!.oid) return (response.writeHead(200).end(), true);
    return false;
  };
  store.describe = (oid) =>
    oid === refused[3]!.oid ? { error: { code: 422, message: "too \u{1f40b}\nlarge" } } : null;
  const { mirrors } = await start();
  const { id } = await mirrors.create({ url: store.url, lfs: true });
  const failing = await mirrors.settled(id, "failing");
  expect(failing.error).toMatch(/the target does not take \d of them, such as [0-9a-f]{64}: /);
  const told = await mirrors.settled(id);
  const others = all.filter((object) => !refused.includes(object));
  expect(told).toMatchObject({ lfs: { objects: others.length, refused: 4, missing: 0 }, refusedRefs: 0 });
  expect(told.lfs!.refusal).toMatch(/answered 413|answered 507|does not have it: it answered 404|too \u{1f40b} large/u);
  store.expectObjects(others);
  // It takes them now.
  [store.judge, store.describe] = [() => false, () => null];
  await mirrors.sync(id);
  expect(await mirrors.settled(id)).toMatchObject(sent(all));
  store.expectObjects(all);
});

describe("a target that does wrong", () => {
  const LIES: readonly (readonly [string, (oid: string) => object, RegExp])[] = [
    ["a file", () => ({ actions: { upload: { href: "file:///etc/passwd" } } }), /only https: and http:/],
    ["a password", () => ({ actions: { upload: { href: "http://user:word@127.0.0.1/" } } }), /a user or password/],
    ["no URL", () => ({ actions: { upload: { href: "elsewhere" } } }), /is not a URL/],
  ];
  testSome(1, LIES, "an object that is wanted at %s stays here", async ([, describeIt, reason]) => {
    const store = await new LfsStore().begin();
    store.describe = describeIt;
    const { mirrors } = await start(small.slice(0, 2));
    const { id } = await mirrors.create({ url: store.url, lfs: true });
    expect((await mirrors.settled(id, "failing")).error).toMatch(reason);
    expect(await mirrors.settled(id)).toMatchObject({ lfs: { objects: 0, refused: 2 } });
  });

  const FAULTS: [string, (response: ServerResponse) => unknown, RegExp][] = [
    ["no batch", (response) => response.writeHead(200).end("{}"), /what is no batch/],
    ["no JSON", (response) => response.writeHead(200).end("<html>"), /what is no JSON/],
    ["too much", (response) => response.writeHead(200).end(" ".repeat(2_000_000)), /more than \d+ bytes/],
    ["an error", (response) => response.writeHead(500).end(), /answered 500/],
    ["no rights", (response) => response.writeHead(403).end(), /send `authorization`/],
    ["no Git LFS", (response) => response.writeHead(404).end(), /mirror without `lfs`/],
    ["nothing", () => undefined, /did not answer in/],
    ["half of it", (response) => response.writeHead(200).write("{"), /what is no JSON/],
  ];

  // The last ones take as long as the server waits.
  testSome(2, FAULTS, "one that answers a batch with %s gets no refs, and is told why", async ([, answer, error]) => {
    const store = await new LfsStore().begin();
    const handle = target.handle;
    target.handle = (request, response) => {
      if (request.url!.endsWith("/objects/batch")) answer(response);
      else handle(request, response);
    };
    const { mirrors } = await start(small.slice(0, 2));
    const { id } = await mirrors.create({ url: store.url, lfs: true });
    expect((await mirrors.settled(id, "failing")).error).toMatch(error);
    expect(await listRefs(join(root, store.repository))).toBe("");
    await mirrors.delete(id);
  });

  const ENDS: [string, (response: ServerResponse) => unknown, RegExp][] = [
    ["fails", (response) => response.writeHead(503).end(), /answered 503 for an object/],
    ["redirects", (response) => response.writeHead(302, { Location: "http://127.0.0.1:1/" }).end(), /answered 302/],
    ["hangs", () => undefined, /did not answer in/],
  ];

  testSome(
    1,
    ENDS,
    "one that %s for an object gets no refs, and goes on when it is well",
    async ([, answer, error]) => {
      const store = await new LfsStore().begin();
      store.judge = (oid, response) => oid === small[1]!.oid && (answer(response), true);
      const { mirrors } = await start(small.slice(0, 3));
      const { id } = await mirrors.create({ url: store.url, lfs: true });
      expect((await mirrors.settled(id, "failing")).error).toMatch(error);
      expect(await listRefs(join(root, store.repository))).toBe("");
      store.judge = () => false;
      expect(await mirrors.settled(id)).toMatchObject(sent(small.slice(0, 3)));
    },
  );

  test("the credential and what objects need stay where they belong", async () => {
    const store = await new LfsStore().begin();
    const seen: IncomingMessage[] = [];
    const elsewhere = await startUpstream((request, response) => {
      seen.push(request);
      request.resume();
      request.on("end", () => response.end());
    });
    try {
      store.describe = (oid) => ({
        actions: {
          upload: {
            href: `${elsewhere.url}/put/${oid}?signature=1`,
            header: { "X-Own": "1", Host: "other", "Content-Length": "1" },
          },
        },
      });
      const { mirrors } = await start(small.slice(0, 2));
      const { id } = await mirrors.create({ url: store.url, lfs: true, authorization: "Bearer secret" });
      expect(await mirrors.settled(id)).toMatchObject(sent(small.slice(0, 2)));
      expect(seen).toHaveLength(2);
      for (const { method, headers } of seen) {
        expect([method, headers["x-own"], headers.authorization]).toEqual(["PUT", "1", undefined]);
        expect([headers.host, headers["content-length"]]).toEqual([new URL(elsewhere.url).host, `${small[0]!.size}`]);
      }
    } finally {
      await elsewhere.close();
    }
  });
});
