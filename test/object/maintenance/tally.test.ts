import { expect, test } from "vitest";
import { RUN_OBJECTS, TALLY_OBJECTS } from "../../../src/object/maintenance/maintenance-jobs.ts";
import { git } from "../../harness/git.ts";
import { openTreeSums } from "../../../src/object/store/index/tree-sum-table.ts";
import { openAuthored } from "../../../src/object/store/graph/author-table.ts";
import { PushedRepository } from "../pushing.ts";
import { clientOf, importHistory, listByGit, listContributors, putFile } from "../tally/authored-history.ts";
import { housekeep } from "./housekeep.ts";

/** A history of so many commits, by three people. */
function importCommits(count: number): Promise<string> {
  return importHistory(
    Array.from({ length: count }, (_, i) => ({
      author: `Author ${i % 3} <${i % 3}@x>`,
      date: `${1_600_000_000 + i * 60} +0000`,
      ...(i === 0 ? { changes: putFile("a.c", "content") } : {}),
    })),
  );
}

const countAuthored = ({ sql }: PushedRepository): number => [...openAuthored(sql).all()].length;

test(
  "a push that brings much, or many that bring little, are summed up before anybody asks",
  { tags: "sweep" },
  async () => {
    const dir = await importCommits(TALLY_OBJECTS + 10);
    const repository = new PushedRepository();
    await repository.pushFrom(dir, { "refs/heads/main": "main~20" });
    expect(repository.repository.state.jobs.has("tally", "")).toBe(false);
    await repository.pushFrom(dir, { "refs/heads/main": "main" });
    await housekeep(repository, Date.now());
    expect(countAuthored(repository)).toBe(TALLY_OBJECTS + 10);
    expect([...openTreeSums(repository.sql).all()]).toHaveLength(1);
    expect(repository.repository.state.jobs.lastRuns().tally).toMatchObject({ commits: TALLY_OBJECTS + 10 });
    expect(await listContributors(clientOf(repository), "main")).toBe(await listByGit(dir, "main"));
  },
);

test(
  "a run ends after a bounded number of commits; who asks meanwhile has the rest done",
  { tags: "sweep" },
  async () => {
    const count = RUN_OBJECTS + 1_000;
    const dir = await importCommits(count);
    const repository = new PushedRepository();
    await repository.pushFrom(dir, { "refs/heads/main": "main" });
    await repository.repository.runJobs(Date.now());
    expect(countAuthored(repository)).toBe(RUN_OBJECTS);
    const client = clientOf(repository);
    expect((await client.stats(null)).commits).toBe(Number(await git(dir, "rev-list", "--count", "main")));
    expect(countAuthored(repository)).toBe(count);
  },
);
