import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, askApi } from "../../harness/api.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { hashObject } from "../../harness/raw.ts";
import { type Server, startServer } from "../../harness/server.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";

interface Made {
  readonly kind: string;
  readonly branch: string;
  readonly commit: string;
  readonly tree: string;
  readonly parents: string[];
  readonly files: { path: string; mode: string | null; oid: string | null }[];
}

const ADA = { name: "Ada Example", email: "ada@example.com", date: "2023-11-14T23:13:20+01:00" };

let server: Server;
let source: string;
let count = 0;

beforeAll(async () => {
  server = await startServer();
  source = await makeRepository("source");
  await mkdir(join(source, "dir/sub"), { recursive: true });
  await writeFile(join(source, "readme"), "one\ntwo\nthree\n");
  await writeFile(join(source, "dir/script"), "#!/bin/sh\n", { mode: 0o755 });
  await writeFile(join(source, "dir/file"), "file\n");
  await writeFile(join(source, "dir/sub/deep"), "deep\n");
  await writeFile(join(source, "dir.x"), "between dir and dir/\n");
  await symlink("readme", join(source, "link"));
  await git(source, "add", ".");
  await git(source, "commit", "-q", "-m", "first");
});

afterAll(() => server.close());

/** A repository of its own on the server, with the source's history. */
async function push(): Promise<{ path: string; url: string; tip: string }> {
  const name = `repo-${count++}`;
  const url = `${server.url}/me/${name}.git`;
  await git(source, "push", "-q", url, "main");
  return { path: `/repos/me/${name}`, url, tip: await git(source, "rev-parse", "main") };
}

function commit(path: string, operations: unknown, further: object = {}): Promise<Answer<Made>> {
  const json = { branch: "main", message: "Change", author: ADA, operations, ...further };
  return askApi<Made>(server, `${path}/commits`, { method: "POST", json });
}

async function clone(url: string): Promise<string> {
  const dir = join(makeTempDir("clone"), "clone");
  await git(".", "clone", "-q", url, dir);
  await git(dir, "fsck", "--strict", "--no-dangling");
  return dir;
}

const put = (path: string, content: string, further: object = {}) => ({ op: "put", path, content, ...further });

test("one commit changes, adds, moves and deletes files as git would", async () => {
  const { path, url, tip } = await push();
  const answer = await commit(
    path,
    [
      put("readme", "one\nTWO\nthree\n"),
      put("dir/script", "#!/bin/sh\nexit\n"),
      put("link", "dir/file"),
      put("new/deeper/file", Buffer.from([0, 255, 10]).toString("base64"), { encoding: "base64" }),
      put("run", "#!\n", { mode: "100755" }),
      { op: "move", from: "dir/sub", to: "dir0/moved" },
      { op: "mode", path: "dir/file", mode: "100755" },
      { op: "delete", path: "dir.x" },
    ],
    { message: "Änder alles", committer: { name: "Bö", email: "b@example.com", date: "2024-01-01T00:00:00Z" } },
  );
  expect(answer).toMatchObject({ status: 201, body: { kind: "fast-forward", branch: "main", parents: [tip] } });
  const dir = await clone(url);
  expect(await git(dir, "rev-parse", "HEAD", "HEAD^{tree}")).toBe(`${answer.body.commit}\n${answer.body.tree}`);
  expect(await git(dir, "ls-tree", "-r", "HEAD")).toBe(
    [
      ["100755", "dir/file", "file\n"],
      ["100755", "dir/script", "#!/bin/sh\nexit\n"],
      ["100644", "dir0/moved/deep", "deep\n"],
      ["120000", "link", "dir/file"],
      ["100644", "new/deeper/file", Buffer.from([0, 255, 10])],
      ["100644", "readme", "one\nTWO\nthree\n"],
      ["100755", "run", "#!\n"],
    ]
      .map(([mode, name, content]) => `${mode as string} blob ${blobOid(content!)}\t${name as string}`)
      .join("\n"),
  );
  expect(await git(dir, "log", "-1", "--format=%an|%ae|%ai|%cn|%ci|%B")).toBe(
    "Ada Example|ada@example.com|2023-11-14 23:13:20 +0100|Bö|2024-01-01 00:00:00 +0000|Änder alles\n",
  );
  expect(answer.body.files).toEqual(
    expect.arrayContaining([
      { path: "run", mode: "100755", oid: blobOid("#!\n") },
      { path: "dir/sub", mode: null, oid: null },
      { path: "dir0/moved", mode: "040000", oid: await git(dir, "rev-parse", "HEAD:dir0/moved") },
    ]),
  );
});

