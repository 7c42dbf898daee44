import { expect, test } from "vitest";
import { PLAN_LIFE_MS, PRUNE_DELAY_MS, RUN_OBJECTS } from "../../../src/object/maintenance/maintenance-jobs.ts";
import { PRUNE_GRACE_MS } from "../../../src/base/format/limits.ts";
import { PIECE_STRIDE } from "../../../src/base/bytes/plan-rows.ts";
import type { SqlBinding, SqlCursor, SqlValue } from "../../../src/object/store/sql/sql.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { git } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import {
  assemblePack,
  insertAll,
  makeCommit,
  type MadeObject,
  makeObject,
  makeTree,
  packOf,
  refDelta,
} from "../../harness/pack-builder.ts";
import { Random } from "../../harness/random.ts";
import { encodeEntry } from "../../harness/raw.ts";
import { PushedRepository, type PushedOptions } from "../pushing.ts";
import { NodeSql } from "../sqlite.ts";
import { expectConsistent, GatedStore, housekeep, reachableOids, storedOids } from "./housekeep.ts";
import { expectSound } from "./tiny-pushes.ts";

const HOUR_MS = 60 * 60_000;

/** Unreachable objects may be removed at once; bundles are tested elsewhere. */
function openImpatient(options: PushedOptions = {}): PushedRepository {
  return new PushedRepository({ ...options, limits: { pruneGraceMs: 0, minBundleBytes: Number.MAX_SAFE_INTEGER } });
}

const later = (hours = 2): number => Date.now() + hours * HOUR_MS;

const prunesOf = ({ events }: PushedRepository) =>
  events.filter((event) => event.event === "job" && event.kind === "prune");

/** Compares everything stored with what git says its refs reach. */
async function expectPruned(repository: PushedRepository, dir: string): Promise<void> {
  expectConsistent(repository);
  const refs = [...repository.refs().values()];
  expect(storedOids(repository)).toEqual(await reachableOids(dir, ...refs));
  for (const ref of new Set(refs)) await expectSound(await repository.clone(ref), ref);
}

test("what deleted and forced refs led to goes, and nothing else; it can be pushed again", async () => {
  const dir = await makeHistory({ commits: 120, files: 40, branches: 6, merges: 2, tags: 6, upheavals: 4 });
  const names = (await git(dir, "for-each-ref", "--format=%(refname)")).split("\n");
  const repository = openImpatient();
  await repository.pushFrom(dir, Object.fromEntries(names.map((name) => [name, name])));
  const before = storedOids(repository);
  const last = repository.tables.objects.lastNumber();
  const old = repository.tables;

  const deleted = Object.fromEntries(names.filter((name) => /tags|side-[345]/.test(name)).map((name) => [name, null]));
  await repository.pushFrom(dir, { ...deleted, "refs/heads/main": "main~60" });
  await housekeep(repository, later(0));
  expect(storedOids(repository)).toEqual(before);
  await housekeep(repository, later());
  expect(storedOids(repository).length).toBeLessThan(before.length);
  await expectPruned(repository, dir);
  expect(repository.tables).not.toBe(old);
  expect(repository.repository.state.jobs.has("prune", "")).toBe(false);

  await repository.pushFrom(dir, Object.fromEntries(names.map((name) => [name, name])));
  expect(storedOids(repository)).toEqual(before);
  // No number is used twice.
  expect(repository.tables.objects.lastNumber()).toBe(
    last + before.length - (last - repository.tables.objects.pruned().size),
  );
  await expectPruned(repository, dir);
});

test.each([1, 2, 3, 4])(
  "any history of pushes, deletions and prunings leaves what git leaves (seed %i)",
  { tags: "sweep" },
  async (seed) => {
    const random = new Random(seed);
    const dir = await makeHistory({ seed, commits: 60, files: 25, branches: 5, merges: 3, upheavals: 6 });
    const commits = (await git(dir, "rev-list", "--all")).split("\n");
    const repository = openImpatient();
    for (let round = 0; round < 12; round++) {
      const moves: Record<string, string | null> = {};
      for (let i = 0; i <= random.below(3); i++) {
        const name = `refs/heads/b${random.below(4)}`;
        moves[name] = random.below(4) === 0 && repository.refs().has(name) ? null : random.pick(commits);
      }
      await repository.pushFrom(dir, moves);
      if (random.below(3) > 0) continue;
      await housekeep(repository, later(2 + round));
      await expectPruned(repository, dir);
    }
    await housekeep(repository, later(99));
    await expectPruned(repository, dir);
    expect(await repository.keys()).toEqual([...repository.tables.chunks.keys()].toSorted());
  },
);

