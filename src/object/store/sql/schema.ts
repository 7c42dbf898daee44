// The tables of one repository. Its database stays empty until the repository is created, at the
// latest by its first successful push, so that requests for unknown names cost nothing.
// docs/storage.md describes the life of each table.
//
// An object number of 0 means "none" everywhere: columns stay NOT NULL, and typed arrays need no
// second mask.
import type { FsckSetting } from "../../../base/codec/fsck-messages.ts";
import { refuseNewer } from "../../../base/failures/known-failures.ts";
import type { Sql } from "./sql.ts";

/** Newest schema version; `repository.schema` has a database's own. */
export const SCHEMA_VERSION = 16;

/** Separate from the other tables: the first push records its writes before there is a
 * repository. */
const JOBS_TABLE = `
CREATE TABLE IF NOT EXISTS jobs (
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  due_ms INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  taken INTEGER NOT NULL DEFAULT 0, -- 1: it runs, or its runner died; 0: it may run the first time
  last_error TEXT,                 -- error of the last attempt
  PRIMARY KEY (kind, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS job_runs (
  kind TEXT PRIMARY KEY,
  record TEXT NOT NULL             -- JSON: the last successful run's counts and time
) WITHOUT ROWID;
`;

const TABLES = `
CREATE TABLE repository (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  key TEXT NOT NULL,               -- opaque, random: every R2 key begins with it
  created_ms INTEGER NOT NULL,
  fsck TEXT NOT NULL DEFAULT 'default' CHECK (fsck IN ('default', 'strict', 'lenient')),
  worktrees TEXT,                  -- JSON: names of the branches to materialize; NULL: the default branch
  deleted INTEGER NOT NULL DEFAULT 0, -- 1: not served any more, jobs remove its data
  schema INTEGER NOT NULL,
  parent TEXT,                     -- id of the repository that it is a fork of, else NULL
  expires_ms INTEGER,              -- when it deletes itself, NULL: never
  shared BLOB                      -- objects that came from others of the family: a number set; NULL: none
);
CREATE TABLE refs (
  name TEXT PRIMARY KEY,           -- byte string: one character per byte
  oid BLOB,                        -- NULL if symbolic
  peeled BLOB,                     -- what an annotated tag finally points to, else NULL
  symref TEXT                      -- HEAD only: the ref it names
) WITHOUT ROWID;
CREATE TABLE object_chunks (       -- the index of many objects each
  first INTEGER PRIMARY KEY,       -- it has the objects with numbers from this one to before the next row's
  last INTEGER NOT NULL,           -- the highest of them
  unintroduced INTEGER NOT NULL,   -- how many of them have no introducer
  objects BLOB NOT NULL            -- their rows: index/object-page.ts
);
CREATE TABLE object_ids (          -- object numbers by id
  run INTEGER NOT NULL,
  first INTEGER NOT NULL,          -- it has the ids of the run from these four bytes to before the next row's
  entries BLOB NOT NULL,           -- u32 little-endian: the first four bytes of each id, ascending; then their numbers
  PRIMARY KEY (run, first)
) WITHOUT ROWID;
CREATE TABLE staged (              -- at most one row: the index is read up to here only
  id INTEGER PRIMARY KEY CHECK (id = 1),
  first INTEGER NOT NULL,          -- rows of object_chunks from this one on do not count yet
  run INTEGER NOT NULL             -- nor those of object_ids from this run on
);
CREATE TABLE pruned (              -- at most one row
  id INTEGER PRIMARY KEY CHECK (id = 1),
  last INTEGER NOT NULL,           -- highest number among them
  numbers BLOB,                    -- of the pruned objects: a number set; NULL: none
  hidden BLOB                      -- of objects that are only delta bases: a number set; NULL: none
);
CREATE TABLE hot_chunks (          -- inline ones
  id INTEGER PRIMARY KEY,
  size INTEGER NOT NULL,
  checksum BLOB NOT NULL,          -- SHA-1 of the chunk's bytes
  push INTEGER NOT NULL,           -- the newest push with an object in it
  pack_offset INTEGER NOT NULL,    -- offset in that push's pack, 0: assembled by maintenance
  first_number INTEGER NOT NULL,
  last_number INTEGER NOT NULL,
  whole INTEGER NOT NULL,          -- 1: every byte belongs to an indexed object, first_number to last_number in order, no delta before its base
  ofs_floor INTEGER NOT NULL,      -- lowest number that an OFS delta in it is based on, 0: none
  base_floor INTEGER NOT NULL,     -- lowest number that any delta in it is based on, 0: none
  objects BLOB,                    -- rows of its objects, as in object_chunks, while these are nowhere else
  bytes BLOB NOT NULL              -- last, so that the other columns are read without it
);
CREATE TABLE sealed_chunks (       -- many chunks in R2 each
  first INTEGER PRIMARY KEY,       -- it has the chunks with ids from this one to before the next row's
  chunks BLOB NOT NULL             -- their rows: index/chunk-page.ts
);
CREATE TABLE commits (             -- many nodes of the graph each
  first INTEGER PRIMARY KEY,       -- it has the nodes with numbers from this one
  last INTEGER NOT NULL,           -- to this one
  count INTEGER NOT NULL,          -- how many
  parents INTEGER NOT NULL,        -- how many these have
  nodes BLOB NOT NULL              -- their rows: index/node-pages.ts
);
CREATE TABLE reintroductions (
  object INTEGER NOT NULL,
  node INTEGER NOT NULL,
  PRIMARY KEY (object, node)
) WITHOUT ROWID;
CREATE TABLE trees (                -- the trees that a walk has read
  tree INTEGER PRIMARY KEY,
  entries BLOB NOT NULL            -- u32 little-endian each: twice the object number, plus 1 for a tree
);
CREATE TABLE tree_sums (           -- sums over the files below many trees each
  first INTEGER PRIMARY KEY,       -- it has the trees with numbers from this one
  last INTEGER NOT NULL,           -- to this one
  sums BLOB NOT NULL               -- index/tree-sum-table.ts
);
CREATE TABLE authors (             -- many names with emails each, each pair once
  first INTEGER PRIMARY KEY,       -- it has the authors with ids from this one
  last INTEGER NOT NULL,           -- to this one
  authors BLOB NOT NULL            -- id, name and email of each: graph/author-table.ts
);
CREATE TABLE authored (            -- authorship of many commits each
  first INTEGER PRIMARY KEY,       -- it has the commits with numbers from this one
  last INTEGER NOT NULL,           -- to this one
  authors BLOB NOT NULL            -- number, author, time, zone of each: graph/author-table.ts
);
CREATE TABLE path_filters (        -- filters of the paths that many commits each change
  first INTEGER PRIMARY KEY,       -- it has the nodes with numbers from this one
  last INTEGER NOT NULL,           -- to this one
  filters BLOB NOT NULL            -- number and filter of each: graph/path-filter-table.ts
);
CREATE TABLE vetted_blobs (        -- stored blobs that passed git's checks for special names
  object INTEGER PRIMARY KEY,
  names INTEGER NOT NULL           -- 16: .gitmodules, 32: .gitattributes
);
CREATE TABLE responses (
  key BLOB PRIMARY KEY,            -- SHA-1 of everything the response depends on
  object_key TEXT NOT NULL,        -- R2 object: the body of the HTTP response
  size INTEGER NOT NULL,
  objects INTEGER NOT NULL,        -- in its pack
  made_ms INTEGER NOT NULL,
  used_ms INTEGER NOT NULL         -- precise to an hour
) WITHOUT ROWID;
CREATE TABLE pushes (
  id INTEGER PRIMARY KEY,
  time_ms INTEGER NOT NULL,
  who TEXT,                        -- byte string: the token, or "operator"; NULL: access was open
  refs TEXT NOT NULL,              -- JSON [[name, old, new], …]; continued in pushed_refs
  pack_bytes INTEGER NOT NULL,
  objects INTEGER NOT NULL,
  total_bytes INTEGER NOT NULL,    -- of packs that brought objects, including this push's
  log_bytes INTEGER NOT NULL DEFAULT 0, -- of the refs of all pushes so far, including this one's
  before_ms INTEGER                -- time of the previous push if it was dropped for lack of space, else NULL
);
CREATE TABLE pushed_refs (         -- refs beyond the first value
  push INTEGER NOT NULL,
  part INTEGER NOT NULL,           -- from 1, in order
  refs TEXT NOT NULL,              -- JSON, as pushes.refs
  PRIMARY KEY (push, part)
) WITHOUT ROWID;
CREATE TABLE bundles (             -- at most one row
  token INTEGER PRIMARY KEY,       -- creation token
  key TEXT NOT NULL,               -- R2 object
  size INTEGER NOT NULL,
  checksum BLOB NOT NULL,          -- SHA-1 of its bytes
  total_bytes INTEGER NOT NULL     -- pushes.total_bytes when it was made
);
CREATE TABLE worktrees (           -- branches that are materialized or being removed
  id INTEGER PRIMARY KEY,
  branch TEXT NOT NULL UNIQUE,     -- byte string, without refs/heads/
  materialized BLOB,               -- the last commit with all its files in R2; NULL: none yet
  planned INTEGER NOT NULL,        -- number of the commit whose files are listed, 0: none
  files INTEGER NOT NULL,          -- of the planned commit
  size INTEGER NOT NULL,           -- bytes of these files
  pending INTEGER NOT NULL,        -- files whose R2 objects must be written or removed
  refused TEXT,                    -- why the newest commit is not planned, else NULL
  changed_ms INTEGER NOT NULL,     -- when \`materialized\` was last set
  recent BLOB                      -- files that differ from those in the pages: jobs/worktree-files.ts; NULL: none
);
CREATE TABLE worktree_files (      -- files of a worktree, many each
  worktree INTEGER NOT NULL,
  first BLOB NOT NULL,             -- it has the files with paths from this one to before the next row's
  files BLOB NOT NULL,             -- jobs/worktree-records.ts
  PRIMARY KEY (worktree, first)
) WITHOUT ROWID;
`;

