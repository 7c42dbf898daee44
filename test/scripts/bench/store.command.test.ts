import { afterAll, beforeAll, expect, test } from "vitest";
import { Bench } from "../../../scripts/bench/figures/bench.ts";
import type { Host } from "../../../scripts/bench/hosts/host.ts";
import { startHoldfast } from "../../../scripts/bench/hosts/hosts.ts";
import { measureContention, measureFirstPulls, measureSaves, placesOf } from "../../../scripts/bench/store/store.ts";

const PLAN = { samples: 2, rounds: 1, restMs: 0, hasWorktree: false };

let holdfast: Host;

beforeAll(async () => {
  holdfast = await startHoldfast();
});

afterAll(() => holdfast.close());

test("two writers who share a repository change and make files, each in a branch", async () => {
  const shape = { writers: 2, repositories: 1, branches: 2, files: 7 };
  const bench = new Bench(new AsyncDisposableStack());
  await measureSaves(["modify", "add"], [shape], PLAN, { native: null, holdfast }, bench);
  for (const phase of ["modify", "add"]) {
    const count = (side: string, measure: string): number =>
      bench.samples.filter((one) => one.side === side && one.measure === measure && one.work["phase"] === phase).length;
    for (const step of ["add", "commit", "pull", "push", "save"]) expect(count("holdfast", `${step} ms`), step).toBe(2);
    expect(count("api", "save ms")).toBe(20);
    expect(count("api", "server CPU ms per save")).toBe(1);
    const operations = bench.samples.filter((one) => one.measure === "R2 operations" && one.work["phase"] === phase);
    expect(operations.map(({ value }) => value)).toEqual([0, 0]);
  }
  expect(bench.samples[0]!.work).toEqual({ phase: "modify", ...shape });
});

test("two writers of one branch meet, and what cannot be merged is a conflict", async () => {
  const shape = { writers: 2, repositories: 1, branches: 1, files: 4 };
  const bench = new Bench(new AsyncDisposableStack());
  await measureContention(shape, PLAN, { native: null, holdfast }, bench);
  const of = (edits: string, side: string, measure: string): number | undefined =>
    bench.samples.find(
      (one) => one.work["phase"] === `contention, ${edits}` && one.side === side && one.measure === measure,
    )?.value;
  for (const side of ["holdfast", "api"]) {
    expect(of("own lines", side, "merges per save"), side).toBeGreaterThan(0);
    expect(of("own lines", side, "conflicts per save"), side).toBe(0);
    expect(of("one line", side, "conflicts per save"), side).toBeGreaterThan(0);
  }
});

test("a first pull is of a repository with all its branches", async () => {
  const bench = new Bench(new AsyncDisposableStack());
  await measureFirstPulls(3, 3, 1, { native: null, holdfast }, bench);
  expect(bench.samples.map(({ work, measure }) => [work["phase"], work["branches"], measure])).toEqual([
    ["pull of all branches", 3, "wall ms"],
    ["pull of all branches", 3, "server CPU ms"],
    ["pull of one branch", 3, "wall ms"],
    ["pull of one branch", 3, "server CPU ms"],
  ]);
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
