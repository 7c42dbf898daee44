import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { type Answer, askApi } from "../../harness/api.ts";
import { git, makeRepository } from "../../harness/git.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";

interface Moved {
  readonly kind: string;
  readonly branch: string;
  readonly commit: string | null;
  readonly tree: string;
  readonly parents: string[];
}

interface Failed {
  readonly error: { code: string; field?: string; conflicts?: { path: string; kind: string; hunks: object[] }[] };
}

/** The author and date of commits by the tests' git. */
const ADA = { name: "Ada Example", email: "ada@example.com", date: "2023-11-14T23:13:20+01:00" };

const text = (changes: Record<number, string> = {}): string =>
  Array.from({ length: 20 }, (_, i) => `${changes[i] ?? `line ${i}`}\n`).join("");

let server: Pick<Server, "url">;
let source: string;
let path: string;

/** Changes files in git's worktree (null removes one), and commits. */
async function commit(message: string, files: Record<string, string | null>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const file = join(source, name);
    await mkdir(join(file, ".."), { recursive: true });
    await (content === null ? rm(file) : writeFile(file, content));
  }
  await git(source, "add", "-A");
  const author = ["--author", "Au Thor <author@example.com>", "--date", "1690000000 -0330"];
  await git(source, "commit", "-q", "-m", message, ...author);
}

beforeAll(async () => {
  server = await shareServer("merges");
  source = await makeRepository("source");
  path = "/repos/merges/source";
  await commit("first", { a: text(), "dir/b": text(), c: "c\n" });
  await git(source, "checkout", "-q", "-b", "topic");
  await commit("topic\n\nWith more to say.", { a: text({ 2: "topic" }), "dir/new": "new\n" });
  await git(source, "checkout", "-q", "-b", "rival", "main");
  await commit("rival", { a: text({ 2: "rival" }), c: null });
  await git(source, "checkout", "-q", "-b", "moving", "main");
  await commit("moving", { "dir/b": null, "dir/B": text({ 1: "moved" }) });
  await git(source, "checkout", "-q", "main");
  await commit("second", { a: text({ 17: "main" }), "dir/b": text({ 17: "main" }), c: "C\n" });
  await git(source, "tag", "v1", "moving");
  await git(source, "checkout", "-q", "-b", "merged");
  await git(source, "merge", "-q", "--no-edit", "topic");
  await git(source, "push", "-q", `${server.url}/merges/source.git`, "--all");
  await git(source, "push", "-q", `${server.url}/merges/source.git`, "--tags");
});

let branches = 0;

/** A new branch, locally and on the server. */
async function branch(from: string, name = `branch-${branches++}`): Promise<string> {
  await git(source, "checkout", "-q", "-B", name, from);
  await git(source, "push", "-q", `${server.url}/merges/source.git`, name);
  return name;
}

const post = <Body = Moved>(route: string, json: object): Promise<Answer<Body>> =>
  askApi<Body>(server, `${path}/${route}`, { method: "POST", json });

const merge = <Body = Moved>(base: string, head: string, further: object = {}) =>
  post<Body>("merge", { base, head, author: ADA, ...further });

/** The commit of a branch on the server. */
async function remote(name: string): Promise<string> {
  return (await git(source, "ls-remote", `${server.url}/merges/source.git`, `refs/heads/${name}`)).slice(0, 40);
}

const local = (revision: string): Promise<string> => git(source, "rev-parse", "--verify", revision);

/** Expects the server's branch to equal the local one that git made. */
async function expectAsGit(answer: Answer<Moved>, name: string, kind: string): Promise<void> {
  expect(answer).toMatchObject({ status: 201, body: { kind, branch: name, dryRun: false } });
  expect(answer.body.commit).toBe(await local(name));
  expect(await remote(name)).toBe(answer.body.commit);
  expect(answer.body.tree).toBe(await local(`${name}^{tree}`));
  expect(answer.body.parents.join(" ")).toBe(await git(source, "log", "-1", "--format=%P", name));
}

test.each([
  ["a branch", "main", "topic"],
  ["a branch that renamed a file", "main", "moving"],
  ["a tag", "main", "v1"],
  ["a commit", "main", "id of topic"],
  ["a branch by its full name", "moving", "refs/heads/topic"],
])("merging %s makes the very commit that git makes", async (_, from, what) => {
  const head = what.startsWith("id of ") ? await local(what.slice(6)) : what;
  const inAny = await branch(from);
  const answer = await merge(inAny, head);
  await git(source, "merge", "-q", "--no-edit", head.replace("refs/heads/", ""));
  await expectAsGit(answer, inAny, "merge");
});

