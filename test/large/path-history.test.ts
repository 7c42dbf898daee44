// Histories by path on 80,000 commits of 4,000 files, beside git with its own filters. Times are of
// this process's CPU, as others may be busy, except where git is timed beside it.
import { expect, test } from "vitest";
import { listDirectory } from "../../src/object/files/list-files.ts";
import { blame } from "../../src/object/history/blame.ts";
import { BlameWalk } from "../../src/object/history/blame-walk.ts";
import { log } from "../../src/object/history/log.ts";
import { writeFilters } from "../../src/object/history/write-filters.ts";
import { WorkBudget } from "../../src/base/pacing/work-budget.ts";
import { git } from "../harness/git.ts";
import { readGitFilters } from "../harness/git-path-filters.ts";
import { LONG_FILE, makeLongHistory } from "../harness/long-history.ts";
import { measureCpu } from "../harness/measure-cpu.ts";
import { Random } from "../harness/random.ts";
import { openFor, storedFilters } from "../object/history/filtered-repository.ts";
import { PushedRepository } from "../object/pushing.ts";

const TIP = "refs/heads/main";
const PATHS = 50;

/** A pack has a limit of objects: the history is pushed in parts. */
const PARTS = 4;

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

async function measureMs(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

const measureCpuMs = async (work: () => Promise<unknown>): Promise<number> => (await measureCpu(work))[1];

/** Pushes the history in parts, the last of which brings one commit. */
async function pushParts(dir: string, repository: PushedRepository, tip: string): Promise<void> {
  const line = (await git(dir, "rev-list", "--first-parent", "--reverse", tip)).split("\n");
  for (let part = 1; part <= PARTS; part++) {
    const commit = line[Math.floor((line.length * part) / PARTS) - 1]!;
    await repository.pushFrom(dir, { [TIP]: commit });
  }
}

test("80,000 commits: filters, and what is found by a path with them", async () => {
  const dir = await makeLongHistory({ commits: 80_000, files: 4_000, longLines: 3_500 });
  await git(dir, "update-ref", "-d", "refs/heads/topic");
  await git(dir, "repack", "-adq");
  const repository = new PushedRepository();
  await pushParts(dir, repository, "main~1");

  const opened = openFor(repository);
  let longestMs = 0;
  let sinceMs = performance.now();
  const rest = async (): Promise<void> => {
    longestMs = Math.max(longestMs, performance.now() - sinceMs);
    await new Promise((resolve) => setImmediate(resolve));
    sinceMs = performance.now();
  };
  const worker = { isInterrupted: false, rest };
  const { tables, reader } = opened;
  const figures: Record<string, number> = {};
  figures["filters ms"] = await measureMs(() => writeFilters({ tables, reader }, Infinity, worker));
  figures["filters, longest step ms"] = longestMs;
  let gits = new Map<string, string>();
  figures["filters, git ms"] = await measureMs(async () => (gits = await readGitFilters(dir)));
  const stored = storedFilters(repository);
  // All but the last merge and what it brings.
  expect(stored.size).toBeGreaterThan(79_900);
  for (const [commit, filter] of stored)
    if (filter !== gits.get(commit)) expect([commit, filter]).toEqual([commit, gits.get(commit)]);

  const files = (await git(dir, "ls-tree", "-r", "--name-only", "main~1")).split("\n");
  const random = new Random(3);
  const paths = ["LICENSE", "version.txt", "src", LONG_FILE];
  while (paths.length < PATHS) paths.push(random.pick(files));
  const query = {
    ref: TIP,
    since: null,
    until: null,
    author: null,
    text: null,
    ignoreCase: false,
    firstParent: false,
    follow: false,
  };
  const times: { first: number; again: number; git: number }[] = [];
  for (const path of paths) {
    const page = () => log(opened, { ...query, path, place: null, limit: 30 });
    const first = await measureCpuMs(page);
    const again = await measureCpuMs(page);
    const ofGit = () => git(dir, "log", "-30", "--format=%H", "main~1", "--", path);
    times.push({ first, again, git: await measureMs(ofGit) });
    expect((await page()).commits.map(({ oid }) => oid)).toEqual((await ofGit()).split("\n"));
  }
  for (const kind of ["first", "again", "git"] as const)
    figures[`log page, ${kind} ms`] = median(times.map((one) => one[kind]));

  const showRoot = async (): Promise<void> => {
    const { lastCommits } = await listDirectory(opened, { ref: TIP, path: "", lastCommits: true });
    expect([...lastCommits!.indexes]).not.toContain(-1);
  };
  figures["last commits of the root, first ms"] = await measureCpuMs(showRoot);
  figures["last commits of the root, again ms"] = await measureCpuMs(showRoot);

  const tip = await git(dir, "rev-parse", "main~1");
  const lineCount = (await git(dir, "show", `${tip}:${LONG_FILE}`)).split("\n").length;
  // With more time than a request has: the machine may be busy.
  figures["blame, first ms"] = await measureCpuMs(async () => {
    const walk = new BlameWalk(opened, new WorkBudget(6_000_000));
    const { objects, graph } = opened.tables;
    const position = graph.position(objects.find(Buffer.from(tip, "hex"))!.number);
    await walk.run(position, LONG_FILE, { line: 0, start: 0, count: lineCount }, true);
  });
  const blameLong = async (): Promise<void> => {
    expect((await blame(opened, { commit: tip, path: LONG_FILE, lines: null })).truncated).toBe(false);
  };
  figures["blame, again ms"] = await measureCpuMs(blameLong);
  figures["blame, git ms"] = await measureMs(() => git(dir, "blame", "--porcelain", "main~1", "--", LONG_FILE));

  await repository.pushFrom(dir, { [TIP]: "main" });
  figures["last commits of the root, first after a push ms"] = await measureCpuMs(showRoot);
  console.log("80,000 commits", JSON.stringify(figures, null, 2));

  expect(figures["log page, again ms"]).toBeLessThan(20);
  expect(figures["last commits of the root, again ms"]).toBeLessThan(50);
  expect(figures["last commits of the root, first after a push ms"]).toBeLessThan(400);
  expect(figures["blame, again ms"]).toBeLessThan(400);
  // Others are served meanwhile.
  expect(figures["filters, longest step ms"]).toBeLessThan(500);
});
