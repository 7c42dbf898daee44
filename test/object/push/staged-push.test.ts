// Pushes so large that most of their index is written before their transaction.
import { expect, test, vi } from "vitest";
import type { SqlBinding, SqlCursor, SqlValue } from "../../../src/object/store/sql/sql.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { makeCommit, makeObject, makeTree } from "../../harness/pack-builder.ts";
import { checkRepository, readRefs } from "../faults/invariants.ts";
import { packMany } from "../many-objects.ts";
import { PushedRepository } from "../pushing.ts";
import { NodeSql } from "../sqlite.ts";

const MAIN = "refs/heads/main";
const SMALL = makeCommit(makeTree(["100644", "small", makeObject("blob", "small\n")]).oid, [], "small\n");
const SMALL_OBJECTS = [
  makeObject("blob", "small\n"),
  makeTree(["100644", "small", makeObject("blob", "small\n")]),
  SMALL,
];

/** More objects than a page of the index has. */
const BLOBS = Array.from({ length: 26_000 }, (_, i) => makeObject("blob", `blob ${i}\n`));
const TREES = Array.from({ length: 26 }, (_, t) =>
  makeTree(
    ...BLOBS.slice(t * 1_000, (t + 1) * 1_000).map((blob, i): [string, string, typeof blob] => [
      "100644",
      `file-${1_000 + i}`,
      blob,
    ]),
  ),
);
const ROOT = makeTree(...TREES.map((tree, i): [string, string, typeof tree] => ["40000", `dir-${10 + i}`, tree]));
const LARGE = makeCommit(ROOT.oid, [SMALL.oid], "large\n");
const LARGE_PACK = packMany([...BLOBS, ...TREES, ROOT, LARGE]);

/** What stages rows, or removes them. */
const STAGING = /\b(?:INTO|FROM|UPDATE) (?:staged|object_chunks|object_ids)\b/;

/** A database that calls `onStaging` before each statement that writes what is staged, until the
 * transaction. */
class WatchedSql extends NodeSql {
  onStaging: (query: string) => void = () => undefined;
  #isInTransaction = false;

