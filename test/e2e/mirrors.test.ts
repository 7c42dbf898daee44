/** Mirrors: what is pushed here goes on to git's own server, and to another Holdfast. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { changeRefs } from "../harness/change-refs.ts";
import { git, listRefs, tryGit } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { Mirrors } from "../harness/mirrors.ts";
import { type NativeServer, startNative } from "../harness/native.ts";
import { Random } from "../harness/random.ts";
import { type Server, startServer } from "../harness/server.ts";
import { ADMIN_TOKEN, shareServer, WITH_TOKENS } from "../harness/shared-server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { passOn, startUpstream, type Upstream } from "../harness/upstream.ts";
import { testSome } from "../harness/sweep.ts";

let server: Server;
let root: string;
let native: NativeServer;
/** Passes on to `native` what a test lets it. */
let front: Upstream;
let history: string;

beforeAll(async () => {
  server = await startServer({
    vars: { ALLOW_PRIVATE_IMPORTS: "on", SECRETS_KEY: "a secret of the deployment, of which nobody knows" },
    constants: { MIRROR_RETRY_MS: 100, MIN_REFUSED_BYTES: 4_000 },
  });
  root = makeTempDir("targets");
  native = await startNative(root);
  front = await startUpstream(passAll);
  history = await makeHistory({ commits: 120, files: 20, branches: 6, merges: 3, tags: 6 });
});
afterAll(async () => {
  await front.close();
  await native.close();
  await server.close();
});

const passAll: Upstream["handle"] = (request, response) => passOn(native.url, request, response);

/** Passes on, but says in place of capabilities what nobody knows. */
function withoutCapabilities(...words: string[]): Upstream["handle"] {
  return (request, response) => {
    if (request.method !== "GET") return passAll(request, response);
    return passOn(native.url, request, response, {}, (answer) => {
      const pieces: Buffer[] = [];
      answer.on("data", (piece: Buffer) => pieces.push(piece));
      answer.on("end", () => {
        const text = Buffer.concat(pieces).toString("latin1");
        const changed = words.reduce((all, word) => all.replace(` ${word}`, ` ${"x".repeat(word.length)}`), text);
        response.writeHead(200, { "content-type": answer.headers["content-type"]! }).end(changed, "latin1");
      });
    });
  };
}

let names = 0;

/** A repository with its first push, a local copy of it, and an empty target at git's own
 * server. */
async function start() {
  const name = `me/mirrored-${++names}`;
  const source = join(makeTempDir("source"), "source.git");
  await git(root, "clone", "-q", "--mirror", history, source);
  const push = (...refspecs: string[]) =>
    git(source, "push", "-q", `${server.url}/${name}`, ...(refspecs.length === 0 ? ["--mirror"] : refspecs));
  await push();
  const dir = join(root, `target-${names}.git`);
  await git(root, "init", "-q", "--bare", dir);
  return { name, source, push, dir, url: `${native.url}/target-${names}.git`, mirrors: new Mirrors(server, name) };
}

/** Expects a target to be like a local repository, and whole. */
async function expectSame(target: string, source: string): Promise<void> {
  expect(await listRefs(target)).toBe(await listRefs(source));
  await git(target, "fsck", "--full", "--strict", "--connectivity-only");
}

