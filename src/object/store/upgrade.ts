// Upgrades the tables of earlier releases. Each step converts one schema version to the next in one
// transaction: it happens whole or not at all.
import { OID_BYTES } from "../../base/format/oid.ts";
import { openAuthored, openAuthors } from "./graph/author-table.ts";
import type { SealedRow } from "./index/chunk-row.ts";
import { IdRuns, toEntries } from "./index/id-runs.ts";
import { openNodes } from "./index/node-pages.ts";
import { newObjectColumns, INTEGERS, sliceRows } from "./index/object-columns.ts";
import { ObjectPages } from "./index/object-pages.ts";
import { SealedChunks } from "./index/sealed-chunks.ts";
import { WorktreeFiles } from "./jobs/worktree-files.ts";
import type { StoredFile } from "./jobs/worktree-records.ts";
import { SCHEMA_VERSION, tableExists } from "./sql/schema.ts";
import type { Sql, SqlValue } from "./sql/sql.ts";

/** Rows of former tables that are read at a time. */
const SLICE_ROWS = 65_536;

/** Worktree files that are read at a time: their paths may be long. */
const SLICE_FILES = 5_000;

/** Conversions from the previous version to each version. */
const UPGRADES: Readonly<Record<number, (sql: Sql) => void>> = {
  2: (sql) =>
    sql.exec(`
ALTER TABLE pushes ADD COLUMN log_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pushes ADD COLUMN before_ms INTEGER;
CREATE TABLE pushed_refs (push INTEGER NOT NULL, part INTEGER NOT NULL, refs TEXT NOT NULL, PRIMARY KEY (push, part)) WITHOUT ROWID;
UPDATE pushes SET log_bytes = summed.bytes
  FROM (SELECT id, sum(octet_length(refs)) OVER (ORDER BY id) AS bytes FROM pushes) AS summed WHERE summed.id = pushes.id;
`),
  // Renames jobs: `repack` used to be the name of an operation on branches.
  3: (sql) =>
    sql.exec(`
UPDATE jobs SET kind = 'repack' WHERE kind = 'merge';
UPDATE job_runs SET kind = 'repack' WHERE kind = 'merge';
`),
  4: packObjects,
  5: packNodes,
  6: (sql) =>
    sql.exec(`
ALTER TABLE pruned RENAME TO former_pruned;
CREATE TABLE pruned (id INTEGER PRIMARY KEY CHECK (id = 1), last INTEGER NOT NULL, numbers BLOB, hidden BLOB);
INSERT INTO pruned SELECT id, last, numbers, NULL FROM former_pruned;
DROP TABLE former_pruned;
ALTER TABLE repository ADD COLUMN parent TEXT;
ALTER TABLE repository ADD COLUMN expires_ms INTEGER;
ALTER TABLE repository ADD COLUMN shared BLOB;
`),
  7: packAuthored,
  8: packWorktrees,
  9: packChunks,
  // Drops columns: the marks of jobs that were added again while running are in memory now, and
  // sums are computed again when needed.
  10: (sql) =>
    sql.exec(`
ALTER TABLE jobs DROP COLUMN again_ms;
DROP TABLE tree_sums;
CREATE TABLE tree_sums (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, sums BLOB NOT NULL);
`),
  // Adds a job that fills the table, without a push.
  11: (sql) =>
    sql.exec(`
CREATE TABLE path_filters (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, filters BLOB NOT NULL);
INSERT INTO jobs (kind, key, due_ms) VALUES ('filter', '', 0);
`),
  12: packAuthors,
  // Changes an existing table only: otherwise it is created when the repository is opened.
  13: (sql) => {
    if (tableExists(sql, "ref_rules"))
      sql.exec("ALTER TABLE ref_rules ADD COLUMN required_contexts TEXT NOT NULL DEFAULT '[]'");
  },
  14: (sql) =>
    sql.exec(
      "CREATE TABLE staged (id INTEGER PRIMARY KEY CHECK (id = 1), first INTEGER NOT NULL, run INTEGER NOT NULL)",
    ),
  15: divideRuns,
  // Changes nothing: sizes, lengths and distances in `object_chunks` may be above 2³² from now on.
  // Existing rows are valid, but earlier releases must not read new ones.
  16: () => undefined,
};

