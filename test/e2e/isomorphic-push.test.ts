// A client that shares no code with git: isomorphic-git, in JavaScript.
import fs, { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import isomorphic from "isomorphic-git";
import http from "isomorphic-git/http/node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git, listRefs } from "../harness/git.ts";
import { startServer, type Server } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

const author = { name: "Ada Example", email: "ada@example.com", timestamp: 1_700_000_000, timezoneOffset: -60 };

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

test("isomorphic-git pushes, force-pushes, deletes and clones", async () => {
  const url = `${server.url}/me/repo.git`;
  const dir = makeTempDir("isomorphic");
  const repository = { fs, dir };
  const remote = { ...repository, http, url };
  const commit = async (message: string): Promise<string> => {
    writeFileSync(join(dir, "file"), message);
    await isomorphic.add({ ...repository, filepath: "file" });
    return isomorphic.commit({ ...repository, message, author });
  };
  await isomorphic.init({ ...repository, defaultBranch: "main" });
  const first = await commit("First");
  expect((await isomorphic.push({ ...remote, ref: "main" })).ok).toBe(true);
  expect((await isomorphic.push({ ...remote, ref: "main", remoteRef: "refs/heads/topic" })).ok).toBe(true);
  await commit("Second");
  await isomorphic.push({ ...remote, ref: "main" });
  await isomorphic.writeRef({ ...repository, ref: "refs/heads/main", value: first, force: true });
  const other = await commit("Other");
  const { refs } = await isomorphic.push({ ...remote, ref: "main", force: true });
  expect(refs["refs/heads/main"]).toMatchObject({ ok: true });
  await isomorphic.branch({ ...repository, ref: "topic" });
  await isomorphic.push({ ...remote, ref: "topic", delete: true });

  const clone = join(makeTempDir("clone"), "clone.git");
  await git(dir, "clone", "-q", "--mirror", url, clone);
  await git(clone, "fsck", "--full", "--strict");
  expect(await listRefs(clone)).toBe(`${other} refs/heads/main`);
  const again = join(makeTempDir("clone"), "again");
  mkdirSync(again);
  await isomorphic.clone({ fs, http, url, dir: again });
  expect(await isomorphic.resolveRef({ fs, dir: again, ref: "HEAD" })).toBe(other);
});
