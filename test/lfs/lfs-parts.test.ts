/** Objects that are larger than one request may be, by the real client of Git LFS and its agent
 * `git-lfs-holdfast`. */
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findProblems } from "../harness/find-problems.ts";
import { type PassedRequest, startFrontProxy } from "../harness/front-proxy.ts";
import { type GitResult, makeRepository, tryGit } from "../harness/git.ts";
import { setUpLfs } from "../harness/lfs-tools.ts";
import { helperDir } from "../harness/remote-helper.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { passOn, startUpstream } from "../harness/upstream.ts";

const ADMIN = "holdfast-admin-token-for-tests";

/** So that parts have 5 MiB, the fewest that the bucket takes. */
const MAX_BODY_BYTES = "6000000";

let env: Record<string, string>;
let server: Server;

beforeAll(async () => {
  env = await setUpLfs(makeTempDir("home"));
  env = { ...env, PATH: `${await helperDir()}${delimiter}${env["PATH"]}` };
  server = await startServer({ vars: { MAX_BODY_BYTES } });
  await run(makeTempDir("cwd"), "lfs-holdfast", "install");
});
afterAll(() => server?.close());

const tryRun = (dir: string, ...args: string[]): Promise<GitResult> => tryGit(dir, args, { env });

async function run(dir: string, ...args: string[]): Promise<string> {
  const result = await tryRun(dir, ...args);
  expect(result.code, `git ${args.join(" ")}: ${result.stderr}`).toBe(0);
  return result.stdout.trim();
}

/** A repository with files that LFS tracks. @returns its folder */
async function makeFiles(name: string, files: Record<string, Buffer>): Promise<string> {
  const dir = await makeRepository(name);
  await run(dir, "lfs", "install", "--local");
  await run(dir, "lfs", "track", "*.bin");
  for (const [path, bytes] of Object.entries(files)) writeFileSync(join(dir, path), bytes);
  await run(dir, "add", ".");
  await run(dir, "commit", "-q", "-m", "files");
  return dir;
}

const isPart = ({ method, path }: { method: string; path: string }): boolean =>
  method === "PUT" && /\/uploads\/[^/]+\/\d+\?/.test(path);

async function expectCloned(url: string, files: Record<string, Buffer>): Promise<void> {
  const copy = join(makeTempDir("clone"), "c");
  await run(makeTempDir("cwd"), "clone", "-q", url, copy);
  for (const [path, bytes] of Object.entries(files)) expect(readFileSync(join(copy, path)).equals(bytes)).toBe(true);
  expect(await findProblems(url)).toEqual([]);
}

test("a file above what a request may have is pushed in parts, beside small ones, and cloned", async () => {
  const files = { "large.bin": randomBytes(30_000_000), "small.bin": randomBytes(1_000), "none.bin": Buffer.alloc(0) };
  const dir = await makeFiles("large", files);
  const url = `${server.url}/parts/large`;
  const proxy = await startFrontProxy(server.url, Number(MAX_BODY_BYTES));
  try {
    await run(dir, "push", "-q", `${proxy.url}/parts/large.git`, "HEAD:refs/heads/main");
    expect(proxy.requests.filter(isPart)).toHaveLength(6);
  } finally {
    await proxy.close();
  }
  await expectCloned(url, files);
  // Nothing is sent again, also where there is no agent, and nothing is left of the upload.
  const bare = ["-c", "lfs.customtransfer.holdfast.path=", "push", `${url}.git`, "HEAD:refs/heads/other"];
  await run(dir, ...bare);
  expect(readdirSync(join(dir, ".git/holdfast/lfs"))).toEqual([]);
});

test("without the agent, such a file is refused with the way out", async () => {
  const dir = await makeFiles("without", { "large.bin": randomBytes(7_000_000) });
  const without = { ...env, GIT_CONFIG_GLOBAL: join(makeTempDir("config"), "config") };
  const push = ["push", "-q", `${server.url}/parts/without.git`, "HEAD:refs/heads/main"];
  const { code, stderr } = await tryGit(dir, push, { env: without });
  expect([code === 0, stderr]).toEqual([false, expect.stringContaining("git lfs-holdfast install")]);
});

test("lost connections are made again, and a push that is killed goes on where it was", async () => {
  const files = { "cut.bin": randomBytes(30_000_000) };
  const dir = await makeFiles("cut", files);
  const proxy = await startFrontProxy(server.url);
  const push = ["push", "-q", `${proxy.url}/parts/cut.git`, "HEAD:refs/heads/main"];
  try {
    const killed = new AbortController();
    const cut = new Set<string>();
    const isStored = (request: PassedRequest): boolean => isPart(request) && request.status === 200;
    // Two are cut in the middle, each once. Then the push is killed when two have arrived.
    proxy.cutAt = (request) => {
      if (!isPart(request)) return false;
      const isCut = /\/[12]\?/.test(request.path) && request.sentBytes > 4_000_000 && !cut.has(request.path);
      if (isCut) cut.add(request.path);
      if (isCut) return true;
      if (proxy.requests.filter(isStored).length >= 2) killed.abort(new Error("killed"));
      return false;
    };
    await expect(tryGit(dir, push, { env, signal: killed.signal })).rejects.toThrow("killed");
    expect(readdirSync(join(dir, ".git/holdfast/lfs")).length).toBeGreaterThan(0);
    proxy.cutAt = () => false;
    expect(cut.size).toBeGreaterThan(0);
    await awaitEnd(join(dir, ".git/holdfast/lfs"));
    const before = proxy.requests.filter(isPart).length;
    await run(dir, ...push);
    // Two of six were there; those under way when it was killed are sent again.
    expect(proxy.requests.filter(isPart).length - before).toBeLessThan(5);
    expect(proxy.requests.filter(({ method, path }) => method === "POST" && path.endsWith("/uploads"))).toHaveLength(1);
  } finally {
    await proxy.close();
  }
  await expectCloned(`${server.url}/parts/cut`, files);
});

