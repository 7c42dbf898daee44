// Forks, by stock git and the API: what they show, what they hide, and what they leave of each other.
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { findProblems } from "../harness/find-problems.ts";
import { git, tryGit } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { packOf } from "../harness/pack-builder.ts";
import { sendPush } from "../harness/raw-push.ts";
import { decodeTexts, DELIM, encodePkt, FLUSH, request } from "../harness/raw.ts";
import type { Server } from "../harness/server.ts";
import { shareServer } from "../harness/shared-server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

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

/** Which of the commits that a client says it has the server has, too. */
async function findCommon(name: string, want: string, haves: readonly string[]): Promise<string[]> {
  const lines = [`want ${want}`, ...haves.map((id) => `have ${id}`)].map((line) => encodePkt(`${line}\n`));
  const { status, body } = await request(`${urlOf(name)}/git-upload-pack`, {
    method: "POST",
    headers: { "content-type": "application/x-git-upload-pack-request", "git-protocol": "version=2" },
    body: Buffer.concat([encodePkt("command=fetch\n"), DELIM, ...lines, FLUSH]),
  });
  expect(status).toBe(200);
  const acknowledged = decodeTexts(body).filter((line) => line.startsWith("ACK "));
  return acknowledged.map((line) => line.slice(4).trim());
}

test("a fork has all of its parent at once, counts nothing of it, and takes pushes of its own", async () => {
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
});

test("a fork of some branches knows nothing of the others, whatever it is asked by id", async () => {
  await push("part");
  const dir = await mirror("part");
  // Pushed together, the shorter text becomes a delta on the longer one.
  const text = (await objectsOf(source)).join("\n");
  const secret = await commitTo(dir, "side-3", `${text}\nnobody else's\n`);
  await commitTo(dir, "side-0", text);
  await git(dir, "push", "-q", urlOf("part"), "side-3", "side-0");
  const secretTree = await git(dir, "rev-parse", `${secret}^{tree}`);
  const secretBlob = await git(dir, "rev-parse", `${secret}:file`);
  const forked = await fork("part", "part-fork", { branches: ["side-0"] });
  expect(forked).toMatchObject({ defaultBranch: "side-0" });

  const expected = join(makeTempDir("native"), "n.git");
  await git(source, "clone", "-q", "--bare", "--single-branch", "--branch", "side-0", `file://${dir}`, expected);
  const clone = await mirror("part-fork");
  expect(await refsOf(clone)).toBe(await refsOf(expected));
  expect(await objectsOf(clone)).toEqual(await objectsOf(expected));
  expect(await findProblems(urlOf("part-fork"))).toEqual([]);

  for (const id of [secret, await git(dir, "rev-parse", "main")]) {
    expect((await ask("GET", `/part-fork/commits/${id}`)).status).toBe(404);
    expect((await ask("GET", `/part-fork/commits/${id.slice(0, 12)}`)).status).toBe(404);
    expect((await tryGit(clone, ["fetch", urlOf("part-fork"), id])).stderr).toContain("not our ref");
  }
  // Nothing that the fork has not is known as common, nor may a ref point at it, although the bases
  // of its deltas are among that.
  const inFork = new Set(await objectsOf(clone));
  const hidden = (await objectsOf(dir)).filter((id) => !inFork.has(id));
  expect(hidden).toContain(secretBlob);
  const tip = await git(clone, "rev-parse", "side-0");
  expect(await findCommon("part-fork", tip, [tip, ...hidden])).toEqual([tip]);
  const commands = hidden.map((id) => ({ name: `refs/tags/stolen-${id}`, new: id }));
  const { unpack, refs } = await sendPush(urlOf("part-fork"), { commands, pack: packOf() });
  expect(unpack).toBe("ok");
  expect(refs.size).toBe(hidden.length);
  for (const reason of refs.values()) expect(reason).toContain("missing necessary objects");
  expect((await ask("GET", `/part-fork/git/trees/${secretTree}`)).status).toBe(404);
  expect((await ask("GET", `/part-fork/git/blobs/${secretBlob}`)).status).toBe(404);

  // The fork is a repository like any other: what it did not have can be pushed to it.
  await git(clone, "fetch", "-q", dir, secret);
  await git(clone, "push", "-q", urlOf("part-fork"), `${secret}:refs/heads/given`);
  expect(await git(clone, "ls-remote", urlOf("part-fork"), "given")).toContain(secret);
  const again = await mirror("part-fork");
  expect(await git(again, "rev-parse", "given")).toBe(secret);
  expect(await findProblems(urlOf("part-fork"))).toEqual([]);
});

test("forks of forks, and forks whose parent is deleted, stay whole", async () => {
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

test("a fork deletes itself when its time is over", async () => {
  await push("lasting", "main");
  const expiresAt = new Date(Date.now() + 1_500).toISOString();
  expect(await fork("lasting", "passing", { expiresAt })).toMatchObject({ expiresAt });
  expect((await ask("GET", "/passing")).status).toBe(200);
  await expect.poll(async () => (await ask("GET", "/passing")).status, { timeout: 30_000 }).toBe(404);
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