describe("what is pushed here goes on", () => {
  async function expectFollowed(count: number): Promise<void> {
    const { source, push, dir, url, mirrors } = await start();
    const { id } = await mirrors.create({ url, force: true, prune: true });
    await mirrors.settled(id);
    await expectSame(dir, source);
    const random = new Random(18);
    for (let changes = 0; changes < count;) {
      for (const end = changes + 1 + random.below(8); changes < end; changes++)
        await changeRefs(source, random, `${changes}`);
      await push();
      await mirrors.settled(id);
      expect(await listRefs(dir), `after ${changes} changes`).toBe(await listRefs(source));
    }
    await expectSame(dir, source);
    expect((await mirrors.refs(id)).every(({ state }) => state === "synced")).toBe(true);
  }

  test("24 random changes are followed exactly: refs that are new, forced, renamed and gone", { tags: "sweep" }, () =>
    expectFollowed(24),
  );
  test("so are 120", { tags: "sweep" }, () => expectFollowed(120));

  test("to another Holdfast, which wants a token", { tags: "sweep" }, async () => {
    const authorization = `Basic ${btoa(`any:${ADMIN_TOKEN}`)}`;
    const other = await shareServer("targeted", WITH_TOKENS);
    const { source, mirrors } = await start();
    const url = `${other.url}/targeted/engine`;
    const { id } = await mirrors.create({ url, authorization: "Bearer no-such-token" });
    const failing = await mirrors.settled(id, "failing");
    expect(failing.error).toContain("a valid credential for the target is needed: it answered 401");
    const changed = await mirrors.change(id, { authorization });
    expect(changed).toMatchObject({ hasAuthorization: true, error: null });
    expect(JSON.stringify(changed)).not.toContain(authorization.slice(6));
    expect(await mirrors.settled(id)).toMatchObject({ pushes: 1, refusedRefs: 0 });
    const clone = join(makeTempDir("clone"), "copy.git");
    const header = `http.extraHeader=Authorization: ${authorization}`;
    await git(root, "-c", header, "clone", "-q", "--mirror", url, clone);
    await expectSame(clone, source);
    // Another address gets none of the credential.
    expect(await mirrors.change(id, { url: `${other.url}/targeted/other` })).toMatchObject({ hasAuthorization: false });
  });

  test("a pack of several megabytes, as it is read", { tags: "sweep" }, async () => {
    const { source, push, dir, url, mirrors } = await start();
    const { id } = await mirrors.create({ url });
    await mirrors.settled(id);
    const { stdout: blob } = await tryGit(source, ["hash-object", "-w", "--stdin"], {
      stdin: new Random(2).bytes(5_000_000),
    });
    const { stdout: tree } = await tryGit(source, ["mktree"], { stdin: `100644 blob ${blob.trim()}\tlarge\n` });
    await git(
      source,
      "update-ref",
      "refs/heads/main",
      await git(source, "commit-tree", "-m", "a", "-p", "main", tree.trim()),
    );
    await push();
    expect(await mirrors.settled(id)).toMatchObject({ pushes: 2, refusedRefs: 0 });
    await expectSame(dir, source);
  });

  const TARGETS: readonly (readonly [string, Upstream["handle"]])[] = [
    [
      "version 1 of the protocol",
      (request, response) => passOn(native.url, request, response, { "git-protocol": "version=1" }),
    ],
    ["no side-bands and no distances in deltas", withoutCapabilities("side-band-64k", "ofs-delta")],
  ];

  testSome(1, TARGETS, "to a server of %s", async ([, handle]) => {
    const { source, push, dir, mirrors } = await start();
    front.handle = handle;
    const { id } = await mirrors.create({ url: `${front.url}/${dir.split("/").at(-1)}`, force: true });
    await mirrors.settled(id);
    await git(source, "update-ref", "refs/heads/main", "main~5");
    await push();
    expect(await mirrors.settled(id)).toMatchObject({ pushes: 2, refusedRefs: 0 });
    await expectSame(dir, source);
    front.handle = passAll;
  });

  test("only the chosen refs, of commits that the server makes, too", async () => {
    const { name, dir, url, mirrors } = await start();
    const { id } = await mirrors.create({ url, refs: ["refs/heads/main", "refs/tags/v1"] });
    expect(await mirrors.settled(id)).toMatchObject({ mirroredRefs: 2 });
    const list = () => git(dir, "for-each-ref", "--format=%(refname)");
    expect(await list()).toBe("refs/heads/main\nrefs/tags/v1");
    await askApi(server, `/repos/${name}/branches`, { method: "POST", json: { name: "other", startPoint: "main" } });
    const { pushes } = await mirrors.read(id);
    const commit = { method: "POST", json: newCommit("b") };
    expect((await askApi(server, `/repos/${name}/commits`, commit)).status).toBe(201);
    expect(await mirrors.settled(id)).toMatchObject({ pushes: pushes + 1 });
    expect(await git(dir, "log", "-1", "--format=%s", "main")).toBe("Made here");
    const tip = await git(dir, "rev-parse", "main");
    await mirrors.delete(id);
    await askApi(server, `/repos/${name}/commits`, { method: "POST", json: newCommit("c") });
    await sleep(200);
    expect(await git(dir, "rev-parse", "main")).toBe(tip);
    expect(await list()).toBe("refs/heads/main\nrefs/tags/v1");
  });
});

