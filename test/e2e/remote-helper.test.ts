/** `git push holdfast::…`: stock git with the remote helper, against the real Worker. */
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { findProblems } from "../harness/find-problems.ts";
import { type FrontProxy, startFrontProxy } from "../harness/front-proxy.ts";
import { git, listRefs, makeRepository, tryGit } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { type HelperConfig, tryHelper } from "../harness/remote-helper.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

const BODY_BYTES = 200_000;
const MAX_FILE_BYTES = 1_000_000;

/** Everything goes in steps, of some ten commits each. */
const IN_STEPS: HelperConfig = { plainObjects: 1, stepObjects: 100, partBytes: 8_000 };

let server: Server;
let history: string;

beforeAll(async () => {
  server = await startServer({
    vars: {
      LIMITS: JSON.stringify({ maxPackObjects: 400, maxPartBytes: 150_000, maxObjectSizeBytes: MAX_FILE_BYTES }),
    },
  });
  history = await makeHistory({ commits: 120, files: 30, branches: 6, merges: 3, tags: 6, upheavals: 8 });
  const blob = (await git(history, "ls-tree", "-r", "main")).split(/\s/)[2]!;
  await git(history, "tag", "-a", "-m", "a blob", "of-blob", blob);
});
afterAll(() => server.close());

let proxy: FrontProxy;
beforeEach(async () => {
  proxy = await startFrontProxy(server.url, BODY_BYTES);
});
afterEach(() => proxy.close());

let names = 0;

/** A repository's name that nobody has used, and the remote for it. */
function newRemote(): { name: string; url: string; remote: string } {
  const name = `me/pushed-${++names}`;
  return { name, url: `${server.url}/${name}`, remote: `holdfast::${proxy.url}/${name}` };
}

/** Expects the server to have exactly the refs and objects of a repository. */
async function expectSame(url: string, dir: string, ...refs: string[]): Promise<void> {
  const clone = join(makeTempDir("clone"), "copy.git");
  await git(clone.slice(0, -"/copy.git".length), "clone", "-q", "--mirror", url, clone);
  await git(clone, "fsck", "--full", "--strict");
  if (refs.length === 0) expect(await listRefs(clone)).toBe(await listRefs(dir));
  const list = async (repository: string): Promise<string[]> => {
    const objects = await git(
      repository,
      "rev-list",
      "--objects",
      "--no-object-names",
      ...(refs.length > 0 ? refs : ["--all"]),
    );
    return objects.split("\n").sort();
  };
  expect(await list(clone)).toEqual(await list(dir));
  expect(await findProblems(url)).toEqual([]);
}

const stepsOf = ({ requests }: FrontProxy): number => requests.filter(({ path }) => path.endsWith("/steps")).length;

test("a history in steps arrives whole, and its refs move at once", { tags: "sweep" }, async () => {
  const { url, remote } = newRemote();
  const seen: string[] = [];
  proxy.cutAt = ({ path }) => {
    if (path.endsWith("/steps")) seen.push(path);
    return false;
  };
  const { code, stderr } = await tryHelper(history, ["push", "--mirror", "--progress", remote], IN_STEPS);
  expect(stderr).toMatch(/Sending objects: 100% \((\d+)\/\1\), .*done\./);
  expect(code, stderr).toBe(0);
  expect(stepsOf(proxy)).toBeGreaterThan(4);
  expect(proxy.requests.filter(({ path }) => path.endsWith("/complete"))).toHaveLength(1);
  await expectSame(url, history);
  expect(existsSync(join(history, "holdfast"))).toBe(true);
  expect(readdirSync(join(history, "holdfast"))).toEqual([]);
  const { stderr: again } = await tryHelper(history, ["push", "--mirror", remote], IN_STEPS);
  expect(again).toContain("Everything up-to-date");
});