test("messages do not name the branches that git does not name", async () => {
  const name = await branch("main", "master");
  const answer = await merge(name, "topic");
  await git(source, "merge", "-q", "--no-edit", "topic");
  await expectAsGit(answer, name, "merge");
});

test("a merge takes a message, and a committer of its own", async () => {
  const name = await branch("main");
  const committer = { name: "Bö", email: "b@example.com", date: "2024-01-01T00:00:00Z" };
  const { body } = await merge(name, "topic", { message: "Bring it in", committer });
  await git(source, "fetch", "-q", `${server.url}/merges/source.git`, name);
  const shown = await git(source, "log", "-1", "--format=%an %ae %aI %cn %ce %cI %B", body.commit!);
  expect(shown).toBe(`${ADA.name} ${ADA.email} ${ADA.date} Bö b@example.com 2024-01-01T00:00:00+00:00 Bring it in\n`);
  await git(source, "fsck", "--strict", "--no-dangling");
});

test("a branch that is behind is moved, if it may; one that is ahead stays", async () => {
  const [first, main] = [await local("main~1"), await local("main")];
  const name = await branch("main~1");
  expect(await merge(name, "main", { dryRun: true })).toMatchObject({
    status: 200,
    body: { kind: "fast-forward", commit: main, dryRun: true },
  });
  expect(await remote(name)).toBe(first);
  expect(await merge(name, "main", { fastForward: "only" })).toMatchObject({
    status: 200,
    body: { kind: "fast-forward", commit: main, parents: [first] },
  });
  expect(await remote(name)).toBe(main);
  expect(await merge(name, "main~1")).toMatchObject({ status: 200, body: { kind: "up-to-date", commit: main } });
  expect(await merge(name, "topic", { fastForward: "only" })).toMatchObject({
    status: 409,
    body: { error: { code: "conflict" } },
  });
  const other = await branch("main~1");
  const answer = await merge(other, "main", { fastForward: "never" });
  await git(source, "merge", "-q", "--no-edit", "--no-ff", "main");
  await expectAsGit(answer, other, "merge");
});

test("conflicts are told with their hunks, and nothing changes", async () => {
  for (const dryRun of [false, true]) {
    const name = await branch("topic");
    const answer = await merge<Failed>(name, "rival", { dryRun });
    expect(answer).toMatchObject({ status: 409, body: { error: { code: "conflict", conflictCount: 1 } } });
    expect(answer.body.error.conflicts).toMatchObject([
      {
        path: "a",
        kind: "content",
        base: { mode: "100644", oid: await local("main~1:a") },
        ours: { oid: await local("topic:a") },
        theirs: { oid: await local("rival:a") },
        hunks: [
          { base: { start: 3, count: 1, text: "line 2\n" }, ours: { text: "topic\n" }, theirs: { text: "rival\n" } },
        ],
        truncated: false,
      },
    ]);
    expect(await remote(name)).toBe(await local("topic"));
  }
  const main = await branch("main");
  expect((await merge<Failed>(main, "rival")).body.error.conflicts).toMatchObject([
    { path: "c", kind: "modify/delete", ours: { mode: "100644" }, theirs: null, hunks: [] },
  ]);
});

test("a change is picked with its author and message, as git does", async () => {
  const pick = (name: string, further: object) => post("cherry-pick", { branch: name, committer: ADA, ...further });
  const name = await branch("main");
  const dry = await pick(name, { commit: "topic", dryRun: true });
  const answer = await pick(name, { commit: "topic" });
  await git(source, "cherry-pick", "topic");
  await expectAsGit(answer, name, "picked");
  expect(dry).toMatchObject({
    status: 200,
    body: { kind: "picked", commit: null, tree: answer.body.tree, dryRun: true },
  });
  expect(await pick(name, { commit: "topic" })).toMatchObject({
    status: 200,
    body: { kind: "unchanged", commit: await local(name) },
  });
  const ofMerge = await branch("moving");
  const picked = await pick(ofMerge, { commit: "merged", mainline: 1 });
  await git(source, "cherry-pick", "-m", "1", "merged");
  await expectAsGit(picked, ofMerge, "picked");
  expect(await pick(name, { commit: "rival" })).toMatchObject({
    status: 409,
    body: { error: { conflicts: [{ path: "a" }, { path: "c" }] } },
  });
});

