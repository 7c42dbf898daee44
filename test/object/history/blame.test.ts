import { beforeAll, expect, test } from "vitest";
import { blame } from "../../../src/object/history/blame.ts";
import { type Blame, BlameWalk } from "../../../src/object/history/blame-walk.ts";
import type { BlamedLines } from "../../../src/object/history/blamed-lines.ts";
import { OpenRepository } from "../../../src/object/objects/open-repository.ts";
import { WorkBudget } from "../../../src/base/pacing/work-budget.ts";
import { readPorcelain, spreadRanges } from "../../harness/blamed-lines.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { Random } from "../../harness/random.ts";
import { PushedRepository } from "../pushing.ts";
import { ANYONE } from "../../harness/requester.ts";

const COMMITS = 60;

let dir: string;
let repository: OpenRepository;

/** A file's lines, some of them changed, added, removed or moved. */
function edit(random: Random, lines: readonly string[]): string[] {
  const edited = [...lines];
  for (let left = 1 + random.below(4); left > 0; left--) {
    const at = random.below(edited.length + 1);
    // Few different lines, so that the same line comes from several places.
    const line = `${" ".repeat(random.below(3))}line ${random.below(40)}`;
    const removed = random.below(3);
    edited.splice(at, removed, ...Array.from({ length: random.below(4) }, () => line));
  }
  return edited;
}

/** Lines of a file that is renamed sometimes, through merges of branches that edited it too; clocks
 * are sometimes wrong. */
beforeAll(async () => {
  const random = new Random(5);
  dir = await makeRepository("blamed.git", "--bare");
  const stream: string[] = [];
  const files: { path: string; lines: string[] }[] = [];
  for (let n = 1; n <= COMMITS; n++) {
    const parents = n === 1 ? [] : [n - 1, ...(n > 4 && random.below(3) === 0 ? [n - 2 - random.below(3)] : [])];
    const first = files[parents[0]! - 1] ?? { path: "file", lines: Array.from({ length: 30 }, (_, i) => `line ${i}`) };
    const second = files[parents[1]! - 1];
    // A merge takes the head of one and the tail of the other.
    const middle = random.below(first.lines.length + 1);
    const merged =
      second === undefined ? first.lines : [...first.lines.slice(0, middle), ...second.lines.slice(middle)];
    const path = random.below(6) === 0 ? `dir-${random.below(3)}/file-${n}` : first.path;
    const lines = edit(random, merged);
    files.push({ path, lines });
    const time = 1_700_000_000 + 60 * n - (random.below(10) === 0 ? 1_000 : 0);
    const content = lines.join("\n") + (random.below(5) === 0 ? "" : "\n");
    stream.push(
      `reset refs/heads/b${n}\ncommit refs/heads/b${n}\nmark :${n}\n` +
        `committer C <c@example.com> ${time} +0000\ndata 2\n${n % 10}\n`,
    );
    parents.forEach((parent, k) => stream.push(`${k === 0 ? "from" : "merge"} :${parent}\n`));
    if (path !== first.path) stream.push(`D ${first.path}\n`);
    stream.push(`M 644 inline ${path}\ndata ${content.length}\n${content}\nM 644 inline binary\ndata 3\na\0b\n\n`);
  }
  const { code, stderr } = await tryGit(dir, ["fast-import", "--quiet"], { stdin: stream.join("") });
  if (code !== 0) throw new Error(stderr);
  repository = await pushAll();
});

async function pushAll(from = dir): Promise<OpenRepository> {
  const refs = (await git(from, "for-each-ref", "--format=%(refname) %(objectname)")).split("\n");
  const pushed = new PushedRepository();
  await pushed.pushFrom(from, Object.fromEntries(refs.map((line) => line.split(" ") as [string, string])));
  return new OpenRepository(pushed.repository.state, ANYONE, async () => undefined);
}

async function askGit(commit: string, path: string, ...args: string[]): Promise<string[]> {
  return readPorcelain(await git(dir, "blame", "--porcelain", ...args, commit, "--", path));
}

/** The text file of a commit. */
async function findFile(commit: string): Promise<string> {
  return (await git(dir, "ls-tree", "-r", "--name-only", commit)).split("\n").find((path) => path !== "binary")!;
}

test("every line comes from where git says", { tags: "sweep" }, async () => {
  let renamed = 0;
  for (let n = COMMITS; n > 0; n -= 3) {
    const commit = await git(dir, "rev-parse", `b${n}`);
    const path = await findFile(commit);
    const result = await blame(repository, { commit, path, lines: null });
    expect(spreadRanges(result.ranges)).toEqual(await askGit(commit, path));
    expect(result).toMatchObject({ commit, path, truncated: false });
    expect(new Set(result.commits.map(({ oid }) => oid))).toEqual(new Set(result.ranges.map((range) => range.commit)));
    renamed += Number(result.ranges.some(({ originalPath }) => originalPath !== path));
  }
  expect(renamed).toBeGreaterThan(5);
});