function blobOid(content: string | Buffer): string {
  return hashObject("blob", Buffer.from(content as string));
}

test(
  "files of thousands in one folder are changed by deltas, and folders go with their last file",
  { tags: "sweep" },
  async () => {
    const { path, url } = await push();
    const names = Array.from({ length: 300 }, (_, i) => `many/file-${i}`);
    const first = await commit(
      path,
      names.map((name) => put(name, `${name}\n`)),
    );
    expect(first.status).toBe(201);
    for (const name of ["many/file-0", "many/file-299", "many/a-new-one", "many/zzz", "many/file-1.x/below"]) {
      expect(await commit(path, [put(name, "changed\n")])).toMatchObject({ status: 201 });
    }
    await commit(path, [
      { op: "delete", path: "many/file-17" },
      { op: "delete", path: "many/file-18" },
      put("many/file-18/now/a/folder", "x"),
    ]);
    const dir = await clone(url);
    expect((await git(dir, "ls-tree", "-r", "--name-only", "HEAD", "many")).split("\n")).toHaveLength(302);
    const emptied = await commit(path, [
      { op: "delete", path: "many" },
      { op: "delete", path: "dir/sub/deep" },
      put("dir/sub", "a file now\n"),
    ]);
    expect(emptied).toMatchObject({ status: 201 });
    await git(dir, "pull", "-q");
    await git(dir, "fsck", "--strict");
    expect(await git(dir, "ls-tree", "-r", "--name-only", "HEAD")).toBe(
      ["dir.x", "dir/file", "dir/script", "dir/sub", "link", "readme"].join("\n"),
    );
  },
);

test("what changes nothing is no commit, unless that is wanted", async () => {
  const { path, tip } = await push();
  expect(await commit(path, [put("readme", "one\ntwo\nthree\n")])).toMatchObject({
    status: 200,
    body: { kind: "unchanged", commit: tip, files: [{ path: "readme", mode: "100644" }] },
  });
  const empty = await commit(path, [], { allowEmpty: true });
  expect(empty).toMatchObject({ status: 201, body: { kind: "fast-forward", parents: [tip], files: [] } });
});

test("a branch is begun where it is asked to", async () => {
  const { path, url, tip } = await push();
  const absent = await commit(path, [put("new", "x")], { branch: "topic/new" });
  expect(absent).toMatchObject({ status: 404, body: { error: { code: "not-found", field: "branch" } } });
  const begun = await commit(path, [put("new", "x")], { branch: "topic/new", startPoint: "HEAD" });
  expect(begun).toMatchObject({ status: 201, body: { kind: "fast-forward", parents: [tip], branch: "topic/new" } });
  const again = await commit(path, [put("more", "x")], { branch: "topic/new", startPoint: "main" });
  expect(again.body.parents).toEqual([begun.body.commit]);
  expect(await git(".", "ls-remote", url, "topic/new")).toBe(`${again.body.commit}\trefs/heads/topic/new`);
  const nowhere = await commit(path, [put("new", "x")], { branch: "other", startPoint: "nowhere" });
  expect(nowhere).toMatchObject({ status: 404 });
});

test("a change made for an older commit goes on top, or is refused", async () => {
  const { path, url, tip } = await push();
  const { body: next } = await commit(path, [put("readme", "changed\n")]);
  const stale = await commit(path, [put("dir/file", "x")], { base: tip, onConflict: "fail" });
  expect(stale).toMatchObject({ status: 409, body: { error: { code: "stale" } } });
  const rebased = await commit(path, [put("dir/file", "x"), { op: "move", from: "dir/sub", to: "sub" }], { base: tip });
  expect(rebased).toMatchObject({ status: 201, body: { kind: "rebased", parents: [next.commit] } });
  const onTip = await commit(path, [put("dir/file", "y")], { base: rebased.body.commit, onConflict: "fail" });
  expect(onTip).toMatchObject({ status: 201, body: { kind: "fast-forward" } });
  const dir = await clone(url);
  expect(await git(dir, "show", "HEAD:readme", "HEAD:dir/file", "HEAD:sub/deep")).toBe("changed\nydeep");
  expect(await git(dir, "log", "--format=%P", "-1", "HEAD~1")).toBe(next.commit);
});

