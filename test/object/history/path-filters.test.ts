import { expect, test } from "vitest";
import { MAX_FILTER_PATHS } from "../../../src/base/format/limits.ts";
import { findChangedPaths } from "../../../src/object/diff/changed-paths.ts";
import { log } from "../../../src/object/history/log.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { readGitFilters } from "../../harness/git-path-filters.ts";
import { makeLongHistory } from "../../harness/long-history.ts";
import { makeOddRepository } from "../../harness/odd-tree.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../../harness/pack-builder.ts";
import { PushedRepository } from "../pushing.ts";
import { filterSome, openFor, pushAll, reopen, storedFilters } from "./filtered-repository.ts";
import { makeTangledHistory } from "./tangled-history.ts";

const sorted = (filters: ReadonlyMap<string, string>): string[] =>
  Array.from(filters, ([commit, filter]) => `${commit} ${filter}`).toSorted();

async function expectGitsFilters(dir: string): Promise<PushedRepository> {
  const repository = await pushAll(dir);
  const { commits, isAll } = await filterSome(repository);
  const filters = storedFilters(repository);
  expect([commits, isAll]).toEqual([filters.size, true]);
  expect(sorted(filters)).toEqual(sorted(await readGitFilters(dir)));
  return repository;
}

/** Names of so many files, in directories of 100. */
const names = (count: number, prefix = ""): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}dir-${Math.floor(i / 100)}/file-${i}`);

const filesOf = (paths: readonly string[], content: string | null): Record<string, string | null> =>
  Object.fromEntries(paths.map((path) => [path, content]));

test("filters of a long history are git's, byte by byte", { tags: "sweep" }, async () => {
  await expectGitsFilters(await makeLongHistory({ commits: 1_500, files: 300, longLines: 300 }));
});

test("filters of a history with several roots, and merges of many parents, are git's", { tags: "sweep" }, async () => {
  const { dir } = await makeTangledHistory(7, 150, 12);
  await expectGitsFilters(dir);
});

test("filters of odd commits are git's: files become directories, links, gitlinks; many change, or none", async () => {
  const gitlink = { gitlink: "1".repeat(40) };
  const edge = names(MAX_FILTER_PATHS - 6, "edge/");
  const dir = await makeOddRepository([
    { branch: "main", files: { a: "1", "b/c": "1", "b.c": "1", "b-c": "1" } },
    { branch: "main", files: { a: null, "a/b/c": "1" } },
    { branch: "main", files: { a: null } },
    { branch: "main", files: { a: "1" } },
    { branch: "main", files: { a: { mode: "100755", content: "1" } } },
    { branch: "main", files: { a: { mode: "120000", content: "1" } } },
    { branch: "main", files: { a: gitlink, "b/sub": gitlink } },
    { branch: "main", files: {} },
    { branch: "main", files: { [Array.from({ length: 300 }, (_, i) => `d${i}`).join("/")]: "deep" } },
    { branch: "main", files: { [Array.from({ length: 600 }, (_, i) => `d${i}`).join("/")]: "too deep" } },
    { branch: "main", files: filesOf(["x".repeat(4_000), `long/${"y".repeat(4_000)}`], "long names") },
    // With their directories as many as fit, and one more.
    { branch: "main", files: filesOf(edge, "1") },
    { branch: "main", files: { ...filesOf(edge, "2"), another: "1" } },
    { branch: "main", files: filesOf(names(5_000, "many/"), "1") },
    { branch: "main", files: filesOf(names(5_000, "many/"), null) },
  ]);
  const repository = await expectGitsFilters(dir);
  expect([...storedFilters(repository).values()].filter((filter) => filter === "ff").length).toBeGreaterThan(2);
});

test("tags of all kinds have no filter that rules anything out, and are not looked at again", async () => {
  const dir = await makeOddRepository([{ branch: "main", files: { a: "1" } }]);
  await git(dir, "tag", "-a", "-m", "a tag", "tag", "main");
  await git(dir, "tag", "tree", "main^{tree}");
  const repository = await pushAll(dir);
  expect(await filterSome(repository)).toEqual({ commits: 3, isAll: true });
  expect(await filterSome(repository)).toEqual({ commits: 0, isAll: true });
});

test("what is interrupted goes on, and what is pushed later is added", { tags: "sweep" }, async () => {
  const dir = await makeLongHistory({ commits: 600, files: 100, longLines: 100 });
  const repository = new PushedRepository();
  await repository.pushFrom(dir, { "refs/heads/main": "main~100" });
  expect(await filterSome(repository, 150)).toEqual({ commits: 150, isAll: false });
  const { isAll } = await filterSome(reopen(repository));
  expect(isAll).toBe(true);
  // One life has read them before they are added to.
  const other = reopen(repository);
  const query = {
    ref: "main",
    since: null,
    until: null,
    author: null,
    text: null,
    ignoreCase: false,
    firstParent: false,
    follow: false,
  };
  await log(openFor(other), { ...query, path: "LICENSE", place: null, limit: 1 });
  await other.pushFrom(dir, { "refs/heads/main": "main" });
  await filterSome(other);
  await git(dir, "update-ref", "-d", "refs/heads/topic");
  expect(sorted(storedFilters(other))).toEqual(sorted(await readGitFilters(dir)));
  const theirs = (await git(dir, "log", "--format=%H", "main", "--", "version.txt")).split("\n");
  const { commits } = await log(openFor(other), { ...query, path: "version.txt", place: null, limit: 100 });
  expect(commits.map(({ oid }) => oid)).toEqual(theirs);
});

test("a commit of 100,000 files is compared in part", { tags: "sweep" }, async () => {
  const dir = await makeRepository("many.git", "--bare");
  const lines = [
    "blob\nmark :1\ndata 1\n1\ncommit refs/heads/main\nmark :2\ncommitter C <c@x> 1700000000 +0000\ndata 0\n",
  ];
  for (let i = 0; i < 100_000; i++) lines.push(`M 100644 :1 d${i % 1_000}/e${i % 7}/f${i}\n`);
  const { code } = await tryGit(dir, ["fast-import", "--quiet"], { stdin: lines.join("") });
  expect(code).toBe(0);
  const repository = await pushAll(dir);
  const { tables, reader } = openFor(repository);
  let read = 0;
  const trees = reader.hold();
  const counting = {
    memory: trees.memory,
    find: (number: never) => trees.find(number),
    read: (numbers: { size: number }, rest: never) => ((read += numbers.size), trees.read(numbers as never, rest)),
  };
  const pair = { old: 0, next: tables.graph.tree(0) };
  expect(await findChangedPaths({ tables, trees: counting as never }, [pair], async () => undefined)).toEqual([null]);
  expect(read).toBeLessThan(MAX_FILTER_PATHS);
});

test("a tree that names itself often is compared in part", async () => {
  const blob = makeObject("blob", Buffer.from("1"));
  const objects = [blob];
  let tree = makeTree(["100644", "file", blob]);
  objects.push(tree);
  for (let level = 0; level < 60; level++) {
    const below = tree;
    tree = makeTree(
      ...Array.from({ length: 20 }, (_, i) => ["40000", `d${String(i).padStart(2, "0")}`, below] as const),
    );
    objects.push(tree);
  }
  const commit = makeCommit(tree.oid);
  const repository = new PushedRepository();
  await repository.push([["refs/heads/main", null, commit.oid]], packOf(...objects, commit));
  await filterSome(repository);
  expect([...storedFilters(repository).values()]).toEqual(["ff"]);
});

test("pruned commits lose their filters, and the others keep theirs", { tags: "sweep" }, async () => {
  const dir = await makeLongHistory({ commits: 300, files: 60, longLines: 60 });
  await git(dir, "branch", "side", "main~20");
  const tip = await git(dir, "commit-tree", "main~90^{tree}", "-p", "side", "-m", "side");
  await git(dir, "update-ref", "refs/heads/side", tip);
  const repository = await pushAll(dir, { limits: { pruneGraceMs: 0 } });
  await filterSome(repository);
  await repository.pushFrom(dir, { "refs/heads/side": null, "refs/heads/topic": null });
  for (let runs = 0; runs < 20; runs++) await repository.repository.runJobs(Date.now() + 1e9);
  await git(dir, "update-ref", "-d", "refs/heads/side");
  await git(dir, "update-ref", "-d", "refs/heads/topic");
  expect(sorted(storedFilters(repository))).toEqual(sorted(await readGitFilters(dir)));
});
