import { expect, test } from "vitest";
import { parseTree } from "../../../src/base/format/tree.ts";
import { findLastCommits } from "../../../src/object/files/last-commits.ts";
import { listDirectory } from "../../../src/object/files/list-files.ts";
import type { OpenRepository } from "../../../src/object/objects/open-repository.ts";
import { WorkBudget } from "../../../src/base/pacing/work-budget.ts";
import { blame } from "../../../src/object/history/blame.ts";
import { readPorcelain, spreadRanges } from "../../harness/blamed-lines.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { Random } from "../../harness/random.ts";
import { LONG_FILE, makeLongHistory } from "../../harness/long-history.ts";
import { filterSome, openFor, pushAll } from "../history/filtered-repository.ts";
import { makeTangledHistory } from "../history/tangled-history.ts";
import { PushedRepository } from "../pushing.ts";

/** The last commit of each entry of a directory; null: not found. */
async function find(repository: OpenRepository, ref: string, path: string): Promise<Record<string, string | null>> {
  const { entries, lastCommits } = await listDirectory(repository, { ref, path, lastCommits: true });
  const { commits, indexes } = lastCommits!;
  return Object.fromEntries(entries.paths.map((name, i) => [name, commits[indexes[i]!]?.oid ?? null]));
}

async function askGit(dir: string, ref: string, path: string): Promise<Record<string, string>> {
  const names = (await git(dir, "ls-tree", "--name-only", path === "" ? ref : `${ref}:${path}`)).split("\n");
  const found: [string, string][] = [];
  for (const name of names.filter(Boolean)) {
    const whole = path === "" ? name : `${path}/${name}`;
    found.push([name, (await git(dir, "log", "-1", "--format=%H", ref, "--", whole)).trim()]);
  }
  return Object.fromEntries(found);
}

test("in tangled histories, from commit to commit in any order", { tags: "sweep" }, async () => {
  const { dir, oids, repository } = await makeTangledHistory(21, 120, 9);
  const random = new Random(4);
  for (let round = 0; round < 60; round++) {
    const ref = random.pick(oids);
    const trees = (await git(dir, "ls-tree", "-r", "-d", "--name-only", ref)).split("\n").filter(Boolean);
    const path = random.pick(["", ...trees]);
    expect([ref, path, await find(repository, ref, path)]).toEqual([ref, path, await askGit(dir, ref, path)]);
  }
});

test("after pushes, and merges, what was known before is carried on", { tags: "sweep" }, async () => {
  const dir = await makeLongHistory({ commits: 400, files: 80, longLines: 120, longEvery: 15 });
  const repository = new PushedRepository();
  await repository.pushFrom(dir, { "refs/heads/main": "main~130" });
  const opened = openFor(repository);
  for (const back of [120, 90, 89, 40, 3, 0]) {
    await repository.pushFrom(dir, { "refs/heads/main": `main~${back}` });
    if (back === 89) await filterSome(repository);
    const ref = await git(dir, "rev-parse", `main~${back}`);
    for (const path of ["", "src"]) expect(await find(opened, ref, path)).toEqual(await askGit(dir, ref, path));
    const { ranges } = await blame(opened, { commit: ref, path: LONG_FILE, lines: null });
    const theirs = readPorcelain(await git(dir, "blame", "--porcelain", ref, "--", LONG_FILE));
    expect(spreadRanges(ranges)).toEqual(theirs);
    const part = await blame(opened, { commit: ref, path: LONG_FILE, lines: [11, 30] });
    expect(spreadRanges(part.ranges)).toEqual(theirs.slice(10, 30));
  }
});

test("what a try has found is kept: the next goes on where it ended", async () => {
  const dir = await makeLongHistory({ commits: 200, files: 40, longLines: 40 });
  const opened = openFor(await pushAll(dir));
  const { graph, objects } = opened.tables;
  const tip = objects.find(Buffer.from(await git(dir, "rev-parse", "main"), "hex"))!.number;
  const number = objects.find(Buffer.from(await git(dir, "rev-parse", "main:src"), "hex"))!.number;
  const entries = parseTree((await opened.reader.read(number)).bytes);
  let tries = 0;
  for (let isFound = false; !isFound; tries++) {
    expect(tries).toBeLessThan(graph.length);
    // About one group of directories.
    const { indexes } = await findLastCommits(opened, tip, "src", entries, new WorkBudget(150));
    isFound = !indexes.includes(-1);
  }
  expect(tries).toBeGreaterThan(1);
  expect(await find(opened, "main", "src")).toEqual(await askGit(dir, "main", "src"));
});

test("each try comes further, though a group of versions costs more than a try has", async () => {
  const dir = await makeRepository("wide.git", "--bare");
  const stream = Array.from({ length: 80 }, (_, n) => {
    const names = n === 0 ? Array.from({ length: 3_000 }, (_, i) => `wide/${"x".repeat(30)}${i}`) : [`wide/${n}`];
    const head = `commit refs/heads/main\ncommitter C <c@example.com> ${1_700_000_000 + n} +0000\ndata 1\n${n % 10}\n`;
    return head + names.map((name) => `M 644 inline ${name}\ndata 1\n${n % 10}\n`).join("");
  });
  const { stderr } = await tryGit(dir, ["fast-import", "--quiet"], { stdin: stream.join("") });
  expect(stderr).toBe("");
  const opened = openFor(await pushAll(dir));
  const { objects } = opened.tables;
  const numberOf = async (name: string) => objects.find(Buffer.from(await git(dir, "rev-parse", name), "hex"))!.number;
  const tree = parseTree((await opened.reader.read(await numberOf("main:wide"))).bytes);
  const entries = tree.filter(({ name }) => ["1", "40", `${"x".repeat(30)}7`].includes(name));
  const tip = await numberOf("main");
  let tries = 0;
  let indexes: Int32Array;
  do {
    // Reads some ten of the directories.
    ({ indexes } = await findLastCommits(opened, tip, "wide", entries, new WorkBudget(300)));
    expect(++tries).toBeLessThan(40);
  } while (indexes.includes(-1));
  expect(tries).toBeGreaterThan(4);
});

test("what is known ends the walk: the second answer reads no directory", async () => {
  const dir = await makeLongHistory({ commits: 200, files: 40, longLines: 40 });
  const repository = await pushAll(dir);
  const opened = openFor(repository);
  const first = await find(opened, "main", "src");
  let reads = 0;
  const { reader } = opened;
  const counting = Object.create(opened, {
    reader: { get: () => ((reads += 1), reader) },
  }) as OpenRepository;
  expect(await find(counting, "main", "src")).toEqual(first);
  // The directory, what leads to it, and the commits that are shown.
  expect(reads).toBeLessThanOrEqual(4);
});