/** Upgrades the tables of a repository to the newest schema; must run in a transaction. */
export function upgradeRepository(sql: Sql): void {
  const { schema } = sql.exec<{ schema: number }>("SELECT schema FROM repository").one();
  for (let version = schema + 1; version <= SCHEMA_VERSION; version++) {
    UPGRADES[version]!(sql);
    sql.exec("UPDATE repository SET schema = ?", version);
  }
}

/** Packs objects, which had a row each, found by an index on their ids. */
function packObjects(sql: Sql): void {
  sql.exec(`
DROP INDEX unintroduced;
ALTER TABLE object_chunks RENAME TO object_rows;
CREATE TABLE object_chunks (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, unintroduced INTEGER NOT NULL, objects BLOB NOT NULL);
CREATE TABLE object_ids (run INTEGER NOT NULL, first INTEGER NOT NULL, entries BLOB NOT NULL, PRIMARY KEY (run, first)) WITHOUT ROWID;
DROP INDEX placed;
ALTER TABLE chunks RENAME TO former_chunks;
CREATE TABLE chunks (id INTEGER PRIMARY KEY, key TEXT, start INTEGER NOT NULL, size INTEGER NOT NULL, checksum BLOB NOT NULL,
  push INTEGER NOT NULL, pack_offset INTEGER NOT NULL, first_number INTEGER NOT NULL, last_number INTEGER NOT NULL,
  whole INTEGER NOT NULL, ofs_floor INTEGER NOT NULL, base_floor INTEGER NOT NULL, objects BLOB, bytes BLOB);
INSERT INTO chunks SELECT id, key, start, size, checksum, push, pack_offset, first_number, last_number, whole, ofs_floor,
  base_floor, NULL, bytes FROM former_chunks;
DROP TABLE former_chunks;
CREATE INDEX placed ON chunks(key, pack_offset, size);
ALTER TABLE jobs RENAME TO former_jobs;
CREATE TABLE jobs (kind TEXT NOT NULL, key TEXT NOT NULL, due_ms INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
  taken INTEGER NOT NULL DEFAULT 0, last_error TEXT, again_ms INTEGER, PRIMARY KEY (kind, key)) WITHOUT ROWID;
INSERT INTO jobs SELECT kind, key, due_ms, attempts, taken, last_error, again_ms FROM former_jobs;
DROP TABLE former_jobs;
ALTER TABLE job_runs RENAME TO former_runs;
CREATE TABLE job_runs (kind TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO job_runs SELECT kind, record FROM former_runs;
DROP TABLE former_runs;
`);
  // The table of staged rows comes with a later version.
  const staged = { get: () => null };
  const pages = new ObjectPages(sql, staged);
  const ids = new IdRuns(sql, staged);
  const query = `SELECT oid, ${INTEGERS.join(", ")} FROM object_rows WHERE number > ? ORDER BY number LIMIT ${SLICE_ROWS}`;
  for (let last = 0; ;) {
    const rows = newObjectColumns(SLICE_ROWS);
    let count = 0;
    for (const [oid, ...integers] of sql.exec(query, last).raw() as Iterable<[ArrayBuffer, ...SqlValue[]]>) {
      rows.oid.set(new Uint8Array(oid), count * OID_BYTES);
      INTEGERS.forEach((name, k) => (rows[name][count] = integers[k] as number));
      count += 1;
    }
    const added = sliceRows(rows, 0, count);
    pages.put(added);
    ids.add(toEntries(added.oid, added.number));
    if (count < SLICE_ROWS) break;
    last = rows.number.at(-1)!;
  }
  while (ids.isMergeDue()) ids.merge(() => false);
  sql.exec("DROP TABLE object_rows");
}