test("some lines alone", async () => {
  const commit = await git(dir, "rev-parse", `b${COMMITS}`);
  const path = await findFile(commit);
  const { ranges } = await blame(repository, { commit, path, lines: [5, 9] });
  expect(ranges[0]!.start).toBe(5);
  expect(spreadRanges(ranges)).toEqual(await askGit(commit, path, "-L5,9"));
  const { ranges: tail } = await blame(repository, { commit, path, lines: [2, 1_000_000] });
  expect(spreadRanges(tail)).toEqual(await askGit(commit, path, "-L2,"));
});

test("what a try has found is kept: the next goes on, whatever else was asked", async () => {
  const commit = await git(dir, "rev-parse", `b${COMMITS}`);
  const path = await findFile(commit);
  const fresh = await pushAll();
  const { graph, objects } = fresh.tables;
  const position = graph.position(objects.find(Buffer.from(commit, "hex"))!.number);
  const lines = { line: 0, start: 0, count: (await git(dir, "show", `${commit}:${path}`)).split("\n").length };
  const walk = async (range: BlamedLines, isAll: boolean): Promise<Blame[]> =>
    // A single step: a try ends after the commit at which it began.
    new BlameWalk(fresh, new WorkBudget(1)).run(position, path, range, isAll);
  const open = (blames: readonly Blame[]): number => blames.filter(({ isOpen }) => isOpen).length;
  let [all, some] = [await walk(lines, true), await walk({ ...lines, count: 3 }, false)];
  expect(open(all)).toBeGreaterThan(0);
  for (let tries = 0; open(all) > 0; tries++) {
    expect(tries).toBeLessThan(2 * COMMITS);
    all = await walk(lines, true);
    some = await walk({ ...lines, count: 3 }, false);
  }
  expect(open(some)).toBe(0);
  const { ranges, truncated } = await blame(fresh, { commit, path, lines: null });
  expect(truncated).toBe(false);
  expect(spreadRanges(ranges)).toEqual(await askGit(commit, path));
});

test("what a try has found is kept, however many lines and groups of them there are", async () => {
  const COUNT = 220_000;
  const large = await makeRepository("large-blame.git", "--bare");
  const lines = Array.from({ length: COUNT }, (_, i) => `${i}\n`);
  const stream = [0, 1, 2, 3].map((n) => {
    // Every other line is of the second commit.
    if (n === 1) for (let i = 0; i < COUNT; i += 2) lines[i] = `a${i}\n`;
    else lines[n] = `${n} again\n`;
    const text = lines.join("");
    const head = `commit refs/heads/main\ncommitter C <c@example.com> ${1_700_000_000 + n} +0000\ndata 1\n${n}\n`;
    return `${head}M 644 inline file\ndata ${text.length}\n${text}\n`;
  });
  expect((await tryGit(large, ["fast-import", "--quiet"], { stdin: stream.join("") })).stderr).toBe("");
  const opened = await pushAll(large);
  const { graph, objects } = opened.tables;
  const tip = graph.position(objects.find(Buffer.from(await git(large, "rev-parse", "main"), "hex"))!.number);
  const all = { line: 0, start: 0, count: COUNT };
  // A try ends after the commit at which it began: four commits are four tries.
  const tries: number[] = [];
  for (let n = 0; n < 4; n++) {
    const blames = await new BlameWalk(opened, new WorkBudget(1)).run(tip, "file", all, true);
    tries.push(blames.filter(({ isOpen }) => isOpen).reduce((sum, { count }) => sum + count, 0));
  }
  expect(tries).toEqual([COUNT - 1, COUNT - 2, COUNT / 2 - 1, 0]);
});

test("what has no lines to blame is refused", async () => {
  const commit = await git(dir, "rev-parse", "b1");
  const ask = (path: string, lines: [number, number] | null = null) => blame(repository, { commit, path, lines });
  await expect(ask("binary")).rejects.toMatchObject({ code: "invalid", data: { field: "path" } });
  await expect(ask("nothing")).rejects.toMatchObject({ code: "not-found" });
  await expect(ask("file", [900, 901])).rejects.toMatchObject({ code: "invalid", data: { field: "lines" } });
  const folder = await git(dir, "rev-parse", `b${COMMITS}`);
  const path = (await findFile(folder)).split("/")[0]!;
  await expect(blame(repository, { commit: folder, path, lines: null })).rejects.toMatchObject({ code: "wrong-type" });
});