test("a small push, a clone and a fetch are plain requests", async () => {
  const { remote } = newRemote();
  const small = await makeRepository("small");
  await git(small, "commit", "-q", "--allow-empty", "-m", "first");
  const { code, stderr } = await tryHelper(small, ["push", remote, "main"]);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain("remote: Created");
  expect(proxy.requests.some(({ path }) => path.startsWith("/api/"))).toBe(false);
  const dir = makeTempDir("clone");
  expect((await tryHelper(dir, ["clone", "-q", "--depth=1", remote, "copy"])).code).toBe(0);
  await git(small, "commit", "-q", "--allow-empty", "-m", "second");
  expect((await tryHelper(small, ["push", "-q", remote, "main"])).code).toBe(0);
  expect((await tryHelper(join(dir, "copy"), ["pull", "-q"])).code).toBe(0);
  expect(await git(join(dir, "copy"), "rev-parse", "HEAD")).toBe(await git(small, "rev-parse", "main"));
});

/** Starts a push and kills it once the server has so many steps.
 * @returns the bytes of parts that were sent */
async function pushAndKill(remote: string, steps: number): Promise<number> {
  const abort = new AbortController();
  proxy.cutAt = () => {
    if (stepsOf(proxy) > steps) abort.abort(new Error("killed"));
    return false;
  };
  const push = tryHelper(history, ["push", "--mirror", remote], IN_STEPS, { signal: abort.signal });
  await expect(push).rejects.toThrow("killed");
  proxy.cutAt = () => false;
  return partBytes();
}

const partBytes = (): number =>
  proxy.requests.filter(({ path }) => path.includes("/parts/")).reduce((sum, { sentBytes }) => sum + sentBytes, 0);

test(
  "a push that is killed goes on where it was, and sends nothing twice that had arrived",
  { tags: "sweep" },
  async () => {
    const whole = newRemote();
    expect((await tryHelper(history, ["push", "--mirror", whole.remote], IN_STEPS)).code).toBe(0);
    const wholeBytes = partBytes();
    for (const steps of [1, 3]) {
      await proxy.close();
      proxy = await startFrontProxy(server.url, BODY_BYTES);
      const { url, remote } = newRemote();
      const before = await pushAndKill(remote, steps);
      expect(before).toBeGreaterThan(0);
      const { code, stderr } = await tryHelper(history, ["push", "--mirror", remote], IN_STEPS);
      expect(code, stderr).toBe(0);
      expect(stderr).toMatch(/Going on with an upload: \d+ objects are there/);
      // What was under way when it was killed: four parts, and a step that is packed anew.
      expect(partBytes()).toBeLessThan(wholeBytes + 5 * IN_STEPS.partBytes! + wholeBytes / 5);
      await expectSame(url, history);
    }
  },
);

test("a session that has ended meanwhile is replaced by another", { tags: "sweep" }, async () => {
  const { name, url, remote } = newRemote();
  await pushAndKill(remote, 1);
  const { path } = proxy.requests.find((request) => request.path.includes("/parts/"))!;
  const [, id] = /uploads\/([^/]+)/.exec(path)!;
  expect((await askApi(server, `/repos/${name}/uploads/${id}`, { method: "DELETE" })).status).toBe(204);
  const { code, stderr } = await tryHelper(history, ["push", "--mirror", remote], IN_STEPS);
  expect(code, stderr).toBe(0);
  expect(stderr).not.toContain("Going on");
  await expectSame(url, history);
});

