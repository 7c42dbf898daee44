import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git, makeRepository } from "../harness/git.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const KIB = 1024;
const MB = 1_000_000;

/** A commit with files of noise, which no compression makes smaller. */
async function makeNoise(files: number, sizeBytes: number): Promise<string> {
  const dir = await makeRepository("noise");
  // To try would be most of these tests' time.
  await git(dir, "config", "core.compression", "0");
  for (let i = 0; i < files; i++) writeFileSync(join(dir, `noise-${i}`), randomBytes(sizeBytes));
  await git(dir, "add", ".");
  await git(dir, "commit", "-q", "-m", "noise");
  return dir;
}

let remotes = 0;

/** Pushes and clones again.
 * @returns what both cost */
async function pushAndClone(origin: string) {
  const url = `${server.url}/me/operations-${++remotes}.git`;
  await git(origin, "push", "-q", url, "main");
  const push = await server.takeEvent("push");
  const clone = join(makeTempDir("clone"), "clone");
  await git(makeTempDir("cwd"), "clone", "-q", "--bare", url, clone);
  const fetch = await server.takeEvent("fetch");
  expect(await git(clone, "rev-parse", "HEAD")).toBe(await git(origin, "rev-parse", "main"));
  return { push, fetch };
}

/** The bytes of a push's entries beyond its noise: commit, tree, headers, trailer. */
const OVERHEAD_BYTES = KIB;

test.each([1, 10])("a push under 256 KiB costs no R2 operation, in %i files", async (files) => {
  const { push, fetch } = await pushAndClone(
    await makeNoise(files, Math.floor((256 * KIB - 3 * OVERHEAD_BYTES) / files)),
  );
  expect(push.packBytes).toBeGreaterThan(250 * KIB);
  expect(push.packBytes).toBeLessThan(256 * KIB);
  expect(push.operations).toEqual({ puts: 0, parts: 0, gets: 0, deletes: 0, lists: 0, bytesIn: 0, bytesOut: 0 });
  // Nor does a fetch of what is still hot.
  expect(fetch.operations.gets).toBe(0);
});

test.each([
  ["257 KiB", 1, 257 * KIB],
  ["257 KiB in 257 files", 257, KIB],
  ["1 MB in 10 files", 10, MB / 10],
  ["5 MB in 50 files", 50, MB / 10],
  ["20 MB in 20 files", 20, MB],
  ["20 MB in 2,500 files", 2_500, 8_000],
  ["a blob of 12 MB", 1, 12 * MB],
  ["blobs of 3 MB", 7, 3 * MB],
  ["blobs of 9 MB", 3, 9 * MB],
])("a push of %s costs a PUT for every 2 MB and 2 more at the most", async (_, files, sizeBytes) => {
  const { push, fetch } = await pushAndClone(await makeNoise(files, sizeBytes));
  const { puts, parts, gets, deletes, lists, bytesIn } = push.operations;
  expect(push.packBytes).toBeGreaterThan(files * sizeBytes);
  expect(puts + parts).toBeGreaterThan(0);
  expect(puts + parts).toBeLessThanOrEqual(Math.floor(push.packBytes / (2 * MB)) + 2);
  expect({ gets, deletes, lists }).toEqual({ gets: 0, deletes: 0, lists: 0 });
  // Every entry is written, and once: all of the pack but its header and trailer.
  expect(bytesIn).toBe(push.packBytes - 12 - 20);
  expect(fetch).toMatchObject({ complete: true, packBytes: push.packBytes });
  expect(fetch.operations.bytesOut).toBe(bytesIn);
  expect(fetch.operations.gets).toBeLessThanOrEqual(Math.ceil(push.packBytes / (2 * MB)) + 2);
});

test("a ref moved without a pack, and one deleted, cost no R2 operation", async () => {
  const origin = await makeNoise(1, 100);
  const url = `${server.url}/me/operations-${++remotes}.git`;
  await git(origin, "push", "-q", url, "main");
  await git(origin, "push", "-q", url, "main:refs/heads/same");
  await git(origin, "push", "-q", url, ":refs/heads/same");
  for (let i = 0; i < 3; i++) {
    const { operations } = await server.takeEvent("push");
    expect(operations).toMatchObject({ puts: 0, parts: 0, gets: 0, deletes: 0, lists: 0 });
  }
});

test("a push of small changes to a repository that lies in R2 costs no R2 operation", async () => {
  const origin = await makeNoise(5, MB);
  const url = `${server.url}/me/operations-${++remotes}.git`;
  await git(origin, "push", "-q", url, "main");
  await server.takeEvent("push");
  for (let i = 0; i < 5; i++) {
    writeFileSync(join(origin, "noise-0"), `small ${i}`);
    await git(origin, "commit", "-q", "-am", `small ${i}`);
    await git(origin, "push", "-q", url, "main");
    expect((await server.takeEvent("push")).operations).toMatchObject({ puts: 0, parts: 0, gets: 0 });
  }
});