test("a change is taken back, as git does", async () => {
  const revert = (name: string, further: object) => post("revert", { branch: name, author: ADA, ...further });
  const name = await branch("merged");
  const answer = await revert(name, { commit: "topic" });
  await git(source, "revert", "--no-edit", "topic");
  await expectAsGit(answer, name, "reverted");
  const ofMerge = await branch("merged");
  const reverted = await revert(ofMerge, { commit: "merged", mainline: 1 });
  await git(source, "revert", "--no-edit", "-m", "1", "merged");
  await expectAsGit(reverted, ofMerge, "reverted");
  const again = await revert(ofMerge, { commit: ofMerge });
  expect(again.body.tree).toBe(await local("merged^{tree}"));
  await git(source, "fetch", "-q", `${server.url}/merges/source.git`, ofMerge);
  expect(await git(source, "log", "-1", "--format=%s", again.body.commit!)).toBe(
    `Reapply "Merge branch 'topic' into merged"`,
  );
  // What a root commit added is removed where nothing has changed it since.
  const root = await branch("main~1");
  expect(await revert(root, { commit: root })).toMatchObject({
    status: 201,
    body: { tree: "4b825dc642cb6eb9a060e54bf8d69288fbee4904" },
  });
});

test("what does not fit is refused", async () => {
  const refused = async (answer: Promise<Answer<unknown>>, status: number, error: object): Promise<void> =>
    expect(await answer).toMatchObject({ status, body: { error } });
  const name = await branch("main");
  await refused(merge("nowhere", "topic"), 404, { code: "not-found", field: "base" });
  await refused(merge(name, "nothing"), 404, { code: "not-found" });
  await refused(merge("bad..name", "topic"), 422, { code: "invalid", field: "base" });
  await refused(merge(name, "topic", { author: { name: "<", email: "x" } }), 422, {
    code: "invalid",
    field: "author.name",
  });
  await refused(merge(name, "topic", { fastForward: "maybe" }), 422, { code: "invalid", field: "fastForward" });
  const pick = (further: object) => post("cherry-pick", { branch: name, committer: ADA, ...further });
  await refused(pick({ commit: "merged" }), 422, { code: "invalid", field: "mainline" });
  await refused(pick({ commit: "merged", mainline: 3 }), 422, { code: "invalid", field: "mainline" });
  await refused(pick({ commit: "topic", mainline: 2 }), 422, { code: "invalid", field: "mainline" });
  await refused(pick({ commit: "topic:a" }), 422, { code: "wrong-type" });
  const expected = await local("main~1");
  await refused(merge(name, "topic", { expected }), 409, { code: "stale", actual: await local("main") });
  expect(await remote(name)).toBe(await local("main"));
  // An unrelated history.
  await git(source, "checkout", "-q", "--orphan", "alone");
  await git(source, "commit", "-q", "-m", "alone");
  await git(source, "push", "-q", `${server.url}/merges/source.git`, "alone");
  await refused(merge(name, "alone"), 409, { code: "conflict" });
});

test("merges into one branch at the same time all come in", async () => {
  const name = await branch("main");
  const heads = await Promise.all(
    Array.from({ length: 6 }, async (_, i) => {
      const files = JSON.stringify([{ op: "put", path: `side/${i}`, content: `${i}\n` }]);
      const json = {
        branch: `side-${i}`,
        startPoint: "main~1",
        message: "side",
        author: ADA,
        operations: JSON.parse(files),
      };
      await askApi(server, `${path}/commits`, { method: "POST", json });
      return `side-${i}`;
    }),
  );
  const answers = await Promise.all(heads.map((head) => merge(name, head)));
  expect(answers.map(({ status }) => status)).toEqual(heads.map(() => 201));
  await git(source, "fetch", "-q", `${server.url}/merges/source.git`, name);
  expect(await git(source, "ls-tree", "--name-only", "FETCH_HEAD", "side/")).toBe(
    heads.map((_, i) => `side/${i}`).join("\n"),
  );
  expect(await git(source, "rev-list", "--count", "--merges", "main..FETCH_HEAD")).toBe("6");
});