test("a push beyond the quota ends at once, and goes on when there is room", { tags: "sweep" }, async () => {
  const { name, url, remote } = newRemote();
  const dir = await makeRepository("fat");
  for (const file of ["a", "b"]) {
    writeFileSync(join(dir, file), randomBytes(4 * BODY_BYTES));
    await git(dir, "add", ".");
    await git(dir, "commit", "-q", "-m", file);
  }
  const [owner, repository] = name.split("/");
  expect((await askApi(server, "/repos", { method: "POST", json: { owner, name: repository } })).status).toBe(201);
  const setQuota = async (maxBytes: number): Promise<void> => {
    expect((await askApi(server, `/repos/${name}/quota`, { method: "PUT", json: { maxBytes } })).status).toBe(200);
  };
  await setQuota(6 * BODY_BYTES);
  const config = { plainBytes: 1_000, stepBytes: 5 * BODY_BYTES };
  const startMs = Date.now();
  const refused = await tryHelper(dir, ["push", remote, "main"], config);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("that is the quota")]);
  expect(Date.now() - startMs).toBeLessThan(30_000);
  const sentBytes = partBytes();
  await setQuota(20 * BODY_BYTES);
  const { code, stderr } = await tryHelper(dir, ["push", remote, "main"], config);
  expect(code, stderr).toBe(0);
  expect(partBytes() - sentBytes).toBeLessThan(5 * BODY_BYTES);
  await expectSame(url, dir, "main");
});

test("connections that are cut at any place are taken up again", { tags: "sweep" }, async () => {
  const { url, remote } = newRemote();
  let pieces = 0;
  proxy.cutAt = ({ path }) => path.includes("/uploads") && ++pieces % 5 === 0;
  const { code, stderr } = await tryHelper(history, ["push", "--mirror", remote], IN_STEPS);
  expect(code, stderr).toBe(0);
  expect(pieces).toBeGreaterThan(20);
  await expectSame(url, history);
});

test("the parts of a pack grow, so that the server can keep all of them", { tags: "sweep" }, async () => {
  const { url, remote } = newRemote();
  const dir = await makeRepository("parts");
  writeFileSync(join(dir, "noise"), randomBytes(900_000));
  await git(dir, "add", ".");
  await git(dir, "commit", "-q", "-m", "noise");
  const { code, stderr } = await tryHelper(dir, ["push", remote, "main"], { plainObjects: 1, partBytes: 800 });
  expect(code, stderr).toBe(0);
  const parts = new Set(proxy.requests.filter(({ path }) => path.includes("/parts/")).map(({ path }) => path));
  // Of 800 bytes they would be 1,126, and the server keeps 1,000: 200 of 800, 200 of 1,600, the
  // rest of 3,200.
  expect(parts.size).toBe(400 + Math.ceil((900_000 - 200 * 2_400) / 3_200));
  await expectSame(url, dir, "main");
});

test("a file above the platform's limit: a plain push fails with 413, the helper sends it in parts", async () => {
  const { url, remote } = newRemote();
  const dir = await makeRepository("fat");
  writeFileSync(join(dir, "noise"), randomBytes(3 * BODY_BYTES));
  await git(dir, "add", ".");
  await git(dir, "commit", "-q", "-m", "a large file");
  const plain = await tryGit(dir, ["push", remote.slice("holdfast::".length), "main"]);
  expect(plain.stderr).toContain("HTTP 413");
  const { code, stderr } = await tryHelper(dir, ["push", remote, "main"], { plainBytes: BODY_BYTES / 2 });
  expect(code, stderr).toBe(0);
  expect(proxy.requests.filter(({ path }) => path.includes("/parts/"))).toHaveLength(5);
  await expectSame(url, dir, "main");
});