/** Waits until the processes are gone that have locks in a folder: those of a killed command end
 * after it. */
async function awaitEnd(folder: string): Promise<void> {
  const locks = readdirSync(folder).filter((name) => name.endsWith(".lock"));
  const pids = locks.map((name) => Number(readFileSync(join(folder, name), "utf8")));
  const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);
  await expect.poll(() => pids.filter(isAlive), { interval: 10 }).toEqual([]);
}

test("the server is killed while parts come, and while it reads them back", async () => {
  const own = await startServer({ vars: { MAX_BODY_BYTES } });
  const proxy = await startFrontProxy(own.url);
  try {
    const files = { "killed.bin": randomBytes(30_000_000) };
    const dir = await makeFiles("killed", files);
    let restarted = Promise.resolve();
    let parts = 0;
    let kills = 0;
    const kill = (): void => {
      kills += 1;
      restarted = restarted.then(() => own.kill()).then(() => own.restart());
    };
    proxy.cutAt = (request) => {
      if (isPart(request) && request.sentBytes === 5_242_880 && [2, 5].includes(++parts)) kill();
      return false;
    };
    const completing = setInterval(() => {
      const isCompleting = proxy.requests.some(({ method, path }) => method === "POST" && /uploads\/[^/]+$/.test(path));
      if (!isCompleting || kills !== 2) return;
      clearInterval(completing);
      kill();
    }, 5);
    await run(dir, "push", "-q", `${proxy.url}/parts/killed.git`, "HEAD:refs/heads/main");
    clearInterval(completing);
    await restarted;
    expect(kills).toBeGreaterThanOrEqual(2);
    await expectCloned(`${own.url}/parts/killed`, files);
  } finally {
    await proxy.close();
    await own.close();
  }
});

test("an upload that has ended meanwhile, or has lost a part, is made good", async () => {
  const files = { "ended.bin": randomBytes(12_000_000) };
  const dir = await makeFiles("ended", files);
  const url = `${server.url}/parts/ended`;
  let ended = 0;
  const proxy = await startUpstream((request, response) => {
    const { method, url: path = "" } = request;
    const upload = /^(.*\/uploads\/[^/]+)$/.exec(path)?.[1];
    // Once the upload is deleted before it is completed; its second part is said to be there once,
    // and is not.
    if (method === "POST" && upload !== undefined && ended++ === 0)
      return void fetch(server.url + upload, { method: "DELETE" }).then(() => passOn(server.url, request, response));
    if (isPart({ method: method!, path }) && /\/2\?/.test(path) && ended === 1) {
      ended += 1;
      request.resume();
      return void request.on("end", () => response.writeHead(200).end("{}"));
    }
    return passOn(server.url, request, response);
  });
  try {
    await run(dir, "push", "-q", `${proxy.url}/parts/ended.git`, "HEAD:refs/heads/main");
    expect(ended).toBeGreaterThan(2);
  } finally {
    await proxy.close();
  }
  await expectCloned(url, files);
});

test("a token that ends in the middle ends the push at once, with the reason", async () => {
  const own = await startServer({ vars: { ACCESS: "token", ADMIN_TOKEN: ADMIN, MAX_BODY_BYTES } });
  const headers = { Authorization: `Bearer ${ADMIN}`, "Content-Type": "application/json" };
  const ask = async (method: string, path: string, json?: object): Promise<{ id: string; token: string }> => {
    const body = json && JSON.stringify(json);
    const response = await fetch(`${own.url}/api${path}`, { method, headers, ...(body !== undefined && { body }) });
    return (response.status === 204 ? {} : await response.json()) as { id: string; token: string };
  };
  const proxy = await startFrontProxy(own.url);
  try {
    await ask("POST", "/repos", { owner: "parts", name: "token" });
    const { id, token } = await ask("POST", "/tokens", { owner: "parts", name: "t", right: "write" });
    const files = { "token.bin": randomBytes(30_000_000) };
    const dir = await makeFiles("token", files);
    const push = (with_: string): string[] => [
      "push",
      `${proxy.url.replace("//", `//x:${with_}@`)}/parts/token.git`,
      "HEAD:refs/heads/main",
    ];
    let revoking: Promise<unknown> | null = null;
    proxy.cutAt = (request) => {
      if (isPart(request)) revoking ??= ask("DELETE", `/tokens/${id}`);
      return false;
    };
    const { code, stderr } = await tryRun(dir, ...push(token));
    expect(revoking).not.toBeNull();
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining("a valid token is needed")]);
    await run(dir, ...push(ADMIN));
    // It went on with what the other token's holder had begun.
    expect(proxy.requests.filter(({ method, path }) => method === "POST" && path.endsWith("/uploads"))).toHaveLength(1);
  } finally {
    await proxy.close();
    await own.close();
  }
});

test("the agent says how it is used, and sets itself up and back", async () => {
  const dir = await makeRepository("set-up");
  const agent = (...args: string[]): Promise<GitResult> => tryRun(dir, "lfs-holdfast", ...args);
  expect((await agent("-h")).stdout).toContain("git lfs-holdfast install");
  expect((await agent("instal")).code).toBe(1);
  const read = async (): Promise<string> => (await tryRun(dir, "config", "--local", "--get-regexp", "holdfast")).stdout;
  await agent("install", "--local");
  expect(await read()).toContain("lfs.customtransfer.holdfast.path git-lfs-holdfast");
  await agent("uninstall", "--local");
  expect(await read()).toBe("");
});
