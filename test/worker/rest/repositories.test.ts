import { beforeAll, expect, test } from "vitest";
import { join } from "node:path";
import { askApi } from "../../harness/api.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";

let server: Pick<Server, "url">;
/** A repository of one commit on `main`. */
let source: string;

beforeAll(async () => {
  server = await shareServer("ann");
  source = await makeRepository("source");
  await git(source, "commit", "-q", "--allow-empty", "-m", "first");
});

interface Repository {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly [field: string]: unknown;
}

const ask = (method: string, path: string, json?: unknown) =>
  askApi<Repository>(server, path, { method, ...(json === undefined ? {} : { json }) });
const create = (owner: string, name: string, more = {}) => ask("POST", "/repos", { owner, name, ...more });
const urlOf = (path: string) => `${server.url}/${path}.git`;
const push = (path: string, ...refs: string[]) =>
  git(source, "push", "-q", urlOf(path), ...(refs.length ? refs : ["main"]));

/** The names in a list, page by page. */
async function list(path: string, limit = 100): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | null = null;
  do {
    const query = `?limit=${limit}${cursor === null ? "" : `&cursor=${cursor}`}`;
    const page: { repositories: Repository[]; nextCursor: string | null } = (
      await askApi<{ repositories: Repository[]; nextCursor: string | null }>(server, `${path}${query}`)
    ).body;
    pages.push(page.repositories.map(({ owner, name }) => `${owner}/${name}`));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return pages;
}

test("an empty repository is created, cloned, pushed to, and tells of it", async () => {
  const more = { description: "A first one", defaultBranch: "trunk", visibility: "public" };
  const created = await create("ann", "Empty", more);
  expect(created).toMatchObject({
    status: 201,
    body: { owner: "ann", name: "Empty", ...more, pushedAt: null, sizeBytes: 0, objectCount: 0 },
  });
  expect(created.headers.get("Location")).toBe("/api/repos/ann/Empty");
  expect((await ask("GET", "/repos/ann/Empty")).body).toEqual(created.body);
  for (const version of ["0", "2"]) {
    const clone = join(makeTempDir("clone"), "clone");
    const { code, stderr } = await tryGit(source, [
      "-c",
      `protocol.version=${version}`,
      "clone",
      urlOf("ann/Empty"),
      clone,
    ]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("You appear to have cloned an empty repository")]);
    if (version === "2") expect(await git(clone, "symbolic-ref", "HEAD")).toBe("refs/heads/trunk");
  }
  await push("ann/Empty", "main:trunk");
  expect(await git(source, "ls-remote", "--symref", urlOf("ann/Empty"), "HEAD")).toContain(
    "ref: refs/heads/trunk\tHEAD",
  );
  await expect
    .poll(async () => (await ask("GET", "/repos/ann/Empty")).body)
    .toMatchObject({ id: created.body.id, objectCount: 2, pushedAt: expect.any(String), defaultBranch: "trunk" });
});

test("HEAD of a repository that nobody chose a branch for follows the first push", async () => {
  await create("ann", "follows");
  await push("ann/follows", "main:refs/heads/master");
  expect(await git(source, "ls-remote", "--symref", urlOf("ann/follows"), "HEAD")).toContain("ref: refs/heads/master");
});

test("a push creates, and what is listed is there: without a look at any repository", async () => {
  await push("bob/b");
  await push("bob/A");
  await create("bob", "c");
  expect(await list("/repos/bob")).toEqual([["bob/A", "bob/b", "bob/c"]]);
  expect(await list("/repos/BOB", 2)).toEqual([["bob/A", "bob/b"], ["bob/c"]]);
  expect(await list("/repos/nobody")).toEqual([[]]);
  const all = (await list("/repos", 2)).flat();
  expect(all).toEqual(expect.arrayContaining(["bob/A", "bob/b", "bob/c"]));
  expect(new Set(all).size).toBe(all.length);
});

test("a push that comes to nothing leaves no repository", async () => {
  const { code } = await tryGit(source, ["push", urlOf("bob/nothing"), "main:refs/heads/bad..name"]);
  expect(code).not.toBe(0);
  const atomic = await tryGit(source, [
    "push",
    urlOf("bob/nothing"),
    "main:refs/heads/x",
    "main:refs/heads/x/y",
    "--atomic",
  ]);
  expect(atomic.code).not.toBe(0);
  expect((await ask("GET", "/repos/bob/nothing")).status).toBe(404);
  expect((await tryGit(source, ["ls-remote", urlOf("bob/nothing")])).stderr).toContain("not found");
  expect((await list("/repos/bob")).flat()).not.toContain("bob/nothing");
  // The name is still free.
  expect((await create("bob", "nothing")).status).toBe(201);
});

