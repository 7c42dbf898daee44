// Pages of the tables of packs that are being indexed, as far as memory does not take them: table
// `pushed_pages`. It is made when the first page comes, and goes with the last push that has any;
// what a process that died has left goes when the object wakes. So the schema does not have it.
import type { PageStore } from "../../../base/codec/indexer-instance.ts";
import type { Sql } from "../sql/sql.ts";

/** Pages are removed in a step. */
const REMOVED_PER_STEP = 256;

/** Keys of one push are below: the pages of a pack's tables have smaller ones. */
const PUSH_KEYS = 2 ** 32;

/** Pushes of this isolate that have begun to keep pages, and those of each database that still
 * do. */
let begun = 0;
const users = new WeakMap<Sql, number>();

/** Removes what a process that died has left. */
export function dropPushedPages(sql: Sql): void {
  sql.exec("DROP TABLE IF EXISTS pushed_pages");
}

/** The pages of one push. Whoever opens it must `clear` it. */
export class PushedPages implements PageStore {
  readonly #sql: Sql;
  /** The first key of the push; 0: it has no pages. */
  #first = 0;
  /** Pages put out while a transaction runs, which may be rolled back; null: none runs. */
  #held: Map<number, Uint8Array> | null = null;
  /** Pages of the push in the table. */
  #count = 0;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Pages that were put out and not removed yet. */
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

  /** Runs a transaction: pages put out meanwhile are kept whatever becomes of it. */
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

  /** Removes the pages. Yields between steps. */
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
