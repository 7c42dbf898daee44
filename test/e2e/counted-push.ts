// Pushes whose calls to R2 are counted, for the tests of what a push costs in R2.
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { git, makeRepository } from "../harness/git.ts";
import type { Server } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

export const KIB = 1024;
export const MB = 1_000_000;

/** Makes a commit with files of random bytes, which do not compress. */
export async function makeNoise(files: number, sizeBytes: number): Promise<string> {
  const dir = await makeRepository("noise");
  // Trying to compress them would take most of these tests' time.
  await git(dir, "config", "core.compression", "0");
  for (let i = 0; i < files; i++) writeFileSync(join(dir, `noise-${i}`), randomBytes(sizeBytes));
  await git(dir, "add", ".");
  await git(dir, "commit", "-q", "-m", "noise");
  return dir;
}

let remotes = 0;

/** The URL of a repository that does not exist yet. */
export function newRemote(server: Server): string {
  return `${server.url}/me/operations-${++remotes}.git`;
}

/** Pushes and clones again.
 * @returns the log events of both, which hold their costs */
export async function pushAndClone(server: Server, origin: string) {
  const url = newRemote(server);
  await git(origin, "push", "-q", url, "main");
  const push = await server.takeEvent("push");
  const clone = join(makeTempDir("clone"), "clone");
  await git(makeTempDir("cwd"), "clone", "-q", "--bare", url, clone);
  const fetch = await server.takeEvent("fetch");
  expect(await git(clone, "rev-parse", "HEAD")).toBe(await git(origin, "rev-parse", "main"));
  return { push, fetch };
}

/** Expects a push of so many files of random bytes to cost at most one PUT for every 2 MB, and 2
 * more. */
export async function expectFewPuts(server: Server, files: number, sizeBytes: number): Promise<void> {
  const { push, fetch } = await pushAndClone(server, await makeNoise(files, sizeBytes));
  const { puts, parts, gets, deletes, lists, bytesIn } = push.operations;
  expect(push.packBytes).toBeGreaterThan(files * sizeBytes);
  expect(puts + parts).toBeGreaterThan(0);
  expect(puts + parts).toBeLessThanOrEqual(Math.floor(push.packBytes / (2 * MB)) + 2);
  expect({ gets, deletes, lists }).toEqual({ gets: 0, deletes: 0, lists: 0 });
  // Every entry is written exactly once: the whole pack without its header and trailer.
  expect(bytesIn).toBe(push.packBytes - 12 - 20);
  expect(fetch).toMatchObject({ complete: true, packBytes: push.packBytes });
  expect(fetch.operations.bytesOut).toBe(bytesIn);
  expect(fetch.operations.gets).toBeLessThanOrEqual(Math.ceil(push.packBytes / (2 * MB)) + 2);
}
