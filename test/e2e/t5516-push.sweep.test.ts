// Sizes that take git itself seconds.
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { git, listRefs, makeRepository, tryGit } from "../harness/git.ts";
import type { Server } from "../harness/server.ts";
import { shareServer } from "../harness/shared-server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

let server: Pick<Server, "url">;
beforeAll(async () => {
  server = await shareServer("t5516");
});

/** Clones a remote, and has git check the clone. */
async function checkedClone(url: string): Promise<string> {
  const dir = join(makeTempDir("clone"), "clone.git");
  await git(makeTempDir("cwd"), "clone", "-q", "--mirror", url, dir);
  await git(dir, "fsck", "--full", "--strict");
  return dir;
}

test.each([30, 100])("a blob of %i MB", async (megabytes) => {
  const work = await makeRepository("work");
  // Random bytes do not compress: trying would take most of this test's time.
  await git(work, "config", "core.compression", "0");
  writeFileSync(join(work, "blob"), randomBytes(megabytes * 1_000_000));
  await git(work, "add", "blob");
  await git(work, "commit", "-q", "-m", "A blob");
  const url = `${server.url}/t5516/blob-${megabytes}.git`;
  await git(work, "push", "-q", url, "main");
  expect(await listRefs(await checkedClone(url))).toBe(await listRefs(work));
});

test("3,000 refs in one push", async () => {
  const work = await makeRepository("work");
  await git(work, "commit", "-q", "--allow-empty", "-m", "Empty");
  const tip = await git(work, "rev-parse", "HEAD");
  const stdin = Array.from({ length: 3_000 }, (_, i) => `create refs/heads/branch-${i} ${tip}\n`).join("");
  expect((await tryGit(work, ["update-ref", "--stdin"], { stdin })).code).toBe(0);
  const url = `${server.url}/t5516/refs.git`;
  await git(work, "push", "-q", "--mirror", url);
  expect(await listRefs(await checkedClone(url))).toBe(await listRefs(work));
});