test("what was unreachable for less than the grace period stays, and so does what nothing leads to", async () => {
  const repository = new PushedRepository();
  const [first, second] = ["first\n", "second\n"].map((text) => makeCommitOf(text));
  const loose = makeObject("blob", "of no tree\n");
  const inner = makeObject("blob", "only in a tree of no commit\n");
  const looseTree = makeTree(["100644", "inner", inner]);
  await repository.push([["refs/heads/main", null, first!.at(-1)!.oid]], packOf(...first!, loose, looseTree, inner));
  await repository.push([["refs/heads/main", first!.at(-1)!.oid, second!.at(-1)!.oid]], packOf(...second!));
  const now = Date.now();
  expect(repository.tables.jobs.nextDueMs()).toBeGreaterThan(now + PRUNE_GRACE_MS);
  expect(repository.tables.jobs.nextDueMs()).toBeLessThan(now + PRUNE_GRACE_MS + PRUNE_DELAY_MS + 60_000);
  const before = storedOids(repository);
  repository.tables.jobs.add("prune", "", now);
  await housekeep(repository, now + PRUNE_GRACE_MS - 60_000);
  expect(storedOids(repository)).toEqual(before);
  expect(prunesOf(repository)).toMatchObject([{ objects: 0, again: false }]);
  // The next run schedules itself.
  await housekeep(repository, now + 3 * PRUNE_GRACE_MS);
  expect(storedOids(repository)).toEqual(second!.map(({ oid }) => oid).toSorted());
  expectConsistent(repository);
  expect(repository.tables.jobs.nextDueMs()).toBe(null);
});

test("a recent tree that nothing leads to keeps what it leads to, though that be old", async () => {
  const repository = new PushedRepository();
  const [old, main] = [makeCommitOf("old\n"), makeCommitOf("main\n")];
  const day = 24 * HOUR_MS;
  await repository.push([["refs/other/old", null, old.at(-1)!.oid]], packOf(...old));
  await repository.push([["refs/heads/main", null, main.at(-1)!.oid]], packOf(...main));
  await repository.push([["refs/other/old", old.at(-1)!.oid, null]], null);
  repository.sql.exec("UPDATE pushes SET time_ms = time_ms - ?", 20 * day);
  const next = makeCommitOf("next\n", main.at(-1)!.oid);
  const looseTree = makeTree(["100644", "again", old[0]!]);
  await repository.push([["refs/heads/main", main.at(-1)!.oid, next.at(-1)!.oid]], packOf(...next, looseTree));
  repository.tables.jobs.add("prune", "", Date.now());
  await housekeep(repository, later());
  expect(storedOids(repository)).toEqual([...main, ...next, looseTree, old[0]!].map(({ oid }) => oid).toSorted());
  expectConsistent(repository);
  // The tree counts as new again.
  const tip = makeCommit(looseTree, [next.at(-1)!.oid]);
  const { refs } = await repository.push([["refs/heads/main", next.at(-1)!.oid, tip.oid]], packOf(tip));
  expect(refs[0]!.error).toBe(null);
  await expectSound(await repository.clone(tip.oid), tip.oid);
});

/** A file, its tree and a commit. */
function makeCommitOf(text: string | Uint8Array, ...parents: readonly string[]): MadeObject[] {
  const blob = makeObject("blob", text);
  const tree = makeTree(["100644", "file", blob]);
  return [blob, tree, makeCommit(tree, parents)];
}

/** Two branches without a common commit: `gone`, with 400 KB, was deleted; some of it is a delta
 * base for `main`. */