test("a file that no server takes is named once, with the way out", { tags: "sweep" }, async () => {
  const { url, remote } = newRemote();
  const dir = await makeRepository("huge");
  writeFileSync(join(dir, "huge.bin"), randomBytes(MAX_FILE_BYTES + 5));
  await git(dir, "add", ".");
  await git(dir, "commit", "-q", "-m", "a huge file");
  const { code, stderr } = await tryHelper(dir, ["push", remote, "main"], { plainBytes: 1_000 });
  expect(code).not.toBe(0);
  expect(stderr).toContain(`exceeds the limit of ${MAX_FILE_BYTES} (it is ${MAX_FILE_BYTES + 5})`);
  expect(stderr).toContain("finds it; move it to Git LFS (git lfs migrate import)");
  expect(stepsOf(proxy)).toBe(1);
  expect(partBytes()).toBeLessThan(1.1 * MAX_FILE_BYTES);
  expect(await git(dir, "ls-remote", url)).toBe("");
  // Without it, the same push goes through.
  await git(dir, "rm", "-q", "huge.bin");
  await git(dir, "commit", "-q", "--amend", "--allow-empty", "-m", "no file");
  const again = await tryHelper(dir, ["push", remote, "main"], IN_STEPS);
  expect(again.code, again.stderr).toBe(0);
  await expectSame(url, dir, "main");
});

test("steps that the server refuses as too large become smaller", { tags: "sweep" }, async () => {
  const { url, remote } = newRemote();
  const strict = await startServer({ vars: { LIMITS: JSON.stringify({ maxPackReferences: 3_000 }) } });
  try {
    const { code, stderr } = await tryHelper(
      history,
      ["push", "--mirror", `${remote.replace(proxy.url, strict.url)}`],
      { plainObjects: 1 },
    );
    expect(code, stderr).toBe(0);
    await expectSame(url.replace(server.url, strict.url), history);
  } finally {
    await strict.close();
  }
});

test("a file that the server refuses is sent once, however large", { tags: "sweep" }, async () => {
  const { remote } = newRemote();
  const strict = await startServer({ vars: { LIMITS: JSON.stringify({ maxObjectSizeBytes: 100_000 }) } });
  try {
    const dir = await makeRepository("large-file");
    writeFileSync(join(dir, "noise"), randomBytes(150_000));
    await git(dir, "add", ".");
    await git(dir, "commit", "-q", "-m", "noise");
    const { code, stderr } = await tryHelper(dir, ["push", remote.replace(proxy.url, strict.url), "main"], IN_STEPS);
    expect(code).toBe(1);
    expect(stderr).toContain("100000");
    const parts = strict.requests.filter(({ method, path }) => method === "PUT" && path.includes("/parts/"));
    expect(parts.length).toBe(Math.ceil(150_000 / 8_000));
  } finally {
    await strict.close();
  }
});

describe("as with git push", () => {
  let dir: string;
  let remote: string;
  let url: string;
  beforeEach(async () => {
    ({ remote, url } = newRemote());
    dir = await makeRepository("work");
    await git(dir, "pull", "-q", history, "main");
    expect(
      (await tryHelper(dir, ["push", "-q", remote, "main~40:refs/heads/main", "main:refs/heads/side"], IN_STEPS)).code,
    ).toBe(0);
  });
  const refsOf = (): Promise<string> => git(dir, "ls-remote", url, "refs/*");

  test("a dry run sends nothing", { tags: "sweep" }, async () => {
    const before = await refsOf();
    const { code, stderr } = await tryHelper(dir, ["push", "--dry-run", remote, "main"], IN_STEPS);
    expect([code, stderr]).toEqual([0, expect.stringContaining("main -> main")]);
    expect(await refsOf()).toBe(before);
  });

  test("force is needed for what is no fast-forward, and refs are deleted beside", { tags: "sweep" }, async () => {
    await git(dir, "checkout", "-q", "-b", "other", "main~60");
    for (let i = 0; i < 3; i++) await git(dir, "commit", "-q", "--allow-empty", "-m", `other ${i}`);
    const refused = await tryHelper(dir, ["push", remote, "other:main"], IN_STEPS);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("non-fast-forward")]);
    const forced = await tryHelper(dir, ["push", remote, "+other:main", ":side", "other:refs/tags/t"], IN_STEPS);
    expect(forced.code, forced.stderr).toBe(0);
    const tip = await git(dir, "rev-parse", "other");
    expect(await refsOf()).toBe(`${tip}\trefs/heads/main\n${tip}\trefs/tags/t`);
  });

  test("a protected ref is refused with its reason; atomic, so are the others", { tags: "sweep" }, async () => {
    const rules = [{ pattern: "refs/heads/main", fastForwardOnly: true }];
    const name = url.slice(server.url.length);
    const set = await askApi(server, `/repos${name}/protected-refs`, { method: "PUT", json: { rules } });
    expect(set.status, JSON.stringify(set.body)).toBe(200);
    await git(dir, "checkout", "-q", "-b", "other", "main~60");
    for (let i = 0; i < 3; i++) await git(dir, "commit", "-q", "--allow-empty", "-m", `other ${i}`);
    const before = await refsOf();
    const push = (...args: string[]) => tryHelper(dir, ["push", ...args, remote, "+other:main", "other:new"], IN_STEPS);
    const atomic = await push("--atomic");
    expect([atomic.code, atomic.stderr]).toEqual([1, expect.stringContaining("protected")]);
    expect(await refsOf()).toBe(before);
    const single = await push();
    expect([single.code, single.stderr]).toEqual([1, expect.stringContaining("protected")]);
    const [main, side] = before.split("\n");
    expect(await refsOf()).toBe(`${main}\n${await git(dir, "rev-parse", "other")}\trefs/heads/new\n${side}`);
  });
});