test("changes of the same files are merged by line, or answered with what is in conflict", async () => {
  const { path, url, tip } = await push();
  const { body: next } = await commit(path, [put("readme", "ONE\ntwo\nthree\n"), put("dir/sub/more", "m")]);
  const merged = await commit(path, [put("readme", "one\ntwo\nTHREE\n"), { op: "delete", path: "dir/sub/deep" }], {
    base: tip,
  });
  expect(merged).toMatchObject({ status: 201, body: { kind: "rebased", parents: [next.commit] } });
  expect(merged.body.files).toEqual([
    { path: "readme", mode: "100644", oid: blobOid("ONE\ntwo\nTHREE\n") },
    { path: "dir/sub/deep", mode: null, oid: null },
  ]);
  const conflict = await commit(path, [put("readme", "one!\ntwo\nthree\n"), put("dir/file", "x"), put("dir", "y")], {
    base: tip,
  });
  expect(conflict).toMatchObject({ status: 409, body: { error: { field: "operations.2.path" } } });
  const lines = await commit(path, [put("readme", "one!\ntwo\nthree\n"), put("dir/file", "x")], { base: tip });
  expect(lines).toMatchObject({
    status: 409,
    body: {
      error: {
        code: "conflict",
        conflictCount: 1,
        conflicts: [
          {
            path: "readme",
            kind: "content",
            base: { mode: "100644", oid: blobOid("one\ntwo\nthree\n") },
            theirs: { oid: blobOid("one!\ntwo\nthree\n") },
            hunks: [{ ours: { start: 1, count: 1, text: "ONE\n" }, theirs: { start: 1, count: 1, text: "one!\n" } }],
          },
        ],
      },
    },
  });
  // A file in place of the branch's directory, and the reverse.
  await commit(path, [{ op: "delete", path: "dir.x" }, put("dir.x/file", "x")]);
  for (const operations of [[put("dir.x", "y")], [{ op: "delete", path: "readme" }, put("readme/a", "x")]]) {
    expect(await commit(path, operations, { base: tip })).toMatchObject({
      status: 409,
      body: { error: { code: "conflict" } },
    });
  }
  const dir = await clone(url);
  expect(await git(dir, "rev-list", "--count", "HEAD")).toBe("4");
});

test.each([
  [[put("", "x")], 422, "operations.0.path"],
  [[put("/a", "x")], 422, "operations.0.path"],
  [[put("a//b", "x")], 422, "operations.0.path"],
  [[put("a/", "x")], 422, "operations.0.path"],
  [[put("a\0b", "x")], 422, "operations.0.path"],
  [[put("a/../.git/config", "x")], 422, "operations.0.path"],
  [[put("ok", "x"), put("a/./b", "x")], 422, "operations.1.path"],
  [[put(".git", "x")], 422, "operations.0.path"],
  [[put("a/.GIT/config", "x")], 422, "operations.0.path"],
  [[put(".g\u200cit/config", "x")], 422, "operations.0.path"],
  [[put("git~1/config", "x")], 422, "operations.0.path"],
  [[put(".git /config", "x")], 422, "operations.0.path"],
  [[put(".git::$INDEX_ALLOCATION/config", "x")], 422, "operations.0.path"],
  [[put("a\\.git\\config", "x")], 422, "operations.0.path"],
  [[put("a".repeat(5_000), "x")], 422, "operations.0.path"],
  [[put("\ud800", "x")], 422, "operations.0.path"],
  [[put("a", "\ud800")], 422, "operations.0.content"],
  [[put("a", "*", { encoding: "base64" })], 422, "operations.0.content"],
  [[put("a", "x", { mode: "160000" })], 422, "operations.0.mode"],
  [[put("a", "x", { encoding: "latin1" })], 422, "operations.0.encoding"],
  [[{ op: "copy", path: "a" }], 422, "operations.0.op"],
  [[{ op: "move", from: "dir", to: "dir/sub/dir" }], 422, "operations.0.to"],
  [[{ op: "move", from: "readme", to: ".git/config" }], 422, "operations.0.to"],
  [[], 422, "operations"],
  [[put("readme/below", "x")], 409, "operations.0.path"],
  [[put("link/below", "x")], 409, "operations.0.path"],
  [[put("dir", "x")], 409, "operations.0.path"],
  [[put("a", "x"), put("a/b", "x")], 409, "operations.1.path"],
  [[{ op: "move", from: "readme", to: "dir/file" }], 409, "operations.0.to"],
  [[{ op: "mode", path: "dir", mode: "100755" }], 409, "operations.0.path"],
  [[{ op: "delete", path: "nothing" }], 404, "operations.0.path"],
  [[{ op: "delete", path: "readme/below" }], 404, "operations.0.path"],
  [[{ op: "move", from: "nothing", to: "a" }], 404, "operations.0.from"],
  [[{ op: "mode", path: "nothing", mode: "100755" }], 404, "operations.0.path"],
])("%j is refused as %i at %s", async (operations, status, field) => {
  const refused = await commit(await bad(), operations);
  expect(refused).toMatchObject({ status, body: { error: { code: expect.any(String), field } } });
});