async function pushHalfGone(
  repository: PushedRepository,
  text: string | Uint8Array = "main\n",
): Promise<{ gone: MadeObject[]; main: MadeObject[] }> {
  const gone = makeCommitOf(new Random(1).bytes(400_000));
  const main = makeCommitOf(text);
  const noise = makeObject("blob", new Random(2).bytes(40_000));
  const delta = encodeEntry(refDelta(gone[0]!.oid, insertAll(gone[0]!.content.length, main[0]!.content)));
  await repository.push([["refs/other/gone", null, gone[2]!.oid]], packOf(...gone));
  const pack = assemblePack([delta, ...[main[1]!, main[2]!, noise].map((object) => encodeEntry(object))]);
  expect((await repository.push([["refs/heads/main", null, main[2]!.oid]], pack)).refs[0]!.error).toBe(null);
  await repository.push([["refs/other/gone", gone[2]!.oid, null]], null);
  return { gone, main };
}

test("what stays as a delta on what goes becomes whole; the bytes go a day later", async () => {
  const repository = openImpatient();
  const { main } = await pushHalfGone(repository);
  const [key] = await repository.keys();
  const planned = await repository.planClone(main[2]!.oid);
  await housekeep(repository, later());
  expect(prunesOf(repository)[0]).toMatchObject({ nodes: 1, undeltified: 1, again: true });
  expect(storedOids(repository)).toEqual(main.map(({ oid }) => oid).toSorted());
  expectConsistent(repository);
  await expectSound(await repository.clone(main[2]!.oid), main[2]!.oid);
  expect(await repository.keys()).toEqual([key]);
  await expectSound(await repository.stream(planned), main[2]!.oid);
  await housekeep(repository, later() + PLAN_LIFE_MS + HOUR_MS);
  expect(await repository.keys()).toEqual([]);
});

test("a commit on a pruned tree, or with a pruned parent, is refused as missing, and taken with all it needs", async () => {
  const repository = openImpatient();
  const { gone, main } = await pushHalfGone(repository);
  await housekeep(repository, later());
  const onTree = makeCommit(gone[1]!, [main[2]!.oid]);
  const onParent = makeCommit(main[1]!, [gone[2]!.oid]);
  for (const commit of [onTree, onParent]) {
    const { refs } = await repository.push([["refs/heads/new", null, commit.oid]], packOf(commit));
    expect(refs[0]!.error).toMatch("missing necessary objects");
  }
  const { refs } = await repository.push([["refs/heads/new", null, onParent.oid]], packOf(onParent, ...gone));
  expect(refs[0]!.error).toBe(null);
  expectConsistent(repository);
  await expectSound(await repository.clone(onParent.oid), onParent.oid);
});

test("a thin push whose base is pruned while it is indexed is refused", async () => {
  const chunks = new GatedStore(new MemoryChunkStore());
  const repository = openImpatient({ chunks });
  const { gone, main } = await pushHalfGone(repository);
  const next = makeCommitOf("next\n", main[2]!.oid);
  const delta = encodeEntry(refDelta(gone[0]!.oid, insertAll(gone[0]!.content.length, next[0]!.content)));
  // Somebody asks for it: by itself it would wait for the push.
  repository.repository.state.holds.begin("hurry");
  chunks.duringPut(() => housekeep(repository, later()));
  // Writing it is the last await before the pruning is committed.
  const noise = makeObject("blob", new Random(3).bytes(300_000));
  const pack = assemblePack([delta, ...[next[1]!, next[2]!, noise].map((object) => encodeEntry(object))]);
  const { refs } = await repository.push([["refs/heads/main", main[2]!.oid, next[2]!.oid]], pack);
  expect(prunesOf(repository).length).toBeGreaterThan(0);
  expect(refs[0]!.error).toMatch(`missing necessary objects: ${gone[0]!.oid}`);
  expectConsistent(repository);
  expect(storedOids(repository)).toEqual(main.map(({ oid }) => oid).toSorted());
  expect(
    (await repository.push([["refs/heads/main", main[2]!.oid, next[2]!.oid]], packOf(...next))).refs[0]!.error,
  ).toBe(null);
  await expectSound(await repository.clone(next[2]!.oid), next[2]!.oid);
});

