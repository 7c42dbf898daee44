import type { ObjectNumber } from "../../../base/numbers/kinds.ts";
import { equalOids, type Oid } from "../../../base/format/oid.ts";
import type { Sql } from "../sql/sql.ts";
import { WorktreeFiles } from "./worktree-files.ts";
import { GONE, REMOVED, type StoredFile } from "./worktree-records.ts";

/** A branch that is materialized, or whose files are being removed. */
export interface Worktree {
  readonly id: number;
  /** Byte string, without `refs/heads/`. */
  readonly branch: string;
  /** The last commit whose files were all in R2; null: none yet. While another commit is being
   * written, some files already belong to that one. */
  readonly materialized: Oid | null;
  /** Object number of the commit whose files are listed; 0: none. */
  readonly planned: number;
  /** Number of files of the planned commit, and their total size. */
  readonly files: number;
  readonly sizeBytes: number;
  /** Number of files whose R2 objects must be written or removed. */
  readonly pending: number;
  /** Reason why the branch's newest commit is not planned; null: it is not refused. */
  readonly refused: string | null;
  /** Time at which `materialized` was last set. */
  readonly changedMs: number;
}

/** A file of the planned commit. */
export interface WorktreeFile {
  /** Byte string. */
  readonly path: string;
  readonly oid: Oid;
  /** Mode as in the tree. */
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

/** The new content of a path. */
export interface FileChange {
  readonly path: string;
  /** Null: the path is removed. */
  readonly file: {
    /** Object number of the blob. */
    readonly source: number;
    readonly oid: Oid;
    readonly mode: number;
    readonly sizeBytes: number;
  } | null;
}

/** A file that was written. */
export interface WrittenFile extends PendingFile {
  readonly etag: string;
}

/** Number of changes that are in memory together while a commit is planned. */
const PLANNED_TOGETHER = 4_096;

const COLUMNS =
  "id, branch, materialized, planned, files, size AS sizeBytes, pending, refused, changed_ms AS changedMs";

/** Files of branches as R2 objects: tables `worktrees` and `worktree_files`, and the choice of
 * branches (`repository.worktrees`).
 *
 * The tables have the files of a worktree's planned commit, each with the work left for its R2
 * object. So planning is one transaction, and the work is done in any number of them. All writing
 * methods must run in a transaction. */
export class WorktreeTable {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Branches to materialize, as byte strings; null: the default branch. */
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

  /** Finds the worktree of a branch; null: none. */
  get(branch: string): Worktree | null {
    return this.#select("WHERE branch = ?", branch)[0] ?? null;
  }

  /** Bytes of the files of all planned commits. */
  sizeBytes(): number {
    const query = "SELECT ifnull(sum(size), 0) AS sizeBytes FROM worktrees";
    return this.#sql.exec<{ sizeBytes: number }>(query).one().sizeBytes;
  }

  /** Finds a worktree whose planned commit is this one; null: none.
   * @param commit object number */
  ofCommit(commit: ObjectNumber): Worktree | null {
    return this.#select("WHERE planned = ? LIMIT 1", commit)[0] ?? null;
  }

  /** Creates a branch's worktree, without files. */
  add(branch: string): Worktree {
    this.#sql.exec(
      "INSERT INTO worktrees (branch, planned, files, size, pending, changed_ms) VALUES (?, 0, 0, 0, 0, 0) ON CONFLICT DO NOTHING",
      branch,
    );
    return this.get(branch)!;
  }

  /** Plans another commit: changes the files that differ, and marks files to write and to remove.
   * Files that are up to date stay. Pending ones get the new source, since an object that was
   * pruned and pushed again has another number.
   * @param commit object number; 0: no files
   * @param changes each path once
   * @throws GitError "too-large" for a path that fits no row */
  plan(id: number, commit: ObjectNumber, changes: Iterable<FileChange>): void {
    let slice: FileChange[] = [];
    for (const change of changes) {
      if (slice.length === PLANNED_TOGETHER) {
        this.#planSome(id, commit, slice);
        slice = [];
      }
      slice.push(change);
    }
    this.#planSome(id, commit, slice);
  }

