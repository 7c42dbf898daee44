/** Git LFS with `git push holdfast::…`: the client's hook runs inside a push of the remote
 * helper. */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findProblems } from "../harness/find-problems.ts";
import { makeRepository } from "../harness/git.ts";
import { setUpLfs } from "../harness/lfs-tools.ts";
import { type HelperConfig, tryHelper } from "../harness/remote-helper.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

/** Every push goes in steps. */
const IN_STEPS: HelperConfig = { plainObjects: 1 };

let env: Record<string, string>;
let server: Server;
let other: Server;

beforeAll(async () => {
  env = await setUpLfs(makeTempDir("home"));
  [server, other] = await Promise.all([startServer(), startServer()]);
});
afterAll(() => Promise.all([server, other].map((one) => one?.close())));

async function run(dir: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await tryHelper(dir, args, IN_STEPS, { env });
  expect(code, `git ${args.join(" ")}: ${stderr}`).toBe(0);
  return stdout.trim();
}

/** A repository with a file that LFS tracks. */
async function makeTracked(): Promise<string> {
  const dir = await makeRepository("tracked");
  await run(dir, "lfs", "install", "--local");
  await run(dir, "lfs", "track", "*.bin");
  await change(dir);
  return dir;
}

/** Commits other contents of the file. */
async function change(dir: string): Promise<Buffer> {
  const bytes = randomBytes(10_000);
  mkdirSync(join(dir, "deep"), { recursive: true });
  writeFileSync(join(dir, "deep/a.bin"), bytes);
  await run(dir, "add", ".");
  await run(dir, "commit", "-q", "-m", "a tracked file");
  return bytes;
}

/** Expects a clone to have the file's contents. */
async function expectContents(url: string, bytes: Buffer): Promise<void> {
  const dir = join(makeTempDir("clone"), "copy");
  await run(makeTempDir("cwd"), "clone", "-q", url, dir);
  expect(readFileSync(join(dir, "deep/a.bin")).equals(bytes)).toBe(true);
  expect(await findProblems(url.replace("holdfast::", ""))).toEqual([]);
}

const lfsSettings = async (dir: string): Promise<string[]> => {
  const lines = (await run(dir, "config", "--local", "--list")).split("\n");
  return lines.filter((line) => /lfs(push)?url/.test(line));
};

test("a push URL: objects go with the push", async () => {
  const url = `${server.url}/lfs/push-url`;
  const dir = await makeTracked();
  await run(dir, "remote", "add", "origin", url);
  await run(dir, "remote", "set-url", "--push", "origin", `holdfast::${url}`);
  const bytes = await change(dir);
  await run(dir, "push", "-q", "origin", "main");
  await expectContents(url, bytes);
});

test("a remote's only URL: clone, push, pull and lock", async () => {
  const url = `${server.url}/lfs/only-url.git`;
  const dir = await makeTracked();
  await run(dir, "remote", "add", "origin", `holdfast::${url}`);
  const bytes = await change(dir);
  await run(dir, "push", "-q", "-u", "origin", "main");
  await expectContents(`holdfast::${url}`, bytes);
  await run(dir, "lfs", "lock", "deep/a.bin");
  const copy = join(makeTempDir("clone"), "copy");
  await run(makeTempDir("cwd"), "clone", "-q", `holdfast::${url}`, copy);
  const changed = await change(dir);
  await run(dir, "push", "-q");
  await run(copy, "pull", "-q");
  expect(readFileSync(join(copy, "deep/a.bin")).equals(changed)).toBe(true);
});

test("a URL without a remote: objects go with the push, and no setting stays", async () => {
  const url = `${server.url}/lfs/no-remote`;
  const dir = await makeTracked();
  const bytes = await change(dir);
  const before = await run(dir, "config", "--local", "--list");
  await run(dir, "push", "-q", `holdfast::${url}`, "main");
  await expectContents(url, bytes);
  const settings = (await run(dir, "config", "--local", "--list")).split("\n");
  // The client notes this one by itself.
  expect(settings.filter((line) => !line.startsWith("lfs.http"))).toEqual(before.split("\n"));
});

test("a remote that leads elsewhere takes its objects there; the user's own setting stays", async () => {
  const dir = await makeTracked();
  await run(dir, "remote", "add", "origin", `holdfast::${server.url}/lfs/moves`);
  await run(dir, "push", "-q", "origin", "main");
  await run(dir, "remote", "set-url", "origin", `holdfast::${other.url}/lfs/moves`);
  // The client takes it that what the remote had, it has still.
  await run(dir, "branch", "-q", "-d", "-r", "origin/main");
  const bytes = await change(dir);
  await run(dir, "push", "-q", "origin", "main");
  await expectContents(`${other.url}/lfs/moves`, bytes);

  const own = `${server.url}/lfs/own.git/info/lfs`;
  await run(dir, "config", "remote.origin.lfsurl", own);
  await run(dir, "push", "-q", "-o", "lfs=allow-missing", "origin", "main:again");
  expect(await lfsSettings(dir)).toContain(`remote.origin.lfsurl=${own}`);
});

test("where LFS is not used, nothing is set", async () => {
  const dir = await makeRepository("plain");
  await run(dir, "commit", "-q", "--allow-empty", "-m", "first");
  await run(dir, "remote", "add", "origin", `holdfast::${server.url}/lfs/plain`);
  const settings = { GIT_CONFIG_GLOBAL: "/dev/null", HOME: env["HOME"]! };
  const { code, stderr } = await tryHelper(dir, ["push", "origin", "main"], IN_STEPS, { env: settings });
  expect(code, stderr).toBe(0);
  expect(await lfsSettings(dir)).toEqual([]);
});