test(
  "tokens come from git's credential helper; one that is revoked meanwhile ends the push",
  { tags: "sweep" },
  async () => {
    const ADMIN = "correct-horse-battery";
    const closed = await startServer({
      vars: { ACCESS: "token", ADMIN_TOKEN: ADMIN },
      constants: { ANSWER_LIFE_MS: 300 },
    });
    const front = await startFrontProxy(closed.url);
    try {
      const headers = { Authorization: `Bearer ${ADMIN}` };
      const make = { owner: "me", name: "pusher", right: "write" };
      const made = await askApi<{ id: string; token: string }>(closed, "/tokens", {
        method: "POST",
        json: make,
        headers,
      });
      const store = join(makeTempDir("credentials"), "store");
      const { host } = new URL(front.url);
      writeFileSync(store, `http://git:${made.body.token}@${host}\n`);
      const config = ["-c", `credential.helper=store --file=${store}`];
      const remote = `holdfast::${front.url}/me/private`;
      const first = await tryHelper(history, [...config, "push", remote, "main"], IN_STEPS);
      expect(first.code, first.stderr).toBe(0);
      let isRevoked = false;
      front.cutAt = ({ path }) => {
        if (path.endsWith("/steps") && !isRevoked) {
          isRevoked = true;
          void askApi(closed, `/tokens/${made.body.id}`, { method: "DELETE", headers });
        }
        return false;
      };
      const other = await makeHistory({ commits: 150, files: 20, seed: 7 });
      const second = await tryHelper(other, [...config, "push", `${remote}-2`, "main"], IN_STEPS, {
        env: { GIT_ASKPASS: "/bin/false" },
      });
      expect(isRevoked).toBe(true);
      await sleep(400);
      expect(second.code, second.stderr).not.toBe(0);
      const refs = await git(other, "ls-remote", `${closed.url.replace("://", `://x:${ADMIN}@`)}/me/private-2`);
      expect(refs).toBe("");
    } finally {
      await front.close();
      await closed.close();
    }
  },
);

test("two pushes at once from one repository both arrive", { tags: "sweep" }, async () => {
  const { url, remote } = newRemote();
  const pushes = ["main:refs/heads/one", "main:refs/heads/two"].map((spec) =>
    tryHelper(history, ["push", remote, spec], IN_STEPS),
  );
  for (const { code, stderr } of await Promise.all(pushes)) expect(code, stderr).toBe(0);
  const tip = await git(history, "rev-parse", "main");
  expect(await git(history, "ls-remote", url, "refs/*")).toBe(`${tip}\trefs/heads/one\n${tip}\trefs/heads/two`);
});
