import { expect, test } from "vitest";
import { languageOf } from "../../../src/base/languages/language.ts";
import { openTreeSums } from "../../../src/object/store/index/tree-sum-table.ts";
import { git } from "../../harness/git.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../../harness/pack-builder.ts";
import { housekeep } from "../maintenance/housekeep.ts";
import { PushedRepository } from "../pushing.ts";
import { appendHistory, clientOf, importHistory, putFile } from "./authored-history.ts";

/** Files and bytes below a commit, in total and by language, as `git ls-tree` lists them. */
async function sumByGit(dir: string, commit: string): Promise<unknown> {
  const lines = (await git(dir, "ls-tree", "-r", "-l", "-z", commit))
    .split("\0")
    .filter((line) => line.startsWith("100"));
  const files = lines.map((line) => {
    const [, size, name] = /^\d+ blob [0-9a-f]+ +(\d+)\t(?:.*\/)?([^/]+)$/s.exec(line)!;
    return { language: languageOf(name!)?.name ?? "other", size: Number(size) };
  });
  const sum = (some: typeof files) => ({
    files: some.length,
    bytes: some.reduce((bytes, { size }) => bytes + size, 0),
  });
  const groups = Map.groupBy(files, ({ language }) => language);
  return { ...sum(files), ...Object.fromEntries([...groups].map(([language, some]) => [language, sum(some)])) };
}

async function sumHere(repository: PushedRepository, ref: string): Promise<unknown> {
  const { languages, other, files, bytes } = await clientOf(repository).languages(ref);
  const groups = languages.map((one) => [one.name, { files: one.files, bytes: one.bytes }]);
  return { files, bytes, ...Object.fromEntries(groups), ...(other.files > 0 ? { other } : {}) };
}

test.each([
  ["main.c", "C"],
  ["stdio.h", "C"],
  ["README.MD", "Markdown"],
  ["a.b.ts", "TypeScript"],
  ["types.d.ts", "TypeScript"],
  ["view.blade.php", "Blade"],
  ["Makefile", "Makefile"],
  ["makefile.txt", "Text"],
  [".gitignore", "Ignore List"],
  ["query.sql", "SQL"],
  ["matrix.m", "Objective-C"],
  ["x.rs", "Rust"],
  ["config.yml", "YAML"],
  ["a.", undefined],
  ["noextension", undefined],
  ["caf\xc3\xa9.py", "Python"],
])("%s is %s", (name, language) => {
  expect(languageOf(name)?.name).toBe(language);
});

test("files are summed as ls-tree lists them, links and submodules left out", async () => {
  const deep = Array.from({ length: 40 }, (_, i) => putFile(`src/${i % 7}/${i % 3}/file${i}.ts`, "x".repeat(i * 11)));
  const dir = await importHistory([
    {
      author: "A <a@x>",
      date: "1600000000 +0000",
      changes: [
        ...deep,
        putFile("run.sh", "echo", "100755"),
        putFile("link.c", "src/0", "120000"),
        `M 160000 ${"1".repeat(40)} sub.c\n`,
        putFile("same/one/a.py", "one"),
        putFile("same/two/a.py", "one"),
        putFile("empty.html", ""),
        putFile('"odd \\" name\\n.go"', "package"),
        putFile("no idea", "1234"),
      ].join(""),
    },
    { author: "A <a@x>", date: "1600000000 +0000", changes: `${putFile("src/3/1/file10.ts", "changed")}D run.sh\n` },
    { author: "A <a@x>", date: "1600000000 +0000", changes: "deleteall\n" },
  ]);
  const repository = new PushedRepository();
  const noted = () => [...openTreeSums(repository.sql).all()].length;
  await repository.pushFrom(dir, { "refs/heads/main": "main~2" });
  expect(await sumHere(repository, "main")).toEqual(await sumByGit(dir, "main~2"));
  // Each tree once: the two equal ones are one object.
  const trees = new Set(
    (await git(dir, "ls-tree", "-r", "-t", "--format=%(objecttype) %(objectname)", "main~2")).split("\n"),
  );
  expect(noted()).toBe([...trees].filter((line) => line.startsWith("tree")).length + 1);

  await repository.pushFrom(dir, { "refs/heads/main": "main~1" });
  const before = noted();
  repository.repository.state.jobs.add("tally", "", 0);
  await housekeep(repository, Date.now());
  // The root, src, src/3, src/3/1.
  expect(noted()).toBe(before + 4);
  expect(await sumHere(repository, "main")).toEqual(await sumByGit(dir, "main~1"));
  expect(noted()).toBe(before + 4);
  expect(await sumHere(repository, "main~1")).toEqual(await sumByGit(dir, "main~2"));

  await repository.pushFrom(dir, { "refs/heads/main": "main" });
  expect(await sumHere(repository, "main")).toEqual({ files: 0, bytes: 0 });
});

