import { afterAll, beforeAll, expect, test } from "vitest";
import { measureContention } from "../../../scripts/bench/cases/contention.ts";
import { measureFirstPulls } from "../../../scripts/bench/cases/first-pulls.ts";
import { measureSaves } from "../../../scripts/bench/cases/saves.ts";
import { formatSamples } from "../../../scripts/bench/figures/sample.ts";
import { startHoldfast } from "../../../scripts/bench/hosts/holdfast.ts";
import type { Host } from "../../../scripts/bench/hosts/host.ts";
import { findFaults, Ledger } from "../../../scripts/bench/work/ledger.ts";
import { findSpikes } from "../../../scripts/bench/work/spikes.ts";
import { placesOf } from "../../../scripts/bench/work/stores.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";

const PLAN = { perFolder: 2, samples: 2, rounds: 1, warmUp: 1, restMs: 0, hasWorktree: false };

let holdfast: Host;

beforeAll(async () => {
  holdfast = await startHoldfast();
});

afterAll(() => holdfast.close());

test("two writers who share a repository change and make files, each in a branch", async () => {
  const shape = { writers: 2, repositories: 1, branches: 2, files: 7 };
  const { samples, spikes } = await measureSaves(["modify", "add"], [shape], PLAN, { native: null, holdfast });
  const [head, ...lines] = formatSamples(samples).trimEnd().split("\n");
  expect(head).toBe("phase,by,step,writers,repositories,branches,files,side,measure,round,value");
  for (const phase of ["modify", "add"]) {
    const count = (start: string): number => lines.filter((line) => line.startsWith(`${phase},${start}`)).length;
    for (const step of ["add", "commit", "pull", "push", "total"]) {
      expect(count(`git,${step},2,1,2,7,holdfast,ms,1,`), step).toBe(2);
    }
    expect(count("api,save,2,1,2,7,holdfast,ms,1,")).toBe(20);
    expect(count("api,save,2,1,2,7,holdfast,server CPU ms,1,")).toBe(1);
    expect(count("api,save,2,1,2,7,holdfast,R2 operations,1,0")).toBe(1);
  }
  expect(spikes[0]!.text).toContain("times the median of modify, 2 writers, 7 files, by git");
});

test("two writers of one branch meet, and what cannot be merged is a conflict", async () => {
  const { samples } = await measureContention({ writers: 2, files: 4 }, PLAN, { native: null, holdfast });
  const of = (edits: string, by: string, measure: string): number | undefined =>
    samples.find(({ work, ...sample }) => {
      return work["phase"] === `contention, ${edits}` && work["by"] === by && sample.measure === measure;
    })?.value;
  for (const by of ["git", "api"]) {
    expect(of("own lines", by, "merges per save"), by).toBeGreaterThan(0);
    expect(of("own lines", by, "conflicts per save"), by).toBe(0);
    expect(of("one line", by, "conflicts per save"), by).toBeGreaterThan(0);
  }
});

test("a first pull is of a repository with all its branches", async () => {
  const options = { rounds: 1, files: 3, perFolder: 50 };
  const samples = await measureFirstPulls(3, options, { native: null, holdfast });
  expect(samples.map(({ work, measure }) => [work["step"], work["branches"], measure])).toEqual([
    ["all branches", 3, "ms"],
    ["all branches", 3, "server CPU ms"],
    ["one branch", 3, "ms"],
    ["one branch", 3, "server CPU ms"],
  ]);
});

const SAVES = [1, 2, 3].map((number) => ({ number, path: "a.txt", slot: "a.txt" }));
const SUBJECTS = ["Save 3", "Save 2", "Save 1", "Commit 0"];

test.for([
  ["nothing", SUBJECTS, ["a.txt:Save 3"], []],
  ["a lost save", ["Save 3", "Save 1", "Commit 0"], ["a.txt:Save 3"], ["Save 2 is lost"]],
  ["a save made twice", ["Save 3", ...SUBJECTS], ["a.txt:Save 3"], ["Save 3 is there 2 times"]],
  [
    "one nobody was told of",
    ["Save 4", ...SUBJECTS],
    ["a.txt:Save 3"],
    ["Save 4 is there, which was never acknowledged"],
  ],
  ["a file put back", SUBJECTS, ["a.txt:Save 2"], ["Save 3 is a commit, but a.txt does not show it"]],
] as const)("the check notices %s", ([, subjects, lines, faults]) => {
  expect(findFaults(SAVES, subjects, new Set(lines))).toEqual(faults);
});

test("the check reads what a repository holds", async () => {
  const dir = await makeRepository("saved.git", "--bare");
  const commit = (number: number): string =>
    `commit refs/heads/main\ncommitter Ada Example <ada@example.com> 1700000000 +0000\ndata <<.\nSave ${number}\n.\n` +
    `M 100644 inline a/file-${number}.txt\ndata <<.\nSave ${number}\n.\n`;
  expect((await tryGit(dir, ["fast-import", "--quiet"], { stdin: commit(1) + commit(2) })).code).toBe(0);
  const check = async (numbers: readonly number[]): Promise<number> => {
    const ledger = new Ledger();
    for (const number of numbers) {
      const path = `a/file-${number}.txt`;
      ledger.note(dir, "main", { number, path, slot: path, needsText: false, write: () => "" });
    }
    return ledger.check();
  };
  expect(await check([1, 2])).toBe(2);
  await expect(check([1, 2, 3])).rejects.toThrow("Save 3 is lost");
  await git(dir, "update-ref", "refs/heads/main", "main~1");
  await expect(check([1, 2])).rejects.toThrow("Save 2 is lost");
});

test("writers share repositories and branches out among themselves", () => {
  const places = (writers: number, repositories: number, branches: number): string[] =>
    Array.from({ length: writers }, (_, writer) =>
      placesOf(writer, { writers, repositories, branches, files: 1 })
        .map(([repository, branch]) => `${repository} ${branch}`)
        .join(", "),
    );
  expect(places(2, 2, 1)).toEqual(["0 main", "1 main"]);
  expect(places(2, 5, 1)).toEqual(["0 main, 2 main, 4 main", "1 main, 3 main"]);
  expect(places(5, 2, 2)).toEqual(["0 main", "1 main", "0 branch-1", "1 branch-1", "0 main"]);
});

test("a spike has the names of what happened meanwhile", () => {
  const saves = [10, 10, 10, 50].map((ms, index) => ({ startMs: index * 100, endMs: index * 100 + ms }));
  const happenings = [
    { name: "job materialize", startMs: 290, endMs: 340 },
    { name: "job prune", startMs: 100, endMs: 290 },
  ];
  const [spike] = findSpikes("a loop", saves, happenings, 1);
  expect(spike!.factor).toBe(5);
  expect(spike!.text).toBe("50.0 ms, 5.0 times the median of a loop, 0.30 s into its loop: job materialize (50 ms)");
});