/** Packs nodes of the graph, which had a row each. */
function packNodes(sql: Sql): void {
  sql.exec(`
ALTER TABLE commits RENAME TO commit_rows;
CREATE TABLE commits (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, count INTEGER NOT NULL, parents INTEGER NOT NULL,
  nodes BLOB NOT NULL);
`);
  const query = `SELECT number, parents, tree, generation, time, introduced FROM commit_rows WHERE number > ?
    ORDER BY number LIMIT ${SLICE_ROWS}`;
  for (let last = 0; ;) {
    const nodes = sql
      .exec<{
        number: number;
        parents: ArrayBuffer | null;
        tree: number;
        generation: number;
        time: number;
        introduced: ArrayBuffer | null;
      }>(query, last)
      .toArray();
    openNodes(sql).write(
      // An empty BLOB may come back as NULL.
      nodes.map(({ parents, introduced, ...node }) => ({
        ...node,
        parents: Array.from(new Uint32Array(parents ?? new ArrayBuffer(0))),
        introduced: new Uint8Array(introduced ?? new ArrayBuffer(0)),
      })),
    );
    if (nodes.length < SLICE_ROWS) break;
    last = nodes.at(-1)!.number;
  }
  sql.exec("DROP TABLE commit_rows");
}

/** Packs authorships, which had a row for each commit. */
function packAuthored(sql: Sql): void {
  sql.exec(`
ALTER TABLE authored RENAME TO authored_rows;
CREATE TABLE authored (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, authors BLOB NOT NULL);
`);
  const query = `SELECT number, author, time, zone FROM authored_rows WHERE number > ? ORDER BY number LIMIT ${SLICE_ROWS}`;
  for (let last = 0; ;) {
    const rows = sql.exec<{ number: number; author: number; time: number; zone: number }>(query, last).toArray();
    openAuthored(sql).write(rows);
    if (rows.length < SLICE_ROWS) break;
    last = rows.at(-1)!.number;
  }
  sql.exec("DROP TABLE authored_rows");
}

/** Packs authors, which had a row each. */
function packAuthors(sql: Sql): void {
  sql.exec(`
ALTER TABLE authors RENAME TO author_rows;
CREATE TABLE authors (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, authors BLOB NOT NULL);
`);
  const query = `SELECT id AS number, name, email FROM author_rows WHERE id > ? ORDER BY id LIMIT ${SLICE_ROWS}`;
  for (let last = 0; ;) {
    const rows = sql.exec<{ number: number; name: string; email: string }>(query, last).toArray();
    openAuthors(sql).write(rows);
    if (rows.length < SLICE_ROWS) break;
    last = rows.at(-1)!.number;
  }
  sql.exec("DROP TABLE author_rows");
}

/** Packs worktree files, which had a row each. */
function packWorktrees(sql: Sql): void {
  sql.exec(`
DROP INDEX pending_files;
ALTER TABLE worktree_files RENAME TO file_rows;
CREATE TABLE worktree_files (worktree INTEGER NOT NULL, first BLOB NOT NULL, files BLOB NOT NULL,
  PRIMARY KEY (worktree, first)) WITHOUT ROWID;
ALTER TABLE worktrees RENAME TO former_worktrees;
CREATE TABLE worktrees (id INTEGER PRIMARY KEY, branch TEXT NOT NULL UNIQUE, materialized BLOB, planned INTEGER NOT NULL,
  files INTEGER NOT NULL, size INTEGER NOT NULL, pending INTEGER NOT NULL, refused TEXT, changed_ms INTEGER NOT NULL,
  recent BLOB);
INSERT INTO worktrees SELECT id, branch, materialized, planned, files, size,
  (SELECT count(*) FROM file_rows WHERE worktree = former_worktrees.id AND source <> 0), refused, changed_ms, NULL
  FROM former_worktrees;
DROP TABLE former_worktrees;
`);
  const query = `SELECT path, oid, mode, size AS sizeBytes, source, etag FROM file_rows WHERE worktree = ? AND path > ?
    ORDER BY path LIMIT ${SLICE_FILES}`;
  for (const { id } of sql.exec<{ id: number }>("SELECT id FROM worktrees").toArray()) {
    for (let last = ""; ;) {
      const rows = sql.exec<Record<keyof StoredFile, never> & { oid: ArrayBuffer; path: string }>(query, id, last);
      const files: StoredFile[] = rows.toArray().map((row) => ({ ...row, oid: new Uint8Array(row.oid) }));
      sql.exec("UPDATE worktrees SET recent = ? WHERE id = ?", new WorktreeFiles(sql, id).put(files), id);
      if (files.length < SLICE_FILES) break;
      last = files.at(-1)!.path;
    }
  }
  sql.exec("DROP TABLE file_rows");
}

