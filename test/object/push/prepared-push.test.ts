/** Large pushes, which are prepared before their transaction. */
import { expect, test } from "vitest";
import { makeCommit, makeObject, makeTree } from "../../harness/pack-builder.ts";
import { housekeep } from "../maintenance/housekeep.ts";
import { packMany } from "../many-objects.ts";
import { PushedRepository } from "../pushing.ts";
import { checkRepository, readRefs } from "../faults/invariants.ts";

const MAIN = "refs/heads/main";
const SMALL = makeObject("blob", "small\n");
const SMALL_TREE = makeTree(["100644", "small", SMALL]);
const SMALL_COMMIT = makeCommit(SMALL_TREE.oid, [], "small\n");

/** More objects than are applied at once. */
const BLOBS = Array.from({ length: 6_000 }, (_, i) => makeObject("blob", `blob ${i}\n`));
const TREE = makeTree(
  ...BLOBS.map((blob, i): [string, string, typeof blob] => ["100644", `file-${i}`, blob]).toSorted(([, a], [, b]) =>
    a < b ? -1 : 1,
  ),
);
const COMMIT = makeCommit(TREE.oid, [], "large\n");
const LARGE = [...BLOBS, TREE, COMMIT];

test("a large first push is taken", { tags: "sweep" }, async () => {
  const repository = new PushedRepository();
  expect(await repository.push([[MAIN, null, COMMIT.oid]], packMany(LARGE))).toMatchObject({
    unpack: "ok",
    refs: [{ error: null }],
  });
  await checkRepository(repository, repository.chunks, readRefs(repository));
  expect(repository.tables.objects.present().size).toBe(LARGE.length);
});

test(
  "what the jobs of an earlier push write does not make a large push prepare itself again",
  { tags: "sweep" },
  async () => {
    const repository = new PushedRepository({ worktrees: "default-branch" });
    await repository.push([[MAIN, null, COMMIT.oid]], packMany(LARGE));
    const { state } = repository.repository;
    const { layout } = state;
    await housekeep(repository, Date.now() + 60_000);
    const stored = await Array.fromAsync(repository.chunks.list(""));
    expect(stored.filter((key) => key.includes("/worktrees/"))).toHaveLength(BLOBS.length);
    expect(Object.keys(state.jobs.lastRuns()).toSorted()).toEqual(["filter", "tally"]);
    expect(state.layout).toBe(layout);
  },
);

test("what a refused large first push has prepared is of no account to the next one", async () => {
  const repository = new PushedRepository();
  // The old value is wrong, so nothing is created.
  const refused = await repository.receive([[MAIN, SMALL_COMMIT.oid, COMMIT.oid]], packMany(LARGE));
  expect(refused.refs[0]!.error).not.toBeNull();
  expect(repository.repository.state.tables).toBeNull();
  // Two hours later nothing is left of it.
  for (let hour = 0; hour < 4; hour++) await repository.repository.runJobs(Date.now() + hour * 3_600_000);
  const taken = await repository.push([[MAIN, null, SMALL_COMMIT.oid]], packMany([SMALL, SMALL_TREE, SMALL_COMMIT]));
  expect(taken).toMatchObject({ unpack: "ok", refs: [{ error: null }] });
  await checkRepository(repository, repository.chunks, readRefs(repository));
});
