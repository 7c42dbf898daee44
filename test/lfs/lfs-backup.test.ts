/** A backup and its restore as docs/operations.md has them: the bundle, and the client for the
 * objects. */
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { findProblems } from "../harness/find-problems.ts";
import { makeRepository, tryGit } from "../harness/git.ts";
import { setUpLfs } from "../harness/lfs-tools.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

let env: Record<string, string>;
let server: Server;

beforeAll(async () => {
  env = await setUpLfs(makeTempDir("home"));
  server = await startServer();
});
afterAll(() => server?.close());

async function run(dir: string, ...args: string[]): Promise<void> {
  const { code, stderr } = await tryGit(dir, args, { env });
  expect(code, `git ${args.join(" ")}: ${stderr}`).toBe(0);
}

test("a bundle and the client's copy of the objects become the same repository", async () => {
  const dir = await makeRepository("backed-up");
  await run(dir, "lfs", "track", "*.bin");
  const versions = Array.from({ length: 3 }, () => randomBytes(400_000));
  for (const bytes of versions) {
    writeFileSync(join(dir, "a.bin"), bytes);
    await run(dir, "add", ".");
    await run(dir, "commit", "-q", "-m", "version");
  }
  const url = (name: string): string => `${server.url}/backup/${name}.git`;
  await run(dir, "push", "-q", url("origin"), "HEAD:refs/heads/main");

  const bundle = await fetch(`${server.url}/api/repos/backup/origin/backup.bundle`);
  const body = new Uint8Array(await bundle.arrayBuffer());
  const place = makeTempDir("backup");
  await run(place, "clone", "-q", "--mirror", url("origin"), "copy.git");
  await run(join(place, "copy.git"), "lfs", "fetch", "--all");
  expect((await askApi(server, "/repos/backup/origin", { method: "DELETE" })).status).toBe(204);

  const restored = await fetch(`${server.url}/api/repos/backup/restored/backup.bundle`, { method: "PUT", body });
  expect(restored.status).toBe(201);
  const state = async () => (await askApi(server, "/repos/backup/restored/lfs")).body;
  expect(await state()).toMatchObject({ objects: 0, missing: 3 });
  await run(join(place, "copy.git"), "lfs", "push", "--all", url("restored"));
  expect(await state()).toMatchObject({ objects: 3, missing: 0 });
  await run(place, "clone", "-q", url("restored"), "again");
  expect(readFileSync(join(place, "again/a.bin")).equals(versions.at(-1)!)).toBe(true);
  expect(await findProblems(url("restored"))).toEqual([]);
});