/** Packs chunks, which had a row each, found by an index on their keys. */
function packChunks(sql: Sql): void {
  sql.exec(`
CREATE TABLE hot_chunks (id INTEGER PRIMARY KEY, size INTEGER NOT NULL, checksum BLOB NOT NULL, push INTEGER NOT NULL,
  pack_offset INTEGER NOT NULL, first_number INTEGER NOT NULL, last_number INTEGER NOT NULL, whole INTEGER NOT NULL,
  ofs_floor INTEGER NOT NULL, base_floor INTEGER NOT NULL, objects BLOB, bytes BLOB NOT NULL);
CREATE TABLE sealed_chunks (first INTEGER PRIMARY KEY, chunks BLOB NOT NULL);
INSERT INTO hot_chunks SELECT id, size, checksum, push, pack_offset, first_number, last_number, whole, ofs_floor, base_floor,
  objects, bytes FROM chunks WHERE key IS NULL;
`);
  const sealed = new SealedChunks(sql);
  const query = `SELECT id, key, start, size, checksum, push, pack_offset AS packOffset, first_number AS firstNumber,
    last_number AS lastNumber, whole, ofs_floor AS ofsFloor, base_floor AS baseFloor FROM chunks
    WHERE key IS NOT NULL AND id > ? ORDER BY id LIMIT ${SLICE_ROWS}`;
  for (let last = 0; ;) {
    const rows = sql
      .exec<
        { [Field in keyof SealedRow]: SealedRow[Field] extends boolean ? number : SealedRow[Field] } & {
          checksum: ArrayBuffer;
        }
      >(query, last)
      .toArray();
    sealed.put(rows.map((row) => ({ ...row, checksum: new Uint8Array(row.checksum), whole: row.whole === 1 })));
    if (rows.length < SLICE_ROWS) break;
    last = rows.at(-1)!.id;
  }
  sql.exec("DROP TABLE chunks");
}

/** Divides runs of ids. Merges left some with pages out of order, which hid ids. Each page of such
 * a run becomes a run, and a job merges them. */
function divideRuns(sql: Sql): void {
  // Removes staged runs, which must be the last ones, and which nothing needs any more.
  sql.exec("DELETE FROM object_ids WHERE run >= (SELECT run FROM staged)");
  const pages = sql
    .exec<{ run: number; first: number }>("SELECT run, first FROM object_ids ORDER BY run, first")
    .toArray();
  const unordered = new Set<number>();
  let before = { run: 0, last: 0 };
  for (const { run, first } of pages) {
    const { entries } = sql
      .exec<{ entries: ArrayBuffer }>("SELECT entries FROM object_ids WHERE run = ? AND first = ?", run, first)
      .one();
    const words = new Uint32Array(entries);
    const [lowest, last] = [words[0]!, words[words.length / 2 - 1]!];
    if (run === before.run && (before.last >= first || lowest < first)) unordered.add(run);
    before = { run, last };
  }
  if (unordered.size === 0) return;
  let next = before.run + 1;
  for (const { run, first } of pages) {
    if (unordered.has(run)) sql.exec("UPDATE object_ids SET run = ? WHERE run = ? AND first = ?", next++, run, first);
  }
  sql.exec("UPDATE staged SET run = ?", next);
  sql.exec("INSERT OR IGNORE INTO jobs (kind, key, due_ms) VALUES ('repack', '', 0)");
}
