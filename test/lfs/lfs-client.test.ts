/** The real client of Git LFS, and its own test of servers, against the real Worker. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findProblems } from "../harness/find-problems.ts";
import { type GitResult, makeRepository, tryGit } from "../harness/git.ts";
import { setUpLfs } from "../harness/lfs-tools.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { passOn, startUpstream } from "../harness/upstream.ts";

const ADMIN = "holdfast-admin-token-for-tests";

let env: Record<string, string>;
let open: Server;
let guarded: Server;

beforeAll(async () => {
  env = await setUpLfs(makeTempDir("home"));
  open = await startServer();
  guarded = await startServer({ vars: { ACCESS: "token", ADMIN_TOKEN: ADMIN } });
});
afterAll(async () => {
  await open?.close();
  await guarded?.close();
});

const tryLfs = (dir: string, ...args: string[]): Promise<GitResult> => tryGit(dir, args, { env });

async function run(dir: string, ...args: string[]): Promise<string> {
  const result = await tryLfs(dir, ...args);
  expect(result.code, `git ${args.join(" ")}: ${result.stderr}`).toBe(0);
  return result.stdout.trim();
}

/** A repository with files that LFS tracks. @returns its folder */
async function makeFiles(name: string, files: Record<string, Buffer>): Promise<string> {
  const dir = await makeRepository(name);
  await run(dir, "lfs", "install", "--local");
  await run(dir, "lfs", "track", "*.bin");
  await commit(dir, files);
  return dir;
}

async function commit(dir: string, files: Record<string, Buffer>): Promise<void> {
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(join(dir, path, ".."), { recursive: true });
    writeFileSync(join(dir, path), bytes);
  }
  await run(dir, "add", ".");
  await run(dir, "commit", "-q", "-m", `${Object.keys(files).length} files`);
}

async function clone(url: string, ...args: string[]): Promise<string> {
  const dir = join(makeTempDir("clone"), "c");
  await run(makeTempDir("cwd"), "clone", "-q", ...args, url, dir);
  return dir;
}

test("git-lfs-test-server-api passes", async () => {
  const url = `${open.url}/lfs/api.git/info/lfs`;
  const save = join(makeTempDir("oids"), "oids");
  const { stdout, stderr } = await promisify(execFile)("git-lfs-test-server-api", [`--url=${url}`, `--save=${save}`], {
    env: { ...process.env, ...env },
  });
  expect(stdout + stderr).toContain("All tests passed");
  expect(stdout + stderr).not.toContain("FAILED");
});

for (const access of ["open", "token"] as const) {
  test(`push, clone, fetch, pull, lock and prune (access: ${access})`, async () => {
    const server = access === "open" ? open : guarded;
    const url = `${server.url.replace("//", access === "open" ? "//" : `//x:${ADMIN}@`)}/lfs/round.git`;
    const files = { "a.bin": randomBytes(3_000_000), "deep/b.bin": randomBytes(10), "plain.txt": Buffer.from("text") };
    const dir = await makeFiles(`round-${access}`, files);
    await run(dir, "remote", "add", "origin", url);
    await run(dir, "push", "-q", "-u", "origin", "HEAD:refs/heads/main");
    const copy = await clone(url);
    for (const [path, bytes] of Object.entries(files)) expect(readFileSync(join(copy, path)).equals(bytes)).toBe(true);

    const changed = randomBytes(100_000);
    await commit(dir, { "a.bin": changed });
    await run(dir, "push", "-q", "origin", "HEAD:refs/heads/main");
    await run(copy, "pull", "-q");
    expect(readFileSync(join(copy, "a.bin")).equals(changed)).toBe(true);
    await run(copy, "lfs", "fetch", "--all");
    await run(copy, "lfs", "fetch", "--recent");
    await run(copy, "lfs", "fsck");

    await run(copy, "lfs", "lock", "a.bin");
    expect(await run(dir, "lfs", "locks")).toContain("a.bin");
    expect(await run(copy, "lfs", "locks", "--verify")).toMatch(/^O a\.bin/m);
    expect((await tryLfs(dir, "lfs", "lock", "a.bin")).code).not.toBe(0);
    await run(copy, "lfs", "unlock", "a.bin");
    expect(await run(dir, "lfs", "locks")).toBe("");
    await run(copy, "lfs", "prune", "--verify-remote");
    if (access === "open") expect(await findProblems(`${server.url}/lfs/round`)).toEqual([]);
  });
}

