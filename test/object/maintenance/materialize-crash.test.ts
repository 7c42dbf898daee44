/** Processes die one after the other while files are written. `test/repository/faults` shows that a
 * failure at any step is repaired. */
import { expect, test } from "vitest";
import { FaultyChunkStore, seededFaults } from "../../harness/faulty-chunk-store.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { makeRepository } from "../../harness/git.ts";
import { packRevisions, PushedRepository } from "../pushing.ts";
import { NodeSql } from "../sqlite.ts";
import { commitFiles, expectFiles, listFiles } from "../worktree/worktree-harness.ts";

test("what they wrote is not written again but for a slice", async () => {
  const dir = await makeRepository("many.git", "--bare");
  const contents = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`f${i}`, `${i}`]));
  const tip = await commitFiles(dir, "main", contents);
  const store = new MemoryChunkStore();
  const sql = new NodeSql();
  const start = (chunks = new FaultyChunkStore(store, () => null)): PushedRepository =>
    new PushedRepository({ chunks, sql, worktrees: "default-branch" });
  let repository = start();
  await repository.push([["refs/heads/main", null, tip]], await packRevisions(dir, [tip]));
  let writes = 0;
  for (let lives = 0; (repository.tables.worktrees.get("main")?.materialized ?? null) === null; lives++) {
    const chunks = new FaultyChunkStore(store, seededFaults(lives, 1 / 400, ["crash"]));
    repository = start(chunks);
    await repository.repository.runJobs(Date.now() + lives * 60 * 60_000);
    writes += chunks.calls.filter(({ operation }) => operation === "putFile").length;
    expect(lives).toBeLessThan(20);
  }
  expect(writes).toBeGreaterThan(900);
  expect(writes).toBeLessThan(900 + 20 * 250);
  await expectFiles(repository, store, "main", tip, await listFiles(dir, tip));
});
