import type { ChunkId } from "../../../base/numbers/kinds.ts";
import type { Sql } from "../sql/sql.ts";
import { ChunkPage, encodeChunkPage } from "./chunk-page.ts";
import type { SealedRow } from "./chunk-row.ts";
import { lastPageFrom } from "./fences.ts";

/** Chunks of a page: some 40 KB when encoded; with the longest keys that R2 allows, 1.2 MB. */
export const PAGE_CHUNKS = 1_024;

/** The rows of the chunks in R2, many in a row of table `sealed_chunks`. An id belongs to the page
 * with the next lower first id, as in the leaves of a tree. All pages are in memory after the first
 * use. Writing methods must run in a transaction. */
export class SealedChunks {
  readonly #sql: Sql;
  #pages: ChunkPage[] | null = null;
  /** Bytes of the chunks in each R2 object, weakly held: the garbage collector may drop them. */
  #bytesByKey: WeakRef<ReadonlyMap<string, number>> | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Clears the cache, which may differ from the table. */
  forget(): void {
    this.#pages = null;
    this.#bytesByKey = null;
  }

  /** Highest id; 0: none. */
  lastId(): ChunkId {
    return this.#all().at(-1)?.last ?? 0;
  }

  /** Size of all chunks, bytes. */
  sizeBytes(): number {
    return this.#all().reduce((sum, page) => sum + page.sizeBytes, 0);
  }

  /** Yields all rows, ascending by id: 50 ms for 50,000 that were not decoded before.
   * @throws GitError "storage-failed" when a page cannot be read; the same below */
  *all(): Generator<SealedRow> {
    for (const page of this.#all()) yield* page.rows().values();
  }

  /** Finds the row of a chunk; null: it is not in R2, or does not exist. */
  find(id: ChunkId): SealedRow | null {
    return this.#all()[this.#pageOf(id)]?.rows().get(id) ?? null;
  }

  /** Finds the row with the next higher id; null: none. */
  next(afterId: number): SealedRow | null {
    const page = this.#all().find(({ last }) => last > afterId);
    const rows = page?.rows().values();
    return rows?.find(({ id }) => id > afterId) ?? null;
  }

  /** Sums the bytes of the chunks in each R2 object that contains any. */
  bytesByKey(): ReadonlyMap<string, number> {
    const known = this.#bytesByKey?.deref();
    if (known !== undefined) return known;
    const bytes = new Map<string, number>();
    for (const { key, size } of this.all()) bytes.set(key, (bytes.get(key) ?? 0) + size);
    this.#bytesByKey = new WeakRef(bytes);
    return bytes;
  }

  /** Writes rows, ascending by id, replacing existing ones. */
  put(rows: readonly SealedRow[]): void {
    for (let from = 0; from < rows.length;) {
      const at = this.#pageOf(rows[from]!.id);
      const next = this.#all()[at + 1]?.first ?? Infinity;
      let end = from;
      while (end < rows.length && rows[end]!.id < next) end++;
      const byId = new Map(this.#all()[at]?.rows());
      const isAppended = rows[from]!.id > (this.#all()[at]?.last ?? 0);
      for (; from < end; from++) byId.set(rows[from]!.id, rows[from]!);
      const all = [...byId.values()].sort((a, b) => a.id - b.id);
      this.#write(at, all, isAppended);
    }
  }

  /** Removes rows. */
  remove(ids: ReadonlySet<ChunkId>): void {
    for (const at of new Set(Array.from(ids, (id) => this.#pageOf(id)).toSorted((a, b) => b - a))) {
      if (at < 0) continue;
      const rows = this.#all()[at]!.rows();
      const left = [...rows.values()].filter(({ id }) => !ids.has(id));
      if (left.length < rows.size) this.#write(at, left, false);
    }
  }

  /** Writes the rows of a page, divided if there are too many: into equal lengths, unless rows were
   * only appended. The rows of the last page then stay in it, because a fork may be copying pages.
   * @param at index of the page; −1: there is none yet */
  #write(at: number, rows: readonly SealedRow[], isAppended: boolean): void {
    const former = this.#all()[at];
    const perPage = isAppended ? PAGE_CHUNKS : Math.ceil(rows.length / Math.ceil(rows.length / PAGE_CHUNKS));
    const pages: ChunkPage[] = [];
    for (let from = 0; from < rows.length; from += perPage) {
      const own = rows.slice(from, from + perPage);
      const first = from === 0 ? (former?.first ?? 0) : own[0]!.id;
      const bytes = encodeChunkPage(own);
      this.#sql.exec("INSERT OR REPLACE INTO sealed_chunks (first, chunks) VALUES (?, ?)", first, bytes);
      pages.push(new ChunkPage(first, bytes));
    }
    if (pages.length === 0) this.#sql.exec("DELETE FROM sealed_chunks WHERE first = ?", former!.first);
    this.#pages = [...this.#all().slice(0, Math.max(at, 0)), ...pages, ...this.#all().slice(at + 1)];
    this.#bytesByKey = null;
  }

  #all(): ChunkPage[] {
    this.#pages ??= this.#sql
      .exec<{ first: number; chunks: ArrayBuffer }>("SELECT first, chunks FROM sealed_chunks ORDER BY first")
      .toArray()
      .map(({ first, chunks }) => new ChunkPage(first, new Uint8Array(chunks)));
    return this.#pages;
  }

  /** Finds the index of an id's page; −1: none begins at or before it. */
  #pageOf(id: ChunkId): number {
    return lastPageFrom(this.#all(), id);
  }
}
