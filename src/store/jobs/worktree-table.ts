import type { ObjectNumber } from "../numbers/kinds.ts";
import { type Oid, toHex } from "../../format/oid.ts";
import type { Sql } from "../sql/sql.ts";

/** A branch that is materialized, or whose files are being removed. */
export interface Worktree {
  readonly id: number;
  /** Byte string, without `refs/heads/`. */
  readonly branch: string;
  /** The last commit whose files were all in R2; null: none yet. While another commit is being
   * written, some files are already from that. */
  readonly materialized: Oid | null;
  /** Object number of the commit whose files the rows list; 0: none. */
  readonly planned: number;
  /** Number of files of the planned commit, and their total size. */
  readonly files: number;
  readonly sizeBytes: number;
  /** Why the branch's newest commit is not planned; null: it is not refused. */
  readonly refused: string | null;
  /** When `materialized` was last set. */
  readonly changedMs: number;
}

/** A file of the planned commit. */
export interface WorktreeFile {
  /** Byte string. */
  readonly path: string;
  readonly oid: Oid;
  /** As the tree has it. */
  readonly mode: number;
  readonly sizeBytes: number;
  /** ETag of its R2 object; null: still to be written. */
  readonly etag: string | null;
}

/** A file whose R2 object must be written or removed. */
export interface PendingFile extends Omit<WorktreeFile, "etag"> {
  /** Number of the blob to write; `REMOVED`. */
  readonly source: number;
}

/** The `source` of a file that must be removed. */
export const REMOVED = -1;

/** The new content of a path. */
export interface FileChange {
  readonly path: string;
  /** Null: the path is removed. */
  readonly file: {
    /** Object number. */
    readonly source: number;
    readonly oid: Oid;
    readonly mode: number;
    readonly sizeBytes: number;
  } | null;
}

/** A file that was written. */
export interface WrittenFile extends Pick<PendingFile, "path" | "source" | "sizeBytes"> {
  readonly etag: string;
}

/** Characters of JSON per statement: below the size limit of a value, even at two bytes each. */
const JSON_CHARS = 500_000;

const COLUMNS = "id, branch, materialized, planned, files, size AS sizeBytes, refused, changed_ms AS changedMs";

const FILE_COLUMNS = "path, oid, mode, size AS sizeBytes";

/** Rows of changes: [path, source, mode, oid, size] each. Files that are already right stay. Pending ones get
 * the new source, since an object that was pruned and pushed again has another number. */
const ENTER = `INSERT INTO worktree_files (worktree, path, oid, mode, size, source)
  SELECT ?1, value ->> 0, unhex(value ->> 3), value ->> 2, value ->> 4, value ->> 1
  FROM json_each(?2) WHERE value ->> 1 <> ${REMOVED} ON CONFLICT (worktree, path) DO UPDATE
    SET oid = excluded.oid, mode = excluded.mode, size = excluded.size, source = excluded.source, etag = NULL
    WHERE oid <> excluded.oid OR mode <> excluded.mode OR source <> 0`;

const REMOVE = `UPDATE worktree_files SET source = ${REMOVED}, etag = NULL
  WHERE worktree = ?1 AND path IN (SELECT value ->> 0 FROM json_each(?2) WHERE value ->> 1 = ${REMOVED})`;

/** Number and size of the planned commit's files at these paths. */
const MEASURE = `SELECT count(*) AS files, ifnull(sum(size), 0) AS sizeBytes
  FROM json_each(?2) change CROSS JOIN worktree_files ON worktree = ?1 AND worktree_files.path = change.value ->> 0
  WHERE source <> ${REMOVED}`;

/** Rows of written files: [path, source, etag] each. An UPDATE would scan the JSON for every row of
 * the worktree. */
const RECORD = `INSERT INTO worktree_files (worktree, path, oid, mode, size, source, etag)
  SELECT worktree, file.path, oid, mode, size, 0, written.value ->> 2
  FROM json_each(?2) written CROSS JOIN worktree_files file ON worktree = ?1 AND file.path = written.value ->> 0
  WHERE source = written.value ->> 1
  ON CONFLICT (worktree, path) DO UPDATE SET source = 0, etag = excluded.etag`;