test("a renamed repository is found by both names, until another may have the old one", async () => {
  await push("cat/old");
  const { id } = (await ask("GET", "/repos/cat/old")).body;
  await git(source, "remote", "add", "old", urlOf("cat/old"));
  const renamed = await ask("PATCH", "/repos/cat/old", { owner: "Cats", name: "new", description: "Moved" });
  expect(renamed).toMatchObject({ status: 200, body: { id, owner: "Cats", name: "new", description: "Moved" } });
  expect(await list("/repos/cat")).toEqual([[]]);
  expect(await list("/repos/cats")).toEqual([["Cats/new"]]);
  await git(source, "commit", "-q", "--allow-empty", "-m", "after the renaming");
  await git(source, "push", "-q", "old", "main");
  const [tip] = (await git(source, "ls-remote", urlOf("Cats/new"), "main")).split("\t");
  expect(tip).toBe(await git(source, "rev-parse", "main"));
  expect((await ask("GET", "/repos/cat/old")).body).toMatchObject({ id, owner: "Cats" });
  // An isolate may still cache the old repository under that name.
  const refused = await create("cat", "old");
  expect(refused).toMatchObject({ status: 409, body: { error: { code: "conflict", field: "name" } } });
  expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(0);
  expect((await ask("PATCH", "/repos/Cats/new", { owner: "cat", name: "old" })).status).toBe(200);
});

test("a deleted repository is gone at once, also from names that are taken anew at once", async () => {
  await push("dan/gone");
  const before = (await ask("GET", "/repos/dan/gone")).body;
  expect((await ask("DELETE", "/repos/dan/gone")).status).toBe(204);
  for (const path of ["/repos/dan/gone", "/repos/dan/gone/maintenance"])
    expect((await ask("GET", path)).status).toBe(404);
  expect((await ask("DELETE", "/repos/dan/gone")).status).toBe(404);
  expect((await tryGit(source, ["ls-remote", urlOf("dan/gone")])).stderr).toContain("not found");
  await push("dan/gone", "main:refs/heads/other");
  expect((await ask("GET", "/repos/dan/gone")).body["id"]).not.toBe(before.id);
  expect(await git(source, "ls-remote", urlOf("dan/gone"))).not.toContain("refs/heads/main");
  expect((await ask("DELETE", "/repos/dan/gone")).status).toBe(204);
  expect((await create("dan", "gone")).status).toBe(201);
  expect(await git(source, "ls-remote", urlOf("dan/gone"))).toBe("");
});

test("the default branch is one that exists", async () => {
  await push("eve/branches", "main", "main:refs/heads/süß");
  const change = (json: object) => ask("PATCH", "/repos/eve/branches", json);
  expect(await change({ defaultBranch: "nowhere", description: "no" })).toMatchObject({
    status: 422,
    body: { error: { code: "invalid", field: "defaultBranch" } },
  });
  expect(await change({ defaultBranch: "süß" })).toMatchObject({ status: 200, body: { defaultBranch: "süß" } });
  expect((await ask("GET", "/repos/eve/branches")).body).toMatchObject({ defaultBranch: "süß", description: null });
  expect(await git(source, "ls-remote", "--symref", urlOf("eve/branches"), "HEAD")).toContain("refs/heads/süß");
});

test("names that nobody may have, and those that somebody has", async () => {
  await create("fay", "Taken");
  const bad = ["..", ".", ".git", "x.git", "a/b", "a%2fb", "a\0b", "", "x".repeat(300), "ä", "a b"];
  for (const name of bad) {
    for (const [field, body] of Object.entries({ name: { owner: "fay", name }, owner: { owner: name, name: "x" } })) {
      const { status, body: answer } = await ask("POST", "/repos", body);
      expect([name, status, answer]).toMatchObject([name, 422, { error: { code: "invalid", field } }]);
    }
    expect((await ask("PATCH", "/repos/fay/Taken", { name })).status).toBe(422);
  }
  expect((await create("api", "x")).status).toBe(422);
  expect((await create("fay", "Taken")).status).toBe(409);
  expect((await create("Fay", "taken")).status).toBe(422);
  await create("fay", "other");
  expect((await ask("PATCH", "/repos/fay/other", { name: "Taken" })).status).toBe(409);
  expect((await ask("PATCH", "/repos/fay/Taken", { name: "taken" })).body).toMatchObject({ name: "taken" });
  // Names mean the same repository in upper and lower case.
  await push("FAY/taken");
  expect(await git(source, "ls-remote", urlOf("fay/Taken"), "main")).not.toBe("");
});

test("fields are checked, each by itself", async () => {
  const bad = {
    description: ["x".repeat(1_001), 7],
    visibility: ["secret", null],
    defaultBranch: ["", "-x", "a..b", "HEAD", "x".repeat(2_000), "a\nb"],
    unknown: [1],
  };
  for (const [field, values] of Object.entries(bad)) {
    for (const value of values) {
      const { status, body } = await create("gil", "x", { [field]: value });
      expect([field, value, status, body]).toMatchObject([field, value, 422, { error: { code: "invalid" } }]);
    }
  }
  expect((await ask("GET", "/repos/gil/x")).status).toBe(404);
  for (const query of ["limit=0", "limit=-1", "limit=1e99", "limit=x", "cursor=%00", "cursor=e30"]) {
    expect([query, (await ask("GET", `/repos?${query}`)).status]).toEqual([query, 422]);
  }
  expect((await ask("GET", "/repos/..%2f/x")).status).toBe(404);
});