test("sums that were made another way are made anew", async () => {
  const dir = await importHistory([{ author: "A <a@x>", date: "1600000000 +0000", changes: putFile("a/b.c", "four") }]);
  const repository = new PushedRepository();
  await repository.pushFrom(dir, { "refs/heads/main": "main" });
  const expected = await sumHere(repository, "main");
  const pages = openTreeSums(repository.sql);
  pages.write([...pages.all()].map(({ number, scheme }) => ({ number, scheme: scheme + 1, sums: [[1, 2, 3]] })));
  expect(await sumHere(repository, "main")).toEqual(expected);
});

test("a few trees that come to more files than there are atoms", async () => {
  const blob = makeObject("blob", "content");
  const objects = [blob];
  let tree = makeTree(["100644", "file.c", blob]);
  objects.push(tree);
  for (let level = 0; level < 60; level++) {
    const below = tree;
    tree = makeTree(...["a", "b", "c", "d"].map((name) => ["40000", name, below] as const));
    objects.push(tree);
  }
  const commit = makeCommit(tree);
  const repository = new PushedRepository();
  await repository.push([["refs/heads/main", null, commit.oid]], packOf(...objects, commit));
  const { files, bytes } = await clientOf(repository).languages("main");
  expect([files, bytes]).toEqual([Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]);
});

test("stats are git's counts", async () => {
  const dir = await importHistory([
    { author: "A <a@x>", date: "1600000000 +0000", changes: putFile("a.c", "four") },
    { author: "B <b@x>", date: "1600000000 +0000", changes: putFile("b.c", "seven..") },
  ]);
  await appendHistory(dir, [{ author: "C <c@x>", date: "1600000000 +0000" }], "refs/heads/other", "main");
  const repository = new PushedRepository();
  await repository.pushFrom(dir, { "refs/heads/main": "main", "refs/heads/other": "other", "refs/tags/v1": "main" });
  const client = clientOf(repository);
  const stats = await client.stats(null);
  expect(stats).toMatchObject({
    defaultBranch: "main",
    commit: await git(dir, "rev-parse", "main"),
    commits: 2,
    contributors: 2,
    files: 2,
    bytes: 11,
    branches: 2,
    tags: 1,
    pushes: 1,
    firstCommit: "2023-11-14T22:13:20+00:00",
    lastCommit: "2023-11-14T22:13:21+00:00",
    objects: (await git(dir, "rev-list", "--objects", "--all")).split("\n").length,
  });
  expect(await client.stats("other")).toMatchObject({ commits: 3, contributors: 3, lastCommit: stats.lastCommit });
  await repository.pushFrom(dir, { "refs/tags/v1": null });
  expect(await client.stats(null)).toMatchObject({ tags: 0, pushes: 2 });
});

test("a repository without a default branch has figures", async () => {
  const dir = await importHistory([{ author: "A <a@x>", date: "1600000000 +0000" }]);
  const repository = new PushedRepository();
  await repository.pushFrom(dir, { "refs/tags/v1": "main" });
  expect(await clientOf(repository).stats(null)).toMatchObject({ commit: null, commits: 0, files: 0, tags: 1 });
});