test.each([
  [{ branch: "a..b" }, "branch"],
  [{ branch: "refs/../heads" }, "branch"],
  [{ branch: "" }, "branch"],
  [{ message: " \n" }, "message"],
  [{ message: "a\0b" }, "message"],
  [{ author: { name: "a", email: "<b>" } }, "author.email"],
  [{ author: { name: " ", email: "b" } }, "author.name"],
  [{ author: { name: "a\nb", email: "b" } }, "author.name"],
  [{ author: { name: "a", email: "b", date: "yesterday" } }, "author.date"],
  [{ author: { name: "a", email: "b", date: "1969-01-01T00:00:00Z" } }, "author.date"],
  [{ onConflict: "ours" }, "onConflict"],
])("%j is refused with 422", async (further, field) => {
  const refused = await commit(await bad(), [put("a", "x")], further);
  expect(refused).toMatchObject({ status: 422, body: { error: { code: "invalid", field } } });
});

test("files that git itself would not take are refused as in a push", async () => {
  const path = await bad();
  const modules = '[submodule "a"]\n\tpath = a\n\turl = -u./payload\n';
  expect(await commit(path, [put(".gitmodules", modules)])).toMatchObject({
    status: 422,
    body: { error: { code: "bad-object" } },
  });
  const link = put(".gitmodules", "x", { mode: "120000" });
  expect(await commit(path, [link])).toMatchObject({ status: 422 });
});

let badPath: string | undefined;

/** A repository that never changes. */
async function bad(): Promise<string> {
  return (badPath ??= (await push()).path);
}

test("after all refusals the branch is where it was", async () => {
  const answer = await commit(await bad(), [put("readme", "one\ntwo\nthree\n")]);
  expect(answer.body).toMatchObject({ kind: "unchanged", commit: await git(source, "rev-parse", "main") });
});

test("many who write to one branch at a time all get through, a git client among them", { tags: "sweep" }, async () => {
  const { path, url } = await push();
  const dir = await clone(url);
  const writers = Array.from({ length: 20 }, async (_, writer) => {
    for (let round = 0; round < 3; round++) {
      const answer = await commit(path, [
        put(`notes/${writer}/${round}`, `${writer} ${round}\n`),
        put("last", `${writer} ${round}`),
      ]);
      expect(answer).toMatchObject({ status: 201, body: { kind: "fast-forward" } });
    }
  });
  const pusher = async (): Promise<void> => {
    for (let round = 0; round < 3; round++) {
      await git(dir, "commit", "-q", "--allow-empty", "-m", `push ${round}`);
      for (;;) {
        await git(dir, "pull", "-q", "--rebase");
        if ((await tryGit(dir, ["push", "-q"])).code === 0) break;
      }
    }
  };
  await Promise.all([...writers, pusher()]);
  await git(dir, "pull", "-q", "--rebase");
  await git(dir, "fsck", "--strict");
  expect(await git(dir, "rev-list", "--count", "HEAD")).toBe("64");
  expect((await git(dir, "ls-tree", "-r", "--name-only", "HEAD", "notes")).split("\n")).toHaveLength(60);
  const pushes = server.takeEvents().flatMap((event) => {
    if (event.event === "push") return [event];
    return event.event === "call" ? (event.pushes ?? []) : [];
  });
  expect(pushes.length).toBeGreaterThan(60);
  for (const { operations } of pushes) expect(operations).toMatchObject({ puts: 0, parts: 0, gets: 0 });
});

test("what was acknowledged is there after a crash", { tags: "sweep" }, async () => {
  const { path, url } = await push();
  const acknowledged: [name: string, oid: string][] = [];
  const write = async (writer: number): Promise<void> => {
    for (let round = 0; ; round++) {
      const { body } = await commit(path, [put(`${writer}/${round}`, "x")]);
      acknowledged.push([`${writer}/${round}`, body.commit]);
    }
  };
  const ended = Promise.allSettled([0, 1, 2, 3].map(write));
  await expect.poll(() => acknowledged.length).toBeGreaterThan(20);
  await server.kill();
  await ended;
  await server.restart();
  const dir = await clone(url);
  const commits = (await git(dir, "rev-list", "HEAD")).split("\n");
  expect(commits).toEqual(expect.arrayContaining(acknowledged.map(([, oid]) => oid)));
  const names = (await git(dir, "ls-tree", "-r", "--name-only", "HEAD")).split("\n");
  expect(names).toEqual(expect.arrayContaining(acknowledged.map(([name]) => name)));
  expect(await commit(path, [put("after", "x")])).toMatchObject({ status: 201 });
});
