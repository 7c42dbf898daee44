import type { ObjectNumber } from "../../../base/numbers/kinds.ts";
import type { NumberSet } from "../../../base/numbers/number-set.ts";
import type { Sql } from "../sql/sql.ts";
import { lastPageFrom } from "./fences.ts";
import { divideRows, joinRows, mergeRows, type ObjectColumns, sliceRows } from "./object-columns.ts";
import { damagedIndex, encodeObjectPage, ObjectPage } from "./object-page.ts";
import type { StagedRows } from "./staged-rows.ts";

/** Rows of a page: three quarters of a megabyte when encoded, and 1.8 MB at most. */
export const PAGE_ROWS = 24_576;

/** Data of a page that is known without reading it. */
export interface Fence {
  /** First number of the page; all its numbers are below the next page's. */
  readonly first: ObjectNumber;
  readonly last: ObjectNumber;
  /** Number of its objects without an introducer. */
  readonly unintroduced: number;
}

/** Exclusive upper bound of the numbers. */
const NUMBER_LIMIT = 2 ** 32;

/** A page to write. */
interface EncodedPage {
  readonly fence: Fence;
  readonly page: Uint8Array;
}

/** Rows above all others, ready to be inserted. */
export interface PreparedRows {
  /** First number of the page that the first new page replaces; null: none. */
  readonly former: ObjectNumber | null;
  readonly pages: readonly EncodedPage[];
  /** Further pages, above these, that are staged.
   * @see StagedRows */
  readonly staged: readonly Fence[];
}

/** Divides rows into pages.
 * @param first first number of the page that the first one replaces; null: it is new */
function* encodePages(first: ObjectNumber | null, rows: ObjectColumns): Generator<EncodedPage> {
  for (let from = 0; from < rows.number.length; from += PAGE_ROWS) {
    const part = sliceRows(rows, from, Math.min(from + PAGE_ROWS, rows.number.length));
    const fence: Fence = {
      first: from === 0 && first !== null ? first : part.number[0]!,
      last: part.number.at(-1)!,
      unintroduced: part.introducer.reduce((sum, introducer) => sum + (introducer === 0 ? 1 : 0), 0),
    };
    yield { fence, page: encodeObjectPage(part) };
  }
}

/** The index rows of objects by number, many in a row: table `object_chunks`. A number belongs to
 * the page with the next lower first number, as in the leaves of a tree. Fences are in memory;
 * pages are weakly held: the garbage collector may drop them. */
export class ObjectPages {
  readonly #sql: Sql;
  readonly #staged: Pick<StagedRows, "get">;
  #fences: Fence[] | null = null;
  #pages = new Map<ObjectNumber, WeakRef<ObjectPage>>();

  constructor(sql: Sql, staged: Pick<StagedRows, "get">) {
    this.#sql = sql;
    this.#staged = staged;
  }

  /** Clears the cache, which may differ from the table. */
  forget(): void {
    this.#fences = null;
    this.#pages.clear();
  }

  /** The highest number; 0: none. */
  lastNumber(): ObjectNumber {
    return this.#all().at(-1)?.last ?? 0;
  }

  /** Finds the page of a number; null: none. */
  pageOf(number: ObjectNumber): ObjectPage | null {
    const fence = this.#all()[this.#indexOf(number)];
    return fence === undefined || number > fence.last ? null : this.#read(fence);
  }