describe("nothing there is lost", () => {
  test("a branch with other commits, a moved tag and an unknown ref stay, and the rest goes on", async () => {
    const { source, push, dir, url, mirrors } = await start();
    const { id } = await mirrors.create({ url });
    await mirrors.settled(id);
    const theirs = await git(dir, "commit-tree", "-m", "theirs", "-p", "side-4", "side-4^{tree}");
    await git(dir, "update-ref", "refs/heads/side-4", theirs);
    await git(dir, "update-ref", "refs/heads/only-theirs", theirs);
    await git(source, "update-ref", "refs/heads/side-5", "side-5~1");
    await git(source, "tag", "-f", "v0", "main");
    await git(source, "update-ref", "-d", "refs/heads/side-0");
    await git(source, "branch", "fresh", "main~2");
    await push();
    expect(await mirrors.settled(id)).toMatchObject({ refusedRefs: 3, extraRefs: 2, error: null });
    const refused = await mirrors.refs(id, "refused", 1);
    expect(refused.map(({ name, state, refusal }) => [name, state, refusal])).toEqual([
      ["refs/heads/side-4", "refused", expect.stringContaining("commits that are not here")],
      ["refs/heads/side-5", "refused", expect.stringContaining("no fast-forward")],
      ["refs/tags/v0", "refused", expect.stringContaining("only with `force`")],
    ]);
    expect(refused[0]).toMatchObject({ here: await git(source, "rev-parse", "side-4"), there: theirs });
    expect(await git(dir, "rev-parse", "side-4", "only-theirs")).toBe(`${theirs}\n${theirs}`);
    expect(await git(dir, "rev-parse", "fresh", "side-0")).toBe(await git(history, "rev-parse", "main~2", "side-0"));
    // Told to, it does.
    await mirrors.change(id, { force: true, prune: true });
    expect(await mirrors.settled(id)).toMatchObject({ refusedRefs: 0, extraRefs: 0 });
    await expectSame(dir, source);
    expect(await mirrors.refs(id, "refused")).toEqual([]);
  });

  test("what the target itself refuses is told", async () => {
    const { source, push, dir, url, mirrors } = await start();
    await git(dir, "config", "receive.denyNonFastForwards", "true");
    await git(dir, "config", "receive.denyDeletes", "true");
    const { id } = await mirrors.create({ url, force: true, prune: true });
    await mirrors.settled(id);
    await git(source, "update-ref", "refs/heads/main", "main~3");
    await git(source, "update-ref", "-d", "refs/heads/side-0");
    await push();
    expect(await mirrors.settled(id)).toMatchObject({ refusedRefs: 2, error: null });
    const told = await mirrors.refs(id, "refused");
    expect(told.map(({ name, refusal }) => [name, refusal])).toEqual([
      ["refs/heads/main", expect.stringMatching(/^non-fast-forward \(it said: .*denying non-fast-forward refs/)],
      ["refs/heads/side-0", expect.stringContaining("deletion prohibited")],
    ]);
    await git(dir, "config", "receive.denyNonFastForwards", "false");
    await git(dir, "config", "receive.denyDeletes", "false");
    await mirrors.sync(id);
    await mirrors.settled(id);
    await expectSame(dir, source);
  });
});

describe("a history that is too much at once", () => {
  test("is sent in steps of the size that was chosen", { tags: "sweep" }, async () => {
    const { source, dir, url, mirrors } = await start();
    const { id } = await mirrors.create({ url, maxPackBytes: 10_000 });
    const { pushes, objects } = await mirrors.settled(id);
    expect(pushes).toBeGreaterThan(8);
    expect(objects).toBe((await git(source, "rev-list", "--objects", "--all")).split("\n").length);
    await expectSame(dir, source);
  });

  test("is sent in smaller steps after the target's 413", { tags: "sweep" }, async () => {
    const { source, dir, mirrors } = await start();
    front.handle = (request, response) => {
      if (request.method === "GET") return passAll(request, response);
      const pieces: Buffer[] = [];
      request.on("data", (piece: Buffer) => pieces.push(piece));
      request.on("end", () => {
        const body = Buffer.concat(pieces);
        if (body.length > 30_000) return void response.writeHead(413).end("too much");
        const headers = { "content-type": request.headers["content-type"]! };
        void fetch(`${native.url}${request.url}`, { method: "POST", headers, body }).then(async (answer) => {
          response.writeHead(answer.status, { "content-type": answer.headers.get("content-type")! });
          response.end(await answer.bytes());
        });
      });
    };
    const { id } = await mirrors.create({ url: `${front.url}/${dir.split("/").at(-1)}` });
    const { pushes, maxPackBytes } = await mirrors.settled(id);
    expect(pushes).toBeGreaterThan(3);
    expect(maxPackBytes).toBeLessThan(30_000);
    await expectSame(dir, source);
    front.handle = passAll;
  });

  test(
    "a single object that the target does not take is told for the ref that needs it",
    { tags: "sweep" },
    async () => {
      const { source, push, dir, url, mirrors } = await start();
      await git(dir, "config", "receive.maxInputSize", "60000");
      const { id } = await mirrors.create({ url });
      await mirrors.settled(id);
      await expectSame(dir, source);
      const { stdout: blob } = await tryGit(source, ["hash-object", "-w", "--stdin"], {
        stdin: new Random(1).bytes(70_000),
      });
      const { stdout: tree } = await tryGit(source, ["mktree"], { stdin: `100644 blob ${blob.trim()}\tlarge\n` });
      const large = await git(source, "commit-tree", "-m", "large", "-p", "main", tree.trim());
      await git(source, "update-ref", "refs/heads/large", large);
      await git(source, "update-ref", "refs/heads/small", "main~1");
      await push();
      expect(await mirrors.settled(id)).toMatchObject({ refusedRefs: 1, error: null });
      const [refused] = await mirrors.refs(id, "refused");
      expect(refused).toMatchObject({ name: "refs/heads/large", there: null });
      expect(refused!.refusal).toMatch(/did not take its objects: .*pack exceeds maximum allowed size/);
      expect(await git(dir, "rev-parse", "small")).toBe(await git(source, "rev-parse", "main~1"));
      // It is not sent again with each push.
      await mirrors.sync(id);
      await mirrors.settled(id);
      expect((await mirrors.refs(id, "refused"))[0]!.refusal).toContain("too much for `maxPackBytes`");
    },
  );
});

describe("a mirror that is interrupted", () => {
  test("goes on when its target is back", { tags: "sweep" }, async () => {
    const { source, push, dir, mirrors } = await start();
    front.handle = (request) => void request.destroy();
    const { id } = await mirrors.create({ url: `${front.url}/${dir.split("/").at(-1)}` });
    expect(await mirrors.settled(id, "failing")).toMatchObject({ error: expect.stringContaining("cannot be reached") });
    for (let found = await mirrors.read(id); found.failures < 3; found = await mirrors.read(id)) await sleep(20);
    // What is pushed meanwhile does not make it try more often.
    const asked = front.requests.length;
    for (let i = 0; i < 5; i++) {
      await git(source, "branch", `more-${i}`, "main");
      await push();
    }
    expect(front.requests.length).toBeLessThan(asked + 3);
    front.handle = passAll;
    expect(await mirrors.settled(id)).toMatchObject({ failures: 0, error: null });
    await expectSame(dir, source);
  });

  test("goes on after the server is killed, at any step", { tags: "sweep" }, async () => {
    const { source, push, dir, mirrors } = await start();
    front.handle = (request, response) => void setTimeout(() => passAll(request, response), 60);
    const { id } = await mirrors.create({ url: `${front.url}/${dir.split("/").at(-1)}`, maxPackBytes: 10_000 });
    for (const wanted of [0, 4]) {
      for (let found = await mirrors.read(id); found.pushes < wanted; found = await mirrors.read(id)) await sleep(5);
      await sleep(30);
      await server.kill();
      await server.restart();
    }
    await git(source, "branch", "later", "main");
    await push();
    await mirrors.settled(id);
    await expectSame(dir, source);
    front.handle = passAll;
  });
});

describe("what is not allowed", () => {
  test("addresses, settings and more mirrors than a repository may have", async () => {
    const { name, mirrors } = await start();
    await expect(mirrors.create({ url: "ssh://git@example.com/a.git" })).rejects.toThrow(/422.*only https: and http:/);
    await expect(mirrors.create({ url: "https://a:b@example.com/a.git" })).rejects.toThrow(/422.*user or password/);
    await expect(mirrors.create({ url: native.url, refs: ["heads/"] })).rejects.toThrow(/422/);
    await expect(mirrors.read("none")).rejects.toThrow(/404/);
    for (let i = 0; i < 10; i++) await mirrors.create({ url: `${native.url}/none-${i}.git` });
    await expect(mirrors.create({ url: native.url })).rejects.toThrow(/409.*there are 10; delete one first/);
    expect((await askApi(server, `/repos/${name}`, { method: "DELETE" })).status).toBe(204);
  });

  test("private addresses, where imports may not ask them either", { tags: "sweep" }, async () => {
    const strict = await shareServer("strict");
    await git(history, "push", "-q", `${strict.url}/strict/repo`, "main");
    const mirrors = new Mirrors(strict, "strict/repo");
    await expect(mirrors.create({ url: native.url })).rejects.toThrow(/422.*no public address/);
    const authorization = "Bearer a";
    await expect(mirrors.create({ url: "https://example.com/a.git", authorization })).rejects.toThrow(/SECRETS_KEY/);
  });
});

const newCommit = (content: string) => ({
  branch: "main",
  message: "Made here",
  author: { name: "A", email: "a@example.com" },
  operations: [{ op: "put", path: "a", content }],
});