test("a push that is applied while a pruning is under way is seen by its transaction", { tags: "sweep" }, async () => {
  const chunks = new GatedStore(new MemoryChunkStore());
  const repository = openImpatient({ chunks });
  // The undeltified object is too large for a row: the pruning waits for a write.
  const { gone, main } = await pushHalfGone(repository, new Random(4).bytes(2_100_000));
  // One push gives the objects a ref again.
  chunks.duringPut(async () => {
    await repository.push([["refs/heads/back", null, gone[2]!.oid]], null);
  });
  await housekeep(repository, later());
  expect(chunks.onPut).toBe(null);
  await expectSound(await repository.clone(gone[2]!.oid, main[2]!.oid), gone[2]!.oid);

  // The other adds a delta on them.
  await repository.push([["refs/heads/back", gone[2]!.oid, null]], null);
  const twin = makeCommitOf("twin\n");
  const other = makeObject("blob", new Random(5).bytes(2_100_000));
  const withBase = (object: MadeObject) =>
    encodeEntry(refDelta(gone[0]!.oid, insertAll(gone[0]!.content.length, object.content)));
  const tree = makeTree(["100644", "other", other]);
  const commit = makeCommit(tree);
  await repository.push(
    [["refs/heads/other", null, commit.oid]],
    assemblePack([withBase(other), encodeEntry(tree), encodeEntry(commit)]),
  );
  chunks.duringPut(async () => {
    const pack = assemblePack([withBase(twin[0]!), encodeEntry(twin[1]!), encodeEntry(twin[2]!)]);
    expect((await repository.push([["refs/heads/twin", null, twin[2]!.oid]], pack)).refs[0]!.error).toBe(null);
  });
  await housekeep(repository, later(9));
  expect(chunks.onPut).toBe(null);
  expect(storedOids(repository)).not.toContain(gone[0]!.oid);
  expectConsistent(repository);
  for (const tip of [main[2]!.oid, commit.oid, twin[2]!.oid]) await expectSound(await repository.clone(tip), tip);
});

test("nothing is pruned while a fetch or push holds object numbers", async () => {
  const repository = openImpatient();
  const { gone } = await pushHalfGone(repository);
  const { state } = repository.repository;
  const now = later();
  await state.holdNumbers(() => repository.repository.runJobs(now));
  expect(repository.events.at(-1)).toMatchObject({ event: "job-failed", kind: "prune" });
  expect(storedOids(repository)).toContain(gone[0]!.oid);
  await housekeep(repository, now + HOUR_MS);
  expect(storedOids(repository)).not.toContain(gone[0]!.oid);
});

test("chunks of which a quarter is wasted are rewritten, others stay and go object by object", async () => {
  const repository = openImpatient();
  const main = makeCommitOf("main\n");
  const random = new Random(9);
  const big = makeCommitOf(random.bytes(500_000), main[2]!.oid);
  const side = makeCommitOf(random.bytes(90_000), main[2]!.oid);
  await repository.push(
    [
      ["refs/heads/main", null, big[2]!.oid],
      ["refs/heads/side", null, side[2]!.oid],
    ],
    packOf(...main, ...side, ...big),
  );
  const [chunk] = repository.tables.chunks.allInOrder();
  await repository.push([["refs/heads/side", side[2]!.oid, null]], null);
  await housekeep(repository, later());
  expect(repository.tables.chunks.allInOrder()).toEqual([{ ...chunk, whole: false }]);
  await expectSound(await repository.clone(big[2]!.oid), big[2]!.oid);

  await repository.push([["refs/heads/main", big[2]!.oid, main[2]!.oid]], null);
  await housekeep(repository, later(9));
  const [rewritten, ...others] = repository.tables.chunks.allInOrder();
  expect(others).toEqual([]);
  expect(rewritten).toMatchObject({ key: null, whole: true, firstNumber: 1, lastNumber: 3 });
  expect(rewritten!.size).toBeLessThan(400);
  await expectSound(await repository.clone(main[2]!.oid), main[2]!.oid);
  await housekeep(repository, later(99));
  expect(await repository.keys()).toEqual([]);
});