/** The one row of `repository`. */
export interface RepositoryRecord {
  /** Opaque random id. Every R2 key of the repository begins with it. */
  readonly key: string;
  readonly createdMs: number;
  readonly fsck: FsckSetting;
  /** Whether the repository is deleted and must not be served. */
  readonly deleted: boolean;
  /** Id of the repository that this one is a fork of; null: it is no fork. */
  readonly parent: string | null;
  /** Time at which the repository deletes itself (ms since 1970); null: never. */
  readonly expiresMs: number | null;
}

/** Creates the table of jobs if needed. */
export function createJobs(sql: Sql): void {
  sql.exec(JOBS_TABLE);
}

/** Whether the table of jobs exists. */
export function hasJobs(sql: Sql): boolean {
  return tableExists(sql, "jobs");
}

/** Creates the tables and the repository's row; must run in a transaction.
 * @throws when the repository exists */
export function createRepository(sql: Sql, record: NewRepository): void {
  createTables(sql);
  enterRepository(sql, record);
}

/** Creates the empty tables of a repository that does not exist yet, replacing those of a prepared
 * push or of an interrupted fork.
 * @throws RangeError when the repository exists */
export function createTables(sql: Sql): void {
  if (readRepository(sql) !== null) throw new RangeError("the repository exists");
  createJobs(sql);
  if (tableExists(sql, "repository")) dropTables(sql);
  sql.exec(TABLES);
}

