import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git, makeRepository } from "../harness/git.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { MERGE_CHUNKS } from "../../src/repository/maintenance/housekeeping.ts";

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

/** Commits to a repository and pushes, so many times. */
async function pushCommits(dir: string, url: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    appendFileSync(join(dir, "log"), `line ${i} of ${count}\n`.repeat(5));
    await git(dir, "add", "log");
    await git(dir, "commit", "-q", "-m", `Commit ${i}`);
    await git(dir, "push", "-q", url, "main");
  }
}

/** Clones a repository and has git look at every object. */
async function cloneSound(url: string, tip: string): Promise<void> {
  const clone = join(makeTempDir("clone"), "clone");
  await git(makeTempDir("cwd"), "clone", "-q", url, clone);
  expect(await git(clone, "rev-parse", "HEAD")).toBe(tip);
  expect(await git(clone, "fsck", "--strict", "--full")).toBe("");
}

test("small pushes are merged behind the client's back; clones and later pushes are as before", async () => {
  const url = `${server.url}/me/many.git`;
  const dir = await makeRepository("many");
  await pushCommits(dir, url, MERGE_CHUNKS);
  expect(await server.takeEvent("job")).toMatchObject({
    kind: "merge",
    chunks: MERGE_CHUNKS,
    objects: 3 * MERGE_CHUNKS,
    again: false,
    operations: { puts: 0, gets: 0 },
  });
  await cloneSound(url, await git(dir, "rev-parse", "main"));
  await pushCommits(dir, url, 3);
  await cloneSound(url, await git(dir, "rev-parse", "main"));
});
