import type { Sql } from "../sql/sql.ts";
import type { StoredBundle } from "../../../contract/fetch.ts";

/** A response, stored in R2. */
export interface StoredResponse {
  /** Key of the R2 object. */
  readonly objectKey: string;
  readonly sizeBytes: number;
  /** Objects in its pack. */
  readonly objectCount: number;
}

/** Stored responses: table `responses`. A key covers everything that a response depends on, by
 * object ids, so no response is ever stale. */
export class ResponseTable {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Finds a response, and records its use; null: there is none. */
  find(key: Uint8Array, nowMs: number): StoredResponse | null {
    const [row] = this.#sql
      .exec<{ objectKey: string; sizeBytes: number; objectCount: number; usedMs: number }>(
        `SELECT object_key AS objectKey, size AS sizeBytes, objects AS objectCount, used_ms AS usedMs
          FROM responses WHERE key = ?`,
        key,
      )
      .toArray();
    if (row === undefined) return null;
    // A row written costs a thousand times as much as a row read.
    if (nowMs - row.usedMs > NOTE_USE_EVERY_MS) {
      this.#sql.exec("UPDATE responses SET used_ms = ? WHERE key = ?", nowMs, key);
    }
    const { objectKey, sizeBytes, objectCount } = row;
    return { objectKey, sizeBytes, objectCount };
  }

  /** Finds the response in this R2 object; null: none. */
  findObject(objectKey: string): StoredResponse | null {
    const [row] = this.#sql
      .exec<{ sizeBytes: number; objectCount: number }>(
        "SELECT size AS sizeBytes, objects AS objectCount FROM responses WHERE object_key = ?",
        objectKey,
      )
      .toArray();
    return row === undefined ? null : { objectKey, ...row };
  }

  /** Whether a response is in this R2 object. */
  hasObject(objectKey: string): boolean {
    return this.findObject(objectKey) !== null;
  }

  /** Stores a response, replacing any with the same key. */
  insert(key: Uint8Array, { objectKey, sizeBytes, objectCount }: StoredResponse, nowMs: number): void {
    this.#sql.exec(
      `INSERT OR REPLACE INTO responses (key, object_key, size, objects, made_ms, used_ms) VALUES (?, ?, ?, ?, ?, ?)`,
      key,
      objectKey,
      sizeBytes,
      objectCount,
      nowMs,
      nowMs,
    );
  }

  /** Removes the row of the response in this R2 object, if any. */
  remove(objectKey: string): void {
    this.#sql.exec("DELETE FROM responses WHERE object_key = ?", objectKey);
  }

  /** Removes the rows of responses made before `madeMs` or unused since `usedMs`, and then of those
   * unused for longest until the rest fits into `sizeBytes`.
   * @returns their R2 objects */
  trim(madeMs: number, usedMs: number, sizeBytes: number): string[] {
    const removed = this.#sql.exec<{ objectKey: string }>(
      `DELETE FROM responses WHERE made_ms < ?1 OR used_ms < ?2 OR key IN (
          SELECT key FROM (SELECT key, sum(size) OVER (ORDER BY used_ms DESC, key) AS total FROM responses)
          WHERE total > ?3)
        RETURNING object_key AS objectKey`,
      madeMs,
      usedMs,
      sizeBytes,
    );
    return removed.toArray().map(({ objectKey }) => objectKey);
  }

  /** Time at which the next response expires, ms since 1970; null: there are none.
   * @param keepMs time for which a response is kept after it was made
   * @param unusedMs time for which a response is kept after its last use */
  nextTrimMs(keepMs: number, unusedMs: number): number | null {
    return this.#sql
      .exec<{ dueMs: number | null }>(
        "SELECT min(min(made_ms + ?), min(used_ms + ?)) AS dueMs FROM responses",
        keepMs,
        unusedMs,
      )
      .one().dueMs;
  }
}

/** Precision of the time of last use. */
const NOTE_USE_EVERY_MS = 60 * 60_000;

/** The advertised bundle: table `bundles`, with at most one row. */
export class BundleTable {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The newest bundle; null: none. */
  current(): StoredBundle | null {
    const [row] = this.#sql
      .exec<{ token: number; key: string; sizeBytes: number; checksum: ArrayBuffer; totalBytes: number }>(
        "SELECT token, key, size AS sizeBytes, checksum, total_bytes AS totalBytes FROM bundles",
      )
      .toArray();
    return row === undefined ? null : { ...row, checksum: new Uint8Array(row.checksum) };
  }

  /** Replaces the bundle, or removes it; must run in a transaction. */
  replace(bundle: StoredBundle | null): void {
    this.#sql.exec("DELETE FROM bundles");
    if (bundle === null) return;
    const { token, key, sizeBytes, checksum, totalBytes } = bundle;
    this.#sql.exec(
      "INSERT INTO bundles (token, key, size, checksum, total_bytes) VALUES (?, ?, ?, ?, ?)",
      token,
      key,
      sizeBytes,
      checksum,
      totalBytes,
    );
  }
}