test("chunks go whole in a clone although numbers between them were pruned", async () => {
  const repository = openImpatient();
  const blobs = Array.from({ length: 1_200 }, (_, i) => makeObject("blob", `${i}\n`));
  const tree = makeTree(...blobs.map((blob, i) => ["100644", `f${10_000 + i}`, blob] as const));
  const first = makeCommit(tree);
  const gone = makeCommitOf("gone\n");
  const second = makeCommitOf("second\n", first.oid);
  await repository.push([["refs/heads/main", null, first.oid]], packOf(...blobs, tree, first));
  await repository.push([["refs/other/gone", null, gone[2]!.oid]], packOf(...gone));
  const delta = encodeEntry(refDelta(blobs[0]!.oid, insertAll(blobs[0]!.content.length, second[0]!.content)));
  const pack = assemblePack([delta, encodeEntry(second[1]!), encodeEntry(second[2]!)]);
  await repository.push([["refs/heads/main", first.oid, second[2]!.oid]], pack);
  await repository.push([["refs/other/gone", gone[2]!.oid, null]], null);
  await housekeep(repository, later());
  expect(repository.tables.objects.pruned().size).toBe(3);
  const plan = await repository.planClone(second[2]!.oid);
  expect(plan.pieces.length).toBe(2 * PIECE_STRIDE);
  await expectSound(await repository.stream(plan), second[2]!.oid);
});

test("many objects go in slices", { tags: "sweep" }, async () => {
  const repository = openImpatient();
  const commits: MadeObject[] = [];
  const made: MadeObject[] = [];
  for (let c = 0; c < 3; c++) {
    const blobs = Array.from({ length: 9_000 }, (_, i) => makeObject("blob", `${c} ${i}\n`));
    const tree = makeTree(...blobs.map((blob, i) => ["100644", `f${10_000 + i}`, blob] as const));
    const commit = makeCommit(tree, c === 0 ? [] : [commits.at(-1)!.oid]);
    commits.push(commit);
    made.push(...blobs, tree, commit);
  }
  const main = makeCommitOf("main\n");
  await repository.push([["refs/heads/main", null, main[2]!.oid]], packOf(...main));
  await repository.push([["refs/heads/many", null, commits.at(-1)!.oid]], packOf(...made));
  await repository.push([["refs/heads/many", commits.at(-1)!.oid, null]], null);
  await housekeep(repository, later());
  const runs = prunesOf(repository) as unknown as { objects: number; again: boolean }[];
  expect(runs.filter(({ objects }) => objects > 0).length).toBeGreaterThan(1);
  for (const { objects } of runs) expect(objects).toBeLessThanOrEqual(RUN_OBJECTS);
  expect(storedOids(repository)).toEqual(main.map(({ oid }) => oid).toSorted());
  expectConsistent(repository);
});

test("a database that cannot be read right after the removal leaves no memory of what is gone", async () => {
  /** Fails once, at the first statement after a pruning. */
  class FailingSql extends NodeSql {
    #removed: "not yet" | "uncommitted" | "just now" | "before" = "not yet";

    override exec<T extends Record<string, SqlValue>>(query: string, ...bindings: SqlBinding[]): SqlCursor<T> {
      if (this.#removed === "just now") {
        this.#removed = "before";
        throw new Error("database or disk is full");
      }
      if (query.includes("INTO pruned") && this.#removed === "not yet") this.#removed = "uncommitted";
      if (query === "COMMIT" && this.#removed === "uncommitted") this.#removed = "just now";
      return super.exec(query, ...bindings);
    }
  }
  const repository = openImpatient({ sql: new FailingSql() });
  const { main } = await pushHalfGone(repository);
  await housekeep(repository, later());
  expect(repository.events).toContainEqual(expect.objectContaining({ event: "job-failed", kind: "prune" }));
  expect(storedOids(repository)).toEqual(main.map(({ oid }) => oid).toSorted());
  expect(repository.tables.graph.length).toBe(repository.reopen().graph.length);
});