  #planSome(id: number, commit: ObjectNumber, changes: readonly FileChange[]): void {
    const files = this.#open(id);
    const known = files.find(changes.map(({ path }) => path));
    const changed = changes.flatMap((change) => planFile(change, known.get(change.path)) ?? []);
    const before = measure(changed.flatMap(({ path }) => known.get(path) ?? []));
    const after = measure(changed);
    this.#sql.exec(
      `UPDATE worktrees SET planned = ?, files = files + ?, size = size + ?, pending = pending + ?, refused = NULL, recent = ?
        WHERE id = ?`,
      commit,
      after.files - before.files,
      after.sizeBytes - before.sizeBytes,
      after.pending - before.pending,
      files.put(changed),
      id,
    );
  }

  /** Records the reason why a branch's newest commit cannot be planned. */
  refuse(id: number, reason: string): void {
    this.#sql.exec("UPDATE worktrees SET refused = ? WHERE id = ?", reason, id);
  }

  /** Lists some of the pending work: removals first, then by the number of the blob to read;
   * several files may have the same blob.
   * @param limit limit of the files
   * @param limitBytes limit of their bytes, unless a single one is larger */
  pending(id: number, limit: number, limitBytes = Infinity): PendingFile[] {
    const [worktree] = this.#select("WHERE id = ?", id);
    const found: PendingFile[] = [];
    let sizeBytes = 0;
    if (worktree === undefined || worktree.pending === 0) return found;
    for (const { path, oid, mode, sizeBytes: bytes, source } of this.#open(id).pending(worktree.pending)) {
      if (found.length > 0 && (sizeBytes += bytes) > limitBytes) break;
      found.push({ path, oid, mode, sizeBytes: bytes, source });
      if (found.length === limit) break;
    }
    return found.sort((a, b) => a.source - b.source);
  }

  /** Records the pending files that were removed and written. If no work is left, marks the planned
   * commit as materialized, or removes a worktree that has none.
   * @param removed their paths
   * @param oidOf finds the id of a commit; null: it was pruned
   * @returns whether no work is left */
  record(
    id: number,
    removed: readonly string[],
    written: readonly WrittenFile[],
    oidOf: (commit: ObjectNumber) => Oid | null,
    nowMs: number,
  ): boolean {
    const [worktree] = this.#select("WHERE id = ?", id);
    const files = this.#open(id);
    const known = files.find([...removed, ...written.map(({ path }) => path)]);
    const done: StoredFile[] = [];
    for (const path of removed) {
      const file = known.get(path);
      if (file?.source === REMOVED) done.push({ ...file, source: GONE });
    }
    for (const { path, source, mode, etag } of written) {
      const file = known.get(path);
      // Checks the source again: the file may have been planned anew since it was read.
      if (file?.source === source && file.mode === mode) done.push({ ...file, source: 0, etag });
    }
    const { planned, materialized, pending } = worktree!;
    const left = pending - done.length;
    if (left === 0 && planned === 0) {
      files.clear();
      this.#sql.exec("DELETE FROM worktrees WHERE id = ?", id);
      return true;
    }
    const oid = left === 0 ? oidOf(planned) : materialized;
    const isSame = oid === null || materialized === null ? oid === materialized : equalOids(oid, materialized);
    if (isSame && done.length === 0) return left === 0;
    this.#sql.exec(
      "UPDATE worktrees SET pending = ?, materialized = ?, changed_ms = ifnull(?, changed_ms), recent = ? WHERE id = ?",
      left,
      oid,
      left === 0 ? nowMs : null,
      files.put(done),
      id,
    );
    return left === 0;
  }

  /** All paths, including those to be removed. */
  paths(id: number): string[] {
    return Array.from(this.#open(id).from(""), ({ path }) => path);
  }

  /** Whether a path exists, even if its file is about to be removed. */
  has(id: number, path: string): boolean {
    return this.#open(id).find([path]).size > 0;
  }

  /** Marks a file to be written again, because its R2 object differs from the recorded one.
   * @param source object number of the file's blob */
  mistrust(id: number, path: string, source: number): void {
    const files = this.#open(id);
    const file = files.find([path]).get(path);
    if (file?.source !== 0) return;
    const recent = files.put([{ ...file, source, etag: null }]);
    this.#sql.exec("UPDATE worktrees SET pending = pending + 1, recent = ? WHERE id = ?", recent, id);
  }

  /** Lists files of the planned commit, sorted by the bytes of their paths.
   * @param prefix byte string at the start of their paths
   * @param after only paths after this one; "": from the first */
  files(id: number, prefix: string, after: string, limit: number): WorktreeFile[] {
    const found: WorktreeFile[] = [];
    for (const file of this.#open(id).from(after > prefix ? after : prefix)) {
      if (found.length === limit || !file.path.startsWith(prefix)) break;
      if (file.path !== after && file.source !== REMOVED) found.push(toWorktreeFile(file));
    }
    return found;
  }

  /** Finds a file of the planned commit; null: there is no such path. */
  file(id: number, path: string): WorktreeFile | null {
    const file = this.#open(id).find([path]).get(path);
    return file === undefined || file.source === REMOVED ? null : toWorktreeFile(file);
  }

  #open(id: number): WorktreeFiles {
    return new WorktreeFiles(this.#sql, id);
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
}

/** Plans the change of a file; null: it stays unchanged. */
function planFile({ path, file }: FileChange, known: StoredFile | undefined): StoredFile | null {
  if (file === null)
    return known === undefined || known.source === REMOVED ? null : { ...known, source: REMOVED, etag: null };
  const isRight = known?.source === 0 && known.mode === file.mode && equalOids(known.oid, file.oid);
  return isRight ? null : { path, ...file, etag: null };
}

function measure(files: readonly StoredFile[]): { files: number; sizeBytes: number; pending: number } {
  const present = files.filter(({ source }) => source !== REMOVED);
  return {
    files: present.length,
    sizeBytes: present.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    pending: files.filter(({ source }) => source !== 0).length,
  };
}

function toWorktreeFile({ path, oid, mode, sizeBytes, etag }: StoredFile): WorktreeFile {
  return { path, oid, mode, sizeBytes, etag };
}
