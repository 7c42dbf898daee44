// Forks, by stock git and the API: what they show, and what they leave of each other.
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { findProblems } from "../../harness/find-problems.ts";
import { git, tryGit } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";

let server: Pick<Server, "url">;
/** A history whose pack goes to R2, with branches and tags. */
let source: string;

interface Repository {
  readonly owner: string;
  readonly name: string;
  readonly parent: { readonly owner: string; readonly name: string } | null;
  readonly [field: string]: unknown;
}

beforeAll(async () => {
  server = await shareServer("forker");
  source = await makeHistory({ commits: 400, files: 60, branches: 4, merges: 2, tags: 6 });
});

const urlOf = (name: string): string => `${server.url}/forker/${name}.git`;
const ask = <Body = Repository>(method: string, path: string, json?: unknown) =>
  askApi<Body>(server, `/repos/forker${path}`, { method, ...(json === undefined ? {} : { json }) });

async function push(name: string, ...refspecs: string[]): Promise<void> {
  await git(source, "push", "-q", urlOf(name), ...(refspecs.length > 0 ? refspecs : ["refs/*:refs/*"]));
}

async function fork(parent: string, name: string, more: Record<string, unknown> = {}): Promise<Repository> {
  const { status, body, headers } = await ask("POST", `/${parent}/forks`, { name, ...more });
  expect({ status, body, location: headers.get("Location") }).toMatchObject({
    status: 201,
    location: `/api/repos/forker/${name}`,
  });
  return body;
}

async function mirror(name: string): Promise<string> {
  const dir = join(makeTempDir("mirror"), "m.git");
  await git(source, "clone", "-q", "--mirror", urlOf(name), dir);
  await git(dir, "fsck", "--strict");
  return dir;
}

const refsOf = (dir: string) => git(dir, "for-each-ref", "--format=%(objectname) %(refname)");
const objectsOf = async (dir: string): Promise<string[]> =>
  (await git(dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")).split("\n").toSorted();

/** Commits a file to a branch of a clone. @returns the commit's id */
async function commitTo(dir: string, branch: string, text: string): Promise<string> {
  const blob = await tryGit(dir, ["hash-object", "-w", "--stdin"], { stdin: text });
  const tree = await tryGit(dir, ["mktree"], { stdin: `100644 blob ${blob.stdout.trim()}\tfile\n` });
  const commit = await git(dir, "commit-tree", "-p", branch, "-m", "A commit", tree.stdout.trim());
  await git(dir, "update-ref", `refs/heads/${branch}`, commit);
  return commit;
}

test(
  "a fork has all of its parent at once, counts nothing of it, and takes pushes of its own",
  { tags: "sweep" },
  async () => {
    await push("whole");
    const parent = (await ask("GET", "/whole")).body;
    const forked = await fork("whole", "whole-fork");
    expect(forked).toMatchObject({
      parent: { owner: "forker", name: "whole" },
      visibility: parent["visibility"],
      defaultBranch: "main",
      objectCount: 0,
      expiresAt: null,
    });
    expect(forked["sharedBytes"]).toBeGreaterThan(100_000);
    expect(forked["sizeBytes"]).toBeLessThan((parent["sizeBytes"] as number) / 10);
    const dir = await mirror("whole-fork");
    expect(await refsOf(dir)).toBe(await refsOf(source));
    expect(await objectsOf(dir)).toEqual(await objectsOf(source));
    expect(await findProblems(urlOf("whole-fork"))).toEqual([]);

    // What is pushed to either is not in the other.
    const commit = await commitTo(dir, "main", "of the fork alone");
    const { stderr } = await tryGit(dir, ["push", "--progress", urlOf("whole-fork"), "main"]);
    expect(stderr).toMatch(/Writing objects: 100% \(3\/3\)/);
    expect((await ask("GET", `/whole-fork/commits/${commit}`)).status).toBe(200);
    expect((await ask("GET", `/whole/commits/${commit}`)).status).toBe(404);
    expect(await git(source, "ls-remote", urlOf("whole"), "main")).toContain(await git(source, "rev-parse", "main"));

    const { body } = await ask<{ forks: Repository[]; nextCursor: null }>("GET", "/whole/forks");
    expect(body.forks.map(({ name }) => name)).toEqual(["whole-fork"]);
  },
);

test("forks of forks, and forks whose parent is deleted, stay whole", { tags: "sweep" }, async () => {
  await push("first");
  await fork("first", "second");
  const dir = await mirror("second");
  await commitTo(dir, "main", "of the second");
  await git(dir, "push", "-q", urlOf("second"), "main");
  await fork("second", "third");
  expect((await ask("DELETE", "/first")).status).toBe(204);
  expect((await ask("GET", "/second")).body.parent).toBeNull();
  expect((await ask("DELETE", "/second")).status).toBe(204);
  const third = await mirror("third");
  expect(await refsOf(third)).toBe(await refsOf(dir));
  expect(await objectsOf(third)).toEqual(await objectsOf(dir));
  expect(await findProblems(urlOf("third"))).toEqual([]);
  // Their names are free.
  await push("first", "main");
});

test("a fork deletes itself when its time is over", { tags: "sweep" }, async () => {
  await push("lasting", "main");
  const expiresAt = new Date(Date.now() + 1_500).toISOString();
  expect(await fork("lasting", "passing", { expiresAt })).toMatchObject({ expiresAt });
  expect((await ask("GET", "/passing")).status).toBe(200);
  await expect.poll(async () => (await ask("GET", "/passing")).status).toBe(404);
  expect((await tryGit(source, ["ls-remote", urlOf("passing")])).code).not.toBe(0);
  expect((await ask("GET", "/lasting/forks")).body["forks"]).toEqual([]);
});

test("a fork is refused in words, and leaves nothing", async () => {
  await push("refusing", "main");
  const refused = async (json: unknown, parent = "refusing") => {
    const { status, body } = await ask<{ error: { message: string } }>("POST", `/${parent}/forks`, json);
    return [status, body.error.message];
  };
  expect(await refused({ name: "x" }, "missing")).toEqual([404, expect.any(String)]);
  expect(await refused({ name: "x", branches: ["none"] })).toEqual([404, expect.stringContaining("none")]);
  expect(await refused({ name: "refusing" })).toEqual([409, expect.stringContaining("exists")]);
  expect(await refused({ name: "x", expiresAt: "2001-01-01T00:00:00Z" })).toEqual([
    422,
    expect.stringContaining("passed"),
  ]);
  expect(await refused({ name: "x", visibility: "public" })).toEqual([422, expect.stringContaining("private")]);
  expect(await refused({ name: "x", branches: [] })).toEqual([422, expect.any(String)]);
  expect((await ask("GET", "/x")).status).toBe(404);
  expect((await ask("GET", "/refusing/forks")).body["forks"]).toEqual([]);
  // The name is free for another attempt.
  await fork("refusing", "x", { branches: ["main"] });
});

test("an empty repository can be forked", async () => {
  await askApi(server, "/repos", { method: "POST", json: { owner: "forker", name: "empty", defaultBranch: "trunk" } });
  expect(await fork("empty", "empty-fork")).toMatchObject({ defaultBranch: "trunk", objectCount: 0, sharedBytes: 0 });
  await push("empty-fork", "main:trunk");
});