  /** Yields the pages that may have some of the numbers. */
  *pagesIn(numbers: NumberSet): Generator<ObjectPage> {
    for (const fence of this.#fencesIn(numbers)) yield this.#read(fence);
  }

  /** Whether an object has no introducer. */
  hasUnintroduced(): boolean {
    return this.#all().some(({ unintroduced }) => unintroduced > 0);
  }

  /** Yields the pages with objects that have no introducer. */
  *unintroducedPages(): Generator<ObjectPage> {
    for (const fence of this.#all()) if (fence.unintroduced > 0) yield this.#read(fence);
  }

  /** Writes rows, ascending by number; existing ones are replaced. Must run in a transaction. */
  put(rows: ObjectColumns): void {
    const count = rows.number.length;
    for (let from = 0; from < count;) {
      const index = this.#indexOf(rows.number[from]!);
      const next = this.#all()[index + 1]?.first ?? Infinity;
      let end = from;
      while (end < count && rows.number[end]! < next) end++;
      const added = sliceRows(rows, from, end);
      if (index < 0) this.#write(0, null, added);
      else this.#write(index, this.#all()[index]!.first, mergeRows(this.#columns(index), added));
      from = end;
    }
  }

  /** Encodes rows whose numbers are above all others. Yields after each page. */
  *prepare(rows: ObjectColumns): Generator<void, PreparedRows> {
    const fences = this.#all();
    const last = fences.at(-1);
    const isJoined = last !== undefined && this.#read(last).numbers.size < PAGE_ROWS;
    const all = isJoined ? joinRows([this.#columns(fences.length - 1), rows]) : rows;
    const former = isJoined ? last.first : null;
    const pages: EncodedPage[] = [];
    for (const page of encodePages(former, all)) {
      pages.push(page);
      yield;
    }
    return { former, pages, staged: [] };
  }

  /** First number of the first page that `stage` would write; null: none. */
  firstToStage({ former, pages }: PreparedRows): ObjectNumber | null {
    return (pages[0]?.fence.first === former ? pages[1] : pages[0])?.fence.first ?? null;
  }

  /** Writes the pages of prepared rows that replace none; they must be staged. Yields after each
   * page. */
  *stage({ former, pages }: PreparedRows): Generator<void, PreparedRows> {
    const added = pages.filter(({ fence }) => fence.first !== former);
    for (const { fence, page } of added) {
      this.#store(fence, page, false);
      yield;
    }
    return {
      former,
      pages: pages.filter(({ fence }) => fence.first === former),
      staged: added.map(({ fence }) => fence),
    };
  }

  /** Writes rows above all others as pages of their own, which must be staged. */
  addStaged(rows: ObjectColumns): Fence[] {
    return Array.from(encodePages(null, rows), ({ fence, page }) => {
      this.#store(fence, page, false);
      return fence;
    });
  }

  /** Removes staged pages. */
  unstage(first: ObjectNumber): void {
    this.#sql.exec("DELETE FROM object_chunks WHERE first >= ?", first);
    this.#pages.clear();
  }

  /** Writes prepared rows. Nothing else may have been written since. Must run in a transaction. */
  insertPrepared({ former, pages, staged }: PreparedRows): void {
    this.#storeAll(this.#all().length - (former === null ? 0 : 1), former, pages);
    this.#fences = [...this.#all(), ...staged];
  }

  /** Changes rows, all of which must exist. Must run in a transaction.
   * @param change receives a copy of a page's rows, and the index of the row to change */
  edit(numbers: NumberSet, change: (rows: ObjectColumns, i: number) => void): void {
    this.#rewrite(numbers, (rows) => {
      const changed = joinRows([rows]);
      rows.number.forEach((number, i) => {
        if (numbers.has(number)) change(changed, i);
      });
      return changed;
    });
  }

  /** Removes rows; must run in a transaction. */
  remove(numbers: NumberSet): void {
    this.#rewrite(numbers, (rows) => divideRows(rows, numbers).others);
  }

  /** Replaces the rows of each page that has one of the numbers. */
  #rewrite(numbers: NumberSet, change: (rows: ObjectColumns) => ObjectColumns): void {
    for (const { first } of this.#fencesIn(numbers)) {
      const index = this.#indexOf(first);
      this.#write(index, first, change(this.#columns(index)));
    }
  }

  /** Finds the fences around some of the numbers. */
  #fencesIn(numbers: NumberSet): Fence[] {
    if (numbers.size === 0) return [];
    const found: Fence[] = [];
    const fences = this.#all();
    for (let f = Math.max(0, this.#indexOf(numbers.first)); f < fences.length; f++) {
      const { first, last } = fences[f]!;
      if (first > numbers.last) break;
      if (numbers.within(first, last + 1).size > 0) found.push(fences[f]!);
    }
    return found;
  }

  #columns(index: number): ObjectColumns {
    return this.#read(this.#all()[index]!).all();
  }

  /** Writes the rows of one page, divided if there are too many.
   * @param index index of the page among the fences; with null for `first`, of a new page */
  #write(index: number, first: ObjectNumber | null, rows: ObjectColumns): void {
    this.#storeAll(index, first, [...encodePages(first, rows)]);
  }

  #storeAll(index: number, first: ObjectNumber | null, pages: readonly EncodedPage[]): void {
    for (const { fence, page } of pages) this.#store(fence, page, fence.first === first);
    if (pages.length === 0 && first !== null) {
      this.#sql.exec("DELETE FROM object_chunks WHERE first = ?", first);
      this.#pages.delete(first);
    }
    const fences = pages.map(({ fence }) => fence);
    const all = this.#all();
    this.#fences = [...all.slice(0, index), ...fences, ...all.slice(index + (first === null ? 0 : 1))];
  }

  #store({ first, last, unintroduced }: Fence, page: Uint8Array, exists: boolean): void {
    this.#sql.exec(
      exists
        ? "UPDATE object_chunks SET last = ?2, unintroduced = ?3, objects = ?4 WHERE first = ?1"
        : "INSERT INTO object_chunks (first, last, unintroduced, objects) VALUES (?1, ?2, ?3, ?4)",
      first,
      last,
      unintroduced,
      page,
    );
    this.#pages.set(first, new WeakRef(new ObjectPage(page)));
  }

  #read({ first, last }: Fence): ObjectPage {
    const known = this.#pages.get(first)?.deref();
    if (known !== undefined) return known;
    const { objects } = this.#sql
      .exec<{ objects: ArrayBuffer }>("SELECT objects FROM object_chunks WHERE first = ?", first)
      .one();
    const page = new ObjectPage(new Uint8Array(objects));
    if (page.numbers.first < first || page.numbers.last !== last)
      throw damagedIndex(`the page from ${first} has others`);
    this.#pages.set(first, new WeakRef(page));
    return page;
  }

  #all(): Fence[] {
    this.#fences ??= checkOrder(
      this.#sql
        .exec<{ first: number; last: number; unintroduced: number }>(
          "SELECT first, last, unintroduced FROM object_chunks WHERE first < ? ORDER BY first",
          this.#staged.get()?.first ?? Number.MAX_SAFE_INTEGER,
        )
        .toArray(),
    );
    return this.#fences;
  }

  /** Finds the last page that begins at or before a number; −1: none. */
  #indexOf(number: ObjectNumber): number {
    return lastPageFrom(this.#all(), number);
  }
}

/** Checks the order and range of the numbers. Code that counts up to a number, or has a bit for
 * each, relies on them. */
function checkOrder(fences: Fence[]): Fence[] {
  fences.forEach(({ first, last }, i) => {
    const next = fences[i + 1]?.first ?? NUMBER_LIMIT;
    if (first < 1 || last < first || last >= next) throw damagedIndex(`the page from ${first} ends at ${last}`);
  });
  return fences;
}
