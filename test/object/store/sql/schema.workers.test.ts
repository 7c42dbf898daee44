import { expect, test } from "vitest";
import { openAuthored, openAuthors } from "../../../../src/object/store/graph/author-table.ts";
import { openPathFilters } from "../../../../src/object/store/graph/path-filter-table.ts";
import { ChunkTable } from "../../../../src/object/store/index/chunk-table.ts";
import { openNodes } from "../../../../src/object/store/index/node-pages.ts";
import { openTreeSums } from "../../../../src/object/store/index/tree-sum-table.ts";
import { ObjectIndex } from "../../../../src/object/store/index/object-index.ts";
import { JobQueue } from "../../../../src/object/store/jobs/jobs.ts";
import { REMOVED } from "../../../../src/object/store/jobs/worktree-records.ts";
import { WorktreeTable } from "../../../../src/object/store/jobs/worktree-table.ts";
import { NumberSet } from "../../../../src/base/numbers/number-set.ts";
import { PushLog } from "../../../../src/object/store/refs/push-log.ts";
import {
  createRepository,
  readRepository,
  type RepositoryRecord,
  SCHEMA_VERSION,
} from "../../../../src/object/store/sql/schema.ts";
import { upgradeRepository } from "../../../../src/object/store/upgrade.ts";
import { withEmptyDatabase } from "../database.ts";

const record: RepositoryRecord = {
  key: "0123",
  createdMs: 1_700_000_000_000,
  fsck: "strict",
  deleted: false,
  parent: null,
  expiresMs: null,
};

test("a repository exists from its creation on, once", () =>
  withEmptyDatabase((sql) => {
    expect(readRepository(sql)).toBeNull();
    createRepository(sql, record);
    expect(readRepository(sql)).toEqual(record);
    expect(() => createRepository(sql, record)).toThrow();
  }));

test.each([0, 1])("what a newer release wrote is refused, deleted (%i) or not", (deleted) =>
  withEmptyDatabase((sql) => {
    createRepository(sql, record);
    sql.exec("UPDATE repository SET schema = 99, deleted = ?", deleted);
    expect(() => readRepository(sql)).toThrow(`(schema 99, and this one knows ${SCHEMA_VERSION})`);
  }),
);

test("a creation that fails leaves no tables", () =>
  withEmptyDatabase((sql, transactor) => {
    const create = () => {
      createRepository(sql, record);
      throw new Error("take it back");
    };
    expect(() => transactor.transactionSync(create)).toThrow("take it back");
    expect(readRepository(sql)).toBeNull();
    transactor.transactionSync(() => createRepository(sql, record));
    expect(readRepository(sql)).toEqual(record);
  }));