test("a history that is migrated arrives whole", async () => {
  const dir = await makeRepository("migrated");
  const versions = Array.from({ length: 5 }, () => randomBytes(50_000));
  for (const bytes of versions) await commit(dir, { "large.dat": bytes });
  await run(dir, "lfs", "migrate", "import", "--everything", "--include=*.dat", "--yes");
  await run(dir, "push", "-q", `${open.url}/lfs/migrated.git`, "HEAD:refs/heads/main");
  const copy = await clone(`${open.url}/lfs/migrated`);
  await run(copy, "lfs", "fetch", "--all");
  for (const [i, bytes] of versions.toReversed().entries()) {
    await run(copy, "checkout", "-q", `HEAD~${i}`);
    expect(readFileSync(join(copy, "large.dat")).equals(bytes)).toBe(true);
    await run(copy, "checkout", "-q", "main");
  }
});

test("5,000 files are checked out", async () => {
  const files = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`d${i % 50}/${i}.bin`, randomBytes(200)]));
  const dir = await makeFiles("many", files);
  await run(dir, "push", "-q", `${open.url}/lfs/many.git`, "HEAD:refs/heads/main");
  const copy = await clone(`${open.url}/lfs/many`);
  for (const [path, bytes] of Object.entries(files)) expect(readFileSync(join(copy, path)).equals(bytes)).toBe(true);
});

test("20 clients at once", async () => {
  const base = randomBytes(500_000);
  const dir = await makeFiles("crowd", { "base.bin": base });
  await run(dir, "push", "-q", `${open.url}/lfs/crowd.git`, "HEAD:refs/heads/main");
  await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const copy = await clone(`${open.url}/lfs/crowd.git`);
      expect(readFileSync(join(copy, "base.bin")).equals(base)).toBe(true);
      const bytes = randomBytes(200_000);
      await commit(copy, { [`own-${i}.bin`]: bytes, "shared.bin": Buffer.alloc(300_000, 7) });
      await run(copy, "push", "-q", "origin", `HEAD:refs/heads/client-${i}`);
      const again = await clone(`${open.url}/lfs/crowd`, "-b", `client-${i}`);
      expect(readFileSync(join(again, `own-${i}.bin`)).equals(bytes)).toBe(true);
    }),
  );
  expect(await findProblems(`${open.url}/lfs/crowd`)).toEqual([]);
});

test("a download that was interrupted is resumed", async () => {
  const bytes = randomBytes(4_000_000);
  const dir = await makeFiles("resumed", { "r.bin": bytes });
  await run(dir, "push", "-q", `${open.url}/lfs/resumed.git`, "HEAD:refs/heads/main");
  const copy = join(makeTempDir("clone"), "c");
  await tryGit(dir, ["clone", "-q", `${open.url}/lfs/resumed`, copy], { env: { ...env, GIT_LFS_SKIP_SMUDGE: "1" } });
  const [, oid] = /oid sha256:(\w+)/.exec(readFileSync(join(copy, "r.bin"), "utf8"))!;
  const incomplete = join(copy, ".git/lfs/incomplete");
  mkdirSync(incomplete, { recursive: true });
  writeFileSync(join(incomplete, `${oid}.part`), bytes.subarray(0, 3_000_000));
  await run(copy, "lfs", "pull");
  expect(readFileSync(join(copy, "r.bin")).equals(bytes)).toBe(true);
  expect(await readdir(incomplete)).toEqual([]);
  const ranged = open.requests.filter(({ path, status }) => path.endsWith(oid!) && status === 206);
  expect(ranged).toHaveLength(1);
});

test("an upload that is cut is sent again by the client", async () => {
  const bytes = randomBytes(4_000_000);
  let cuts = 0;
  const proxy = await startUpstream((request, response) => {
    const isCut = request.method === "PUT" && cuts < 2;
    if (!isCut) return passOn(open.url, request, response);
    // In the middle of the body.
    let seen = 0;
    request.on("data", (piece: Buffer) => {
      seen += piece.length;
      if (seen < 1_000_000) return;
      cuts += 1;
      request.socket.destroy();
    });
  });
  try {
    const dir = await makeFiles("cut", { "c.bin": bytes });
    await run(dir, "push", "-q", `${proxy.url}/lfs/cut.git`, "HEAD:refs/heads/main");
    expect(cuts).toBe(2);
    const copy = await clone(`${open.url}/lfs/cut`);
    expect(readFileSync(join(copy, "c.bin")).equals(bytes)).toBe(true);
    expect(await findProblems(`${open.url}/lfs/cut`)).toEqual([]);
  } finally {
    await proxy.close();
  }
});