const FORGET = `DELETE FROM worktree_files
  WHERE worktree = ?1 AND source = ${REMOVED} AND path IN (SELECT value ->> 0 FROM json_each(?2))`;

/** Files of branches as R2 objects: tables `worktrees` and `worktree_files`, and the choice of
 * branches (`repository.worktrees`).
 *
 * The rows of a worktree are the files of its planned commit, each with the work left for its R2
 * object. So planning is one transaction, and the work is done in any number of them. All writing
 * methods must run in a transaction. */
export class WorktreeTable {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The branches to materialize, as byte strings; null: the default branch. */
  wanted(): string[] | null {
    const { worktrees } = this.#sql.exec<{ worktrees: string | null }>("SELECT worktrees FROM repository").one();
    return worktrees === null ? null : (JSON.parse(worktrees) as string[]);
  }

  /** Sets the branches to materialize. */
  setWanted(branches: readonly string[] | null): void {
    this.#sql.exec("UPDATE repository SET worktrees = ?", branches === null ? null : JSON.stringify(branches));
  }

  /** All worktrees, by branch. */
  all(): Worktree[] {
    return this.#select("ORDER BY branch");
  }

  /** The worktree of a branch; null: none. */
  get(branch: string): Worktree | null {
    return this.#select("WHERE branch = ?", branch)[0] ?? null;
  }

  /** A worktree whose planned commit is this one; null: none.
   * @param commit object number */
  ofCommit(commit: ObjectNumber): Worktree | null {
    return this.#select("WHERE planned = ? LIMIT 1", commit)[0] ?? null;
  }