/** The fields of a repository's row at its creation. */
type NewRepository = Omit<RepositoryRecord, "deleted" | "parent" | "expiresMs"> &
  Partial<Pick<RepositoryRecord, "parent" | "expiresMs">>;

/** Inserts the repository's row: from now on it exists. */
export function enterRepository(sql: Sql, record: NewRepository): void {
  sql.exec(
    "INSERT INTO repository (id, key, created_ms, fsck, schema, parent, expires_ms) VALUES (1, ?, ?, ?, ?, ?, ?)",
    record.key,
    record.createdMs,
    record.fsck,
    SCHEMA_VERSION,
    record.parent ?? null,
    record.expiresMs ?? null,
  );
}

/** Reads the repository's row.
 * @returns null when it was never created: no other table may be read then
 * @throws GitError "newer-data" for a schema above `SCHEMA_VERSION`: nothing may be read or written
 *   then */
export function readRepository(sql: Sql): RepositoryRecord | null {
  if (!tableExists(sql, "repository")) return null;
  const [row] = sql.exec("SELECT * FROM repository").toArray();
  if (row === undefined) return null;
  refuseNewer("repository", row["schema"] as number, SCHEMA_VERSION);
  return {
    key: row["key"] as string,
    createdMs: row["created_ms"] as number,
    fsck: row["fsck"] as FsckSetting,
    deleted: row["deleted"] === 1,
    // Columns that an older release lacks.
    parent: (row["parent"] ?? null) as string | null,
    expiresMs: (row["expires_ms"] ?? null) as number | null,
  };
}

/** Drops all tables except those of jobs and of running pushes. */
function dropTables(sql: Sql): void {
  const tables = sql
    .exec<{ name: string }>(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('jobs', 'job_runs', 'pushed_pages')
        AND name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*'`,
    )
    .toArray();
  for (const { name } of tables) sql.exec(`DROP TABLE "${name}"`);
}

/** Marks the repository as deleted, permanently. */
export function markDeleted(sql: Sql): void {
  sql.exec("UPDATE repository SET deleted = 1");
}

/** Sets the strictness of checks for later pushes. */
export function setFsckSetting(sql: Sql, fsck: FsckSetting): void {
  sql.exec("UPDATE repository SET fsck = ?", fsck);
}

/** Whether a table exists. */
export function tableExists(sql: Sql, name: string): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", name).toArray().length > 0;
}
