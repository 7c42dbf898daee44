import { tableExists } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";
import type { LfsLock } from "../../../contract/lfs.ts";

/** Created with the first lock. */
const TABLE = `
CREATE TABLE IF NOT EXISTS lfs_locks (
  path TEXT PRIMARY KEY,           -- of the file, text
  id TEXT NOT NULL UNIQUE,         -- random
  ref TEXT,                        -- full name of the ref that its owner worked on, text; NULL: unknown
  owner TEXT NOT NULL,             -- identifies the caller: the token's id, 'operator', 'anyone'
  owner_name TEXT NOT NULL,        -- for people
  locked_ms INTEGER NOT NULL
) WITHOUT ROWID;
`;

const COLUMNS = "path, id, ref, owner, owner_name AS ownerName, locked_ms AS lockedMs";

/** The locks of a repository's files: table `lfs_locks`. Writing methods must run in a
 * transaction. */
export class LockTable {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Finds the lock of a file; null: it is not locked. */
  at(path: string): LfsLock | null {
    return this.#select("WHERE path = ?", path)[0] ?? null;
  }

  /** Finds a lock by its id; null: there is none. */
  find(id: string): LfsLock | null {
    return this.#select("WHERE id = ?", id)[0] ?? null;
  }

  /** Lists some of the locks, by path.
   * @param after only locks of later paths; "": from the first on */
  page(after: string, limit: number): LfsLock[] {
    return this.#select("WHERE path > ? ORDER BY path LIMIT ?", after, limit);
  }

  /** Counts the locks. */
  count(): number {
    if (!this.#exists) return 0;
    return this.#sql.exec<{ count: number }>("SELECT count(*) AS count FROM lfs_locks").one().count;
  }

  /** Locks a file that is not locked. */
  add({ path, id, ref, owner, ownerName, lockedMs }: LfsLock): void {
    this.#sql.exec(TABLE);
    const insert = "INSERT INTO lfs_locks (path, id, ref, owner, owner_name, locked_ms) VALUES (?, ?, ?, ?, ?, ?)";
    this.#sql.exec(insert, path, id, ref, owner, ownerName, lockedMs);
  }

  /** Removes a lock. */
  remove(id: string): void {
    this.#sql.exec("DELETE FROM lfs_locks WHERE id = ?", id);
  }

  #select(rest: string, ...bindings: (string | number)[]): LfsLock[] {
    if (!this.#exists) return [];
    return this.#sql
      .exec<Record<keyof LfsLock, never>>(`SELECT ${COLUMNS} FROM lfs_locks ${rest}`, ...bindings)
      .toArray();
  }

  get #exists(): boolean {
    return tableExists(this.#sql, "lfs_locks");
  }
}