  override exec<T extends Record<string, SqlValue>>(query: string, ...bindings: SqlBinding[]): SqlCursor<T> {
    if (query === "BEGIN") this.#isInTransaction = true;
    if (query === "COMMIT" || query === "ROLLBACK") this.#isInTransaction = false;
    if (!this.#isInTransaction && !query.startsWith("SELECT") && STAGING.test(query)) this.onStaging(query);
    return super.exec<T>(query, ...bindings);
  }
}

/** A repository with a small push. */
async function begin(): Promise<{ sql: WatchedSql; chunks: MemoryChunkStore; repository: PushedRepository }> {
  const sql = new WatchedSql();
  const chunks = new MemoryChunkStore();
  const repository = new PushedRepository({ id: "staged", sql, chunks });
  expect((await repository.push([[MAIN, null, SMALL.oid]], packMany(SMALL_OBJECTS))).unpack).toBe("ok");
  return { sql, chunks, repository };
}

const stagedRows = (sql: NodeSql): number =>
  sql.exec<{ count: number }>("SELECT count(*) AS count FROM staged").one().count;

const pushLarge = (repository: PushedRepository): ReturnType<PushedRepository["push"]> =>
  repository.push([[MAIN, SMALL.oid, LARGE.oid]], LARGE_PACK);

test("a large push is whole, and nothing stays staged", async () => {
  const { sql, repository } = await begin();
  const written: string[] = [];
  sql.onStaging = (query) => written.push(query.replace(/^(\w+ \w+ \w+).*/, "$1"));
  expect(await pushLarge(repository)).toMatchObject({ unpack: "ok", refs: [{ error: null }] });
  expect(written).toEqual([
    "INSERT INTO staged",
    ...Array(2).fill("INSERT INTO object_chunks"),
    "INSERT INTO object_ids",
  ]);
  expect(stagedRows(sql)).toBe(0);
  await checkRepository(repository, repository.chunks, new Map([[MAIN, LARGE.oid]]));
});

test(
  "a large first push is written as it is prepared, and its tables become the repository's",
  { tags: "sweep" },
  async () => {
    const blobs = Array.from({ length: 50_000 }, (_, i) => makeObject("blob", `first ${i}\n`));
    const trees = Array.from({ length: 50 }, (_, t) =>
      makeTree(
        ...blobs
          .slice(t * 1_000, (t + 1) * 1_000)
          .map((blob, i): [string, string, typeof blob] => ["100644", `file-${1_000 + i}`, blob]),
      ),
    );
    const root = makeTree(...trees.map((tree, i): [string, string, typeof tree] => ["40000", `dir-${10 + i}`, tree]));
    const commit = makeCommit(root.oid, [], "first\n");
    const pack = packMany([...blobs, ...trees, root, commit]);
    const sql = new WatchedSql();
    const repository = new PushedRepository({ id: "first", sql, chunks: new MemoryChunkStore() });
    // A first attempt without one of the blobs leaves nothing that counts.
    const broken = packMany([...blobs.slice(1), ...trees, root, commit]);
    expect((await repository.push([[MAIN, null, commit.oid]], broken)).refs[0]!.error).toMatch(/missing/);
    expect(repository.repository.state.tables).toBe(null);
    const written: string[] = [];
    sql.onStaging = (query) => written.push(query.replace(/^(\w+ \w+ \w+).*/, "$1"));
    expect(await repository.push([[MAIN, null, commit.oid]], pack)).toMatchObject({
      unpack: "ok",
      refs: [{ error: null }],
    });
    expect(written.filter((query) => query === "INSERT INTO object_chunks").length).toBe(3);
    expect(stagedRows(sql)).toBe(0);
    await checkRepository(repository, repository.chunks, new Map([[MAIN, commit.oid]]));
  },
);

test("a small push that comes meanwhile is not lost, nor is the large one", { tags: "sweep" }, async () => {
  const { sql, repository } = await begin();
  const side = makeCommit(SMALL_OBJECTS[1]!.oid, [SMALL.oid], "side\n");
  const pushes: ReturnType<PushedRepository["push"]>[] = [];
  sql.onStaging = (query) => {
    if (pushes.length === 0 && query.startsWith("INSERT INTO object_ids"))
      pushes.push(repository.push([["refs/heads/side", null, side.oid]], packMany([side])));
  };
  const large = pushLarge(repository);
  await vi.waitUntil(() => pushes.length > 0, { timeout: 60_000 });
  pushes.push(large);
  for (const pushed of await Promise.all(pushes))
    expect(pushed).toMatchObject({ unpack: "ok", refs: [{ error: null }] });
  expect(stagedRows(sql)).toBe(0);
  await checkRepository(
    repository,
    repository.chunks,
    new Map([
      [MAIN, LARGE.oid],
      ["refs/heads/side", side.oid],
    ]),
  );
});

test("a refused push leaves nothing staged", { tags: "sweep" }, async () => {
  const { sql, repository } = await begin();
  const { refs } = await repository.push([[MAIN, LARGE.oid, LARGE.oid]], LARGE_PACK);
  expect(refs[0]!.error).not.toBeNull();
  expect(stagedRows(sql)).toBe(0);
  await checkRepository(repository, repository.chunks, new Map([[MAIN, SMALL.oid]]));
});

/** The statements of a large push that stage something. */
const STATEMENTS = 4;

test.for(
  Array.from({ length: STATEMENTS }, (_, at) => [at, at % 2 === 0 ? "fails" : "is the process's last"] as const),
)("statement %i that stages %s", { tags: "sweep" }, async ([at, what]) => {
  const { sql, chunks, repository } = await begin();
  let count = 0;
  sql.onStaging = () => {
    const isLast = what !== "fails";
    if (count === at || (isLast && count > at)) {
      count += 1;
      throw new Error("disk I/O error");
    }
    count += 1;
  };
  await expect(pushLarge(repository)).rejects.toThrow("disk I/O error");
  expect(count).toBeGreaterThan(at);
  sql.onStaging = () => undefined;
  // The next process.
  const woken = new PushedRepository({ id: "staged", sql, chunks });
  expect(stagedRows(sql)).toBe(0);
  await checkRepository(woken, chunks, new Map([[MAIN, SMALL.oid]]));
  expect(await pushLarge(woken)).toMatchObject({ unpack: "ok", refs: [{ error: null }] });
  await checkRepository(woken, chunks, readRefs(woken));
  expect(readRefs(woken)).toEqual(new Map([[MAIN, LARGE.oid]]));
});
