// Pages of the index of a pack that is being indexed, if they exceed memory: table `pushed_pages`.
// The table is created for the first page, and dropped after the last push that has any. Pages of a
// process that died are removed when the object wakes. So the schema does not contain the table.
import type { PageStore } from "../../../base/codec/indexer-instance.ts";
import type { Sql } from "../sql/sql.ts";

/** Pages that are removed in one step. */
const REMOVED_PER_STEP = 256;

/** Number of keys reserved for each push. The pages of a pack's tables have lower numbers. */
const PUSH_KEYS = 2 ** 32;

/** Number of pushes that have stored pages since the isolate's start, and, for each database, number
 * of pushes that still have pages. */
let begun = 0;
const users = new WeakMap<Sql, number>();

/** Removes the pages that a dead process left. */
export function dropPushedPages(sql: Sql): void {
  sql.exec("DROP TABLE IF EXISTS pushed_pages");
}

/** The pages of one push. Every user must call `clear` at the end. */
export class PushedPages implements PageStore {
  readonly #sql: Sql;
  /** First key of the push; 0: it has no pages. */
  #first = 0;
  /** Pages written while a transaction runs, which may be rolled back; null: none runs. */
  #held: Map<number, Uint8Array> | null = null;
  /** Pages of the push in the table. */
  #count = 0;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Number of pages that were written and not removed yet. */
  get count(): number {
    return this.#count;
  }

  put(key: number, page: Uint8Array): void {
    if (this.#held !== null) this.#held.set(key, page.slice());
    else this.#write(key, page);
  }

  get(key: number, page: Uint8Array): void {
    const held = this.#held?.get(key);
    if (held !== undefined) return page.set(held);
    const query = "SELECT page FROM pushed_pages WHERE id = ?";
    const [row] = this.#sql.exec<{ page: ArrayBuffer }>(query, this.#first + key).raw();
    page.set(new Uint8Array(row![0] as ArrayBuffer));
  }

  /** Runs a transaction. Pages written meanwhile are kept even if it is rolled back. */
  hold<T>(transaction: () => T): T {
    this.#held = new Map();
    try {
      return transaction();
    } finally {
      const held = this.#held;
      this.#held = null;
      for (const [key, page] of held) this.#write(key, page);
    }
  }

  /** Removes all pages. Yields between steps. */
  *clear(): Generator<void, void> {
    if (this.#first === 0) return;
    const query = `DELETE FROM pushed_pages WHERE id IN (SELECT id FROM pushed_pages WHERE id BETWEEN ? AND ? LIMIT ${REMOVED_PER_STEP})`;
    while (this.#sql.exec(query, this.#first, this.#first + PUSH_KEYS - 1).rowsWritten > 0) yield;
    this.#count = this.#first = 0;
    const left = users.get(this.#sql)! - 1;
    users.set(this.#sql, left);
    if (left === 0) dropPushedPages(this.#sql);
  }

  #write(key: number, page: Uint8Array): void {
    if (this.#first === 0) this.#begin();
    this.#sql.exec("INSERT OR REPLACE INTO pushed_pages (id, page) VALUES (?, ?)", this.#first + key, page);
    this.#count += 1;
  }

  #begin(): void {
    this.#sql.exec("CREATE TABLE IF NOT EXISTS pushed_pages (id INTEGER PRIMARY KEY, page BLOB NOT NULL)");
    users.set(this.#sql, (users.get(this.#sql) ?? 0) + 1);
    this.#first = (1 + (begun++ % 2 ** 20)) * PUSH_KEYS;
  }
}
