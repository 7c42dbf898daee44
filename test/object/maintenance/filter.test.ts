import { expect, test } from "vitest";
import { FILTER_OBJECTS, RUN_OBJECTS } from "../../../src/object/maintenance/maintenance-jobs.ts";
import { openPathFilters } from "../../../src/object/store/graph/path-filter-table.ts";
import { writeFilters } from "../../../src/object/history/write-filters.ts";
import { readGitFilters } from "../../harness/git-path-filters.ts";
import { PushedRepository } from "../pushing.ts";
import { openFor, reopen, storedFilters } from "../history/filtered-repository.ts";
import { importHistory, putFile } from "../tally/authored-history.ts";
import { housekeep } from "./housekeep.ts";

/** A history of so many commits, of which every tenth changes a file. */
function importCommits(count: number): Promise<string> {
  return importHistory(
    Array.from({ length: count }, (_, i) => ({
      author: "A <a@x>",
      date: `${1_600_000_000 + i * 60} +0000`,
      ...(i % 10 === 0 ? { changes: putFile(`dir/file-${i % 7}.c`, `content ${i}`) } : {}),
    })),
  );
}

const sorted = (filters: ReadonlyMap<string, string>): string[] =>
  Array.from(filters, ([commit, filter]) => `${commit} ${filter}`).toSorted();

const countFiltered = ({ sql }: PushedRepository): number => [...openPathFilters(sql).all()].length;

test("a push that brings much, or many that bring little, have filters made", async () => {
  const dir = await importCommits(FILTER_OBJECTS + 20);
  const repository = new PushedRepository();
  const hasJob = (): boolean => repository.repository.state.jobs.has("filter", "");
  await repository.pushFrom(dir, { "refs/heads/main": `main~${FILTER_OBJECTS}` });
  expect(hasJob()).toBe(false);
  await repository.pushFrom(dir, { "refs/heads/main": "main" });
  expect(hasJob()).toBe(true);
  await housekeep(repository, Date.now());
  expect(repository.repository.state.jobs.lastRuns().filter).toMatchObject({ commits: FILTER_OBJECTS + 20 });
  expect(sorted(storedFilters(repository))).toEqual(sorted(await readGitFilters(dir)));
});

test("a run ends after a bounded number of commits, and the next one goes on", { tags: "sweep" }, async () => {
  const count = RUN_OBJECTS + 1_000;
  const dir = await importCommits(count);
  const repository = new PushedRepository();
  await repository.pushFrom(dir, { "refs/heads/main": "main" });
  await repository.repository.runJobs(Date.now());
  expect(countFiltered(repository)).toBe(RUN_OBJECTS);
  const next = reopen(repository);
  await housekeep(next, Date.now() + 1_000);
  expect(countFiltered(next)).toBe(count);
});

test("work that is interrupted keeps the slice that it has made, and goes on", { tags: "sweep" }, async () => {
  const dir = await importCommits(9_000);
  const repository = new PushedRepository();
  await repository.pushFrom(dir, { "refs/heads/main": "main" });
  let rests = 0;
  const worker = { isInterrupted: true, rest: async () => void (rests += 1) };
  const { tables, reader } = openFor(repository);
  expect(await writeFilters({ tables, reader }, Infinity, worker)).toEqual({ commits: 4_000, isAll: false });
  expect(countFiltered(repository)).toBe(4_000);
  // Every hundred trees: others are served meanwhile.
  expect(rests).toBeGreaterThan(10);
  await housekeep(repository, Date.now() + 1_000);
  expect(countFiltered(repository)).toBe(9_000);
});

test("of 100 pushes of a commit each, none writes a row for filters", { tags: "sweep" }, async () => {
  const dir = await importCommits(1_000);
  const repository = new PushedRepository();
  await repository.pushFrom(dir, { "refs/heads/main": "main~100" });
  await housekeep(repository, Date.now());
  const before = repository.sql.exec("SELECT * FROM path_filters").toArray();
  for (let k = 99; k >= 0; k--) await repository.pushFrom(dir, { "refs/heads/main": `main~${k}` });
  expect(repository.repository.state.jobs.has("filter", "")).toBe(false);
  expect(repository.sql.exec("SELECT * FROM path_filters").toArray()).toEqual(before);
});