  /** Creates a branch's worktree, without files. */
  add(branch: string): Worktree {
    this.#sql.exec(
      "INSERT INTO worktrees (branch, planned, files, size, changed_ms) VALUES (?, 0, 0, 0, 0) ON CONFLICT DO NOTHING",
      branch,
    );
    return this.get(branch)!;
  }

  /** Plans another commit: changes the rows that differ, and marks what must be written and
   * removed.
   * @param commit object number; 0: no files
   * @param changes each path once */
  plan(id: number, commit: ObjectNumber, changes: readonly FileChange[]): void {
    let files = 0;
    let sizeBytes = 0;
    const rows = changes.map(({ path, file }) =>
      file === null ? [path, REMOVED] : [path, file.source, file.mode, toHex(file.oid), file.sizeBytes],
    );
    for (const batch of toJson(rows)) {
      const before = this.#measure(id, batch);
      this.#sql.exec(ENTER, id, batch);
      this.#sql.exec(REMOVE, id, batch);
      const after = this.#measure(id, batch);
      files += after.files - before.files;
      sizeBytes += after.sizeBytes - before.sizeBytes;
    }
    this.#sql.exec(
      "UPDATE worktrees SET planned = ?, files = files + ?, size = size + ?, refused = NULL WHERE id = ?",
      commit,
      files,
      sizeBytes,
      id,
    );
  }

  /** Records why a branch's newest commit cannot be planned. */
  refuse(id: number, reason: string): void {
    this.#sql.exec("UPDATE worktrees SET refused = ? WHERE id = ?", reason, id);
  }

  /** The pending work: removals first, then by the number of the blob to read; several files may
   * have the same blob. */
  pending(id: number, limit: number): PendingFile[] {
    return this.#sql
      .exec<{ path: string; oid: ArrayBuffer; mode: number; sizeBytes: number; source: number }>(
        `SELECT ${FILE_COLUMNS}, source FROM worktree_files WHERE worktree = ? AND source <> 0 ORDER BY source LIMIT ?`,
        id,
        limit,
      )
      .toArray()
      .map((row) => ({ ...row, oid: new Uint8Array(row.oid) }));
  }

  /** Records that pending files were written. */
  recordWritten(id: number, files: readonly WrittenFile[]): void {
    for (const batch of toJson(files.map(({ path, source, etag }) => [path, source, etag]))) {
      this.#sql.exec(RECORD, id, batch);
    }
  }

  /** Records that pending files were removed. */
  recordRemoved(id: number, paths: readonly string[]): void {
    for (const batch of toJson(paths.map((path) => [path]))) this.#sql.exec(FORGET, id, batch);
  }

  /** If no work is left, records that the planned commit is materialized, or removes an empty
   * worktree.
   * @returns whether no work is left */
  finishPlan(id: number, oidOf: (commit: ObjectNumber) => Oid | null, nowMs: number): boolean {
    if (this.pending(id, 1).length > 0) return false;
    this.#sql.exec("DELETE FROM worktrees WHERE id = ? AND planned = 0", id);
    for (const { planned } of this.#select("WHERE id = ?", id)) {
      this.#sql.exec("UPDATE worktrees SET changed_ms = ?, materialized = ? WHERE id = ?", nowMs, oidOf(planned), id);
    }
    return true;
  }

  /** All paths, including those to be removed. */
  paths(id: number): string[] {
    const rows = this.#sql.exec("SELECT path FROM worktree_files WHERE worktree = ?", id).raw();
    return Array.from(rows, ([path]) => path as string);
  }

  /** Marks a file to be written again, because its R2 object differs from its row.
   * @param source object number of the row's oid */
  mistrust(id: number, path: string, source: number): void {
    this.#sql.exec(
      "UPDATE worktree_files SET source = ?, etag = NULL WHERE worktree = ? AND path = ? AND source = 0",
      source,
      id,
      path,
    );
  }

  /** Files of the planned commit, sorted by the bytes of their paths.
   * @param prefix byte string at the start of their paths
   * @param after only paths after this one, "": from the first */
  files(id: number, prefix: string, after: string, limit: number): WorktreeFile[] {
    // Characters of a path go up to 255, so none sorts after this.
    const end = `${prefix}\u0100`;
    return this.#files("AND path >= ? AND path < ? AND path > ? ORDER BY path LIMIT ?", id, prefix, end, after, limit);
  }

  /** A file of the planned commit; null: there is no such path. */
  file(id: number, path: string): WorktreeFile | null {
    return this.#files("AND path = ?", id, path)[0] ?? null;
  }

  #files(where: string, ...bindings: (string | number)[]): WorktreeFile[] {
    return this.#sql
      .exec<{ path: string; oid: ArrayBuffer; mode: number; sizeBytes: number; etag: string | null }>(
        `SELECT ${FILE_COLUMNS}, etag FROM worktree_files WHERE worktree = ? AND source <> ${REMOVED} ${where}`,
        ...bindings,
      )
      .toArray()
      .map((row) => ({ ...row, oid: new Uint8Array(row.oid) }));
  }

  #select(rest: string, ...bindings: (string | number)[]): Worktree[] {
    return this.#sql
      .exec<Record<keyof Worktree, never> & { materialized: ArrayBuffer | null }>(
        `SELECT ${COLUMNS} FROM worktrees ${rest}`,
        ...bindings,
      )
      .toArray()
      .map((row) => ({ ...row, materialized: row.materialized === null ? null : new Uint8Array(row.materialized) }));
  }

  #measure(id: number, batch: string): { files: number; sizeBytes: number } {
    return this.#sql.exec<{ files: number; sizeBytes: number }>(MEASURE, id, batch).one();
  }
}

/** Splits rows into JSON arrays, each small enough for a statement. */
function* toJson(rows: readonly (readonly (string | number)[])[]): Generator<string> {
  let batch: string[] = [];
  let chars = 0;
  for (const row of rows) {
    const json = JSON.stringify(row);
    if (batch.length > 0 && chars + json.length > JSON_CHARS) {
      yield `[${batch.join(",")}]`;
      batch = [];
      chars = 0;
    }
    batch.push(json);
    chars += json.length + 1;
  }
  if (batch.length > 0) yield `[${batch.join(",")}]`;
}