test("a database of the first version becomes one of the newest, with all that is in it", () =>
  withEmptyDatabase((sql) => {
    createRepository(sql, record);
    // In its former shape.
    sql.exec(`DROP TABLE pushes; DROP TABLE pushed_refs; DROP TABLE hot_chunks; DROP TABLE sealed_chunks; DROP TABLE object_chunks; DROP TABLE object_ids; DROP TABLE commits; DROP TABLE authored; DROP TABLE authors;
      DROP TABLE worktrees; DROP TABLE worktree_files; DROP TABLE jobs; DROP TABLE tree_sums; DROP TABLE path_filters; DROP TABLE staged;
      CREATE TABLE tree_sums (tree INTEGER PRIMARY KEY, scheme INTEGER NOT NULL, sums TEXT NOT NULL);
      CREATE TABLE jobs (kind TEXT NOT NULL, key TEXT NOT NULL, due_ms INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
        taken INTEGER NOT NULL DEFAULT 0, last_error TEXT, again_ms INTEGER, PRIMARY KEY (kind, key));
      CREATE TABLE object_chunks (number INTEGER PRIMARY KEY, oid BLOB NOT NULL UNIQUE, chunk INTEGER NOT NULL,
        offset INTEGER NOT NULL, length INTEGER NOT NULL, type INTEGER NOT NULL, size INTEGER NOT NULL,
        base INTEGER NOT NULL, distance INTEGER NOT NULL, introducer INTEGER NOT NULL);
      CREATE INDEX unintroduced ON object_chunks(number) WHERE introducer = 0;
      CREATE TABLE chunks (id INTEGER PRIMARY KEY, key TEXT, start INTEGER NOT NULL, size INTEGER NOT NULL,
        checksum BLOB NOT NULL, push INTEGER NOT NULL, pack_offset INTEGER NOT NULL, first_number INTEGER NOT NULL,
        last_number INTEGER NOT NULL, whole INTEGER NOT NULL, ofs_floor INTEGER NOT NULL, base_floor INTEGER NOT NULL,
        bytes BLOB);
      CREATE INDEX placed ON chunks(key, pack_offset, size);
      CREATE TABLE commits (number INTEGER PRIMARY KEY, parents BLOB NOT NULL, tree INTEGER NOT NULL,
        generation INTEGER NOT NULL, time INTEGER NOT NULL, introduced BLOB NOT NULL);
      CREATE TABLE authored (number INTEGER PRIMARY KEY, author INTEGER NOT NULL, time INTEGER NOT NULL, zone INTEGER NOT NULL);
      CREATE TABLE authors (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, UNIQUE (name, email));
      INSERT INTO authors VALUES (1, 'Ada', 'ada@example.com'), (300, char(0xc3, 0xa9), '');
      INSERT INTO authored VALUES (4, 1, 99, -330), (9, 300, 9007199254740991, 60);
      INSERT INTO commits VALUES (4, x'', 3, 1, 99, x'0301'), (9, x'0400000004000000', 0, 2, 1700000000, x'');
      INSERT INTO object_chunks VALUES (1, zeroblob(20), 3, 4, 5, 2, 6, 0, 0, 1), (2, x'${"01".repeat(20)}', 3, 9, 7, 3, 8, 1, 5, 1);
      INSERT INTO chunks VALUES (3, NULL, 0, 2, zeroblob(20), 1, 12, 1, 2, 1, 1, 1, x'0102'),
        (4, 'key/chunks/1/0', 7, 5000000000, x'${"02".repeat(20)}', 2, 6000000000, 3, 9, 0, 0, 1, NULL);
      CREATE TABLE pushes (id INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, who TEXT, refs TEXT NOT NULL,
        pack_bytes INTEGER NOT NULL, objects INTEGER NOT NULL, total_bytes INTEGER NOT NULL);
      ALTER TABLE pruned DROP COLUMN hidden;
      ALTER TABLE repository DROP COLUMN parent;
      ALTER TABLE repository DROP COLUMN expires_ms;
      ALTER TABLE repository DROP COLUMN shared;
      CREATE TABLE worktrees (id INTEGER PRIMARY KEY, branch TEXT NOT NULL UNIQUE, materialized BLOB, planned INTEGER NOT NULL,
        files INTEGER NOT NULL, size INTEGER NOT NULL, refused TEXT, changed_ms INTEGER NOT NULL);
      CREATE TABLE worktree_files (worktree INTEGER NOT NULL, path TEXT NOT NULL, oid BLOB NOT NULL, mode INTEGER NOT NULL,
        size INTEGER NOT NULL, source INTEGER NOT NULL, etag TEXT, PRIMARY KEY (worktree, path)) WITHOUT ROWID;
      CREATE INDEX pending_files ON worktree_files(worktree, source) WHERE source <> 0;
      INSERT INTO worktrees VALUES (2, 'main', zeroblob(20), 9, 6000, 6000, NULL, 5), (3, 'side', NULL, 4, 1, 8, 'because', 0);
      INSERT INTO worktree_files WITH RECURSIVE row(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM row WHERE i < 5999)
        SELECT 2, printf('f%05d', i), zeroblob(20), 33188, 1, 0, 'etag' FROM row;
      INSERT INTO worktree_files VALUES (3, 'b', zeroblob(20), 33188, 8, 2, NULL), (3, 'a', zeroblob(20), 33261, 7, -1, NULL);
      UPDATE repository SET schema = 1`);
    const refs = [
      JSON.stringify([["refs/heads/a", null, "1".repeat(40)]]),
      JSON.stringify([["refs/heads/\xff", null, null]]),
    ];
    for (const json of refs)
      sql.exec("INSERT INTO pushes (time_ms, refs, pack_bytes, objects, total_bytes) VALUES (1, ?, 2, 3, 4)", json);
    sql.exec("INSERT INTO jobs (kind, key, due_ms) VALUES ('merge', '', 7)");
    sql.exec(`INSERT INTO job_runs (kind, record) VALUES ('merge', '{"beganMs":5}')`);
    upgradeRepository(sql);
    upgradeRepository(sql);
    const objects = new ObjectIndex(sql);
    expect(objects.find(new Uint8Array(20).fill(1))).toMatchObject({
      number: 2,
      chunk: 3,
      offset: 9,
      base: 1,
      distance: 5,
    });
    expect(objects.present()).toEqual(NumberSet.range(1, 3));
    const chunks = new ChunkTable(sql, objects);
    const hot = { id: 3, key: null, start: 0, size: 2, checksum: new Uint8Array(20), push: 1, packOffset: 12 };
    const sealed = {
      id: 4,
      key: "key/chunks/1/0",
      start: 7,
      size: 5_000_000_000,
      checksum: new Uint8Array(20).fill(2),
    };
    expect(chunks.allInOrder()).toEqual([
      { ...hot, firstNumber: 1, lastNumber: 2, whole: true, ofsFloor: 1, baseFloor: 1 },
      { ...sealed, push: 2, packOffset: 6e9, firstNumber: 3, lastNumber: 9, whole: false, ofsFloor: 0, baseFloor: 1 },
    ]);
    expect(chunks.hotBytesOf(3)).toEqual(new Uint8Array([1, 2]));
    expect([...openNodes(sql).read(NumberSet.range(1, 99))]).toEqual([
      { number: 4, parents: [], tree: 3, generation: 1, time: 99, introduced: new Uint8Array([3, 1]) },
      { number: 9, parents: [4, 4], tree: 0, generation: 2, time: 1_700_000_000, introduced: new Uint8Array(0) },
    ]);
    expect([...openAuthored(sql).all()]).toEqual([
      { number: 4, author: 1, time: 99, zone: -330 },
      { number: 9, author: 300, time: Number.MAX_SAFE_INTEGER, zone: 60 },
    ]);
    expect([...openAuthors(sql).all()]).toEqual([
      { number: 1, name: "Ada", email: "ada@example.com" },
      { number: 300, name: "\xc3\xa9", email: "" },
    ]);
    expect([...openTreeSums(sql).all()]).toEqual([]);
    const worktrees = new WorktreeTable(sql);
    expect(worktrees.get("main")).toMatchObject({ planned: 9, files: 6_000, pending: 0, changedMs: 5 });
    const file = { oid: new Uint8Array(20), mode: 0o100644, sizeBytes: 1, etag: "etag" };
    expect(worktrees.files(2, "", "", 9_999)).toEqual(
      Array.from({ length: 6_000 }, (_, i) => ({ path: `f${String(i).padStart(5, "0")}`, ...file })),
    );
    expect(worktrees.get("side")).toMatchObject({ refused: "because", pending: 2, materialized: null });
    expect(worktrees.pending(3, 9)).toMatchObject([
      { path: "a", source: REMOVED, mode: 0o100755, sizeBytes: 7 },
      { path: "b", source: 2, mode: 0o100644, sizeBytes: 8 },
    ]);
    const jobs = new JobQueue(sql);
    expect(jobs.find("repack", "")).toMatchObject({ dueMs: 7 });
    // Filters are made without a push.
    expect(jobs.find("filter", "")).toMatchObject({ dueMs: 0 });
    expect([...openPathFilters(sql).all()]).toEqual([]);
    expect(jobs.lastRuns()).toEqual({ repack: { beganMs: 5 } });
    const log = new PushLog(sql);
    expect(log.sizeBytes()).toBe(refs[0]!.length + refs[1]!.length + 1);
    expect(log.append({ timeMs: 9, who: null, refs: [["refs/heads/b", null, null]], packBytes: 0, objects: 0 })).toBe(
      3,
    );
    expect(log.page(null, 9).pushes.map(({ refs: [ref] }) => ref![0])).toEqual([
      "refs/heads/b",
      "refs/heads/\xff",
      "refs/heads/a",
    ]);
  }));
