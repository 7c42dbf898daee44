import type { ChunkId, ObjectNumber } from "../../../base/numbers/kinds.ts";
import type { NumberSet } from "../../../base/numbers/number-set.ts";
import type { HotChunks } from "./hot-chunks.ts";
import { firstFrom, type IdEntries, mergeEntries, toEntries } from "./id-runs.ts";
import { joinRows, type ObjectColumns } from "./object-columns.ts";
import { encodeObjectPage, ObjectPage } from "./object-page.ts";

/** The page of one chunk. */
interface Unfiled {
  readonly chunk: ChunkId;
  readonly page: ObjectPage;
}

const NONE: IdEntries = { prefixes: new Uint32Array(0), numbers: new Uint32Array(0) };

/** The index rows of small pushes, each push's in the row of its chunk: `hot_chunks.objects`. There
 * are few, and all are in memory. When `repack` moves the objects, their rows go to
 * `ObjectPages`. */
export class UnfiledObjects {
  readonly #chunks: HotChunks;
  /** Pages by number. */
  #pages: Unfiled[] | null = null;
  #ids = NONE;

  constructor(chunks: HotChunks) {
    this.#chunks = chunks;
  }

  /** Clears the cache and the inline chunks', which may differ from the table. */
  forget(): void {
    this.#chunks.forget();
    this.#pages = null;
  }

  /** All pages, by number. */
  pages(): ObjectPage[] {
    return this.#all().map(({ page }) => page);
  }

  /** The highest number; 0: none. */
  lastNumber(): ObjectNumber {
    return this.#all().at(-1)?.page.numbers.last ?? 0;
  }

  /** Finds the page that has a number; null: none. */
  pageOf(number: ObjectNumber): ObjectPage | null {
    const all = this.#all();
    const at = all.findLastIndex(({ page }) => page.numbers.first <= number);
    return at >= 0 && all[at]!.page.numbers.has(number) ? all[at]!.page : null;
  }

  /** Finds the pages with numbers in a range. */
  pagesIn(start: ObjectNumber, end: ObjectNumber): ObjectPage[] {
    return this.pages().filter(({ numbers }) => numbers.first < end && numbers.last >= start);
  }

  /** As `IdRuns.find`. */
  find(prefixes: Uint32Array, found: (i: number, number: ObjectNumber) => void): void {
    this.#all();
    const ids = this.#ids;
    prefixes.forEach((prefix, i) => {
      for (let at = firstFrom(ids.prefixes, prefix); ids.prefixes[at] === prefix; at++) found(i, ids.numbers[at]!);
    });
  }

  /** As `IdRuns.inRange`. */
  *inRange(first: number, last: number): Generator<ObjectNumber> {
    this.#all();
    for (let at = firstFrom(this.#ids.prefixes, first); this.#ids.prefixes[at]! <= last; at++)
      yield this.#ids.numbers[at]!;
  }

  /** Adds a page that was written with its chunk; its numbers are above all others. */
  add(chunk: ChunkId, page: ObjectPage): void {
    const { oid, number } = page.all();
    this.#all().push({ chunk, page });
    this.#ids = mergeEntries(this.#ids, toEntries(oid, number));
  }

  /** Replaces the rows of each page that has one of the numbers, in memory only: the caller must
   * store them by `write`.
   * @param change returns the new rows */
  rewrite(numbers: NumberSet, change: (rows: ObjectColumns) => ObjectColumns): ChunkId[] {
    const touched: ChunkId[] = [];
    const pages = this.#all().flatMap((unfiled) => {
      const { chunk, page } = unfiled;
      if (page.numbers.intersection(numbers).size === 0) return [unfiled];
      touched.push(chunk);
      const rows = change(page.all());
      return rows.number.length === 0 ? [] : [{ chunk, page: new ObjectPage(encodeObjectPage(rows)) }];
    });
    if (touched.length > 0) this.#set(pages);
    return touched;
  }

  /** Encodes the page of a chunk; null: its rows are in `ObjectPages`. */
  encoded(chunk: ChunkId): Uint8Array | null {
    return this.#all().find((unfiled) => unfiled.chunk === chunk)?.page.bytes ?? null;
  }

  /** Stores the pages of some chunks from memory. */
  write(chunks: readonly ChunkId[]): void {
    const all = this.#chunks.all();
    for (const id of chunks) this.#chunks.change(id, all.get(id)!.row.whole, this.encoded(id));
  }

  #all(): Unfiled[] {
    if (this.#pages !== null) return this.#pages;
    const pages = Array.from(this.#chunks.all(), ([chunk, { objects }]) =>
      objects === null ? null : { chunk, page: new ObjectPage(objects) },
    );
    return this.#set(pages.filter((page) => page !== null).sort((a, b) => a.page.numbers.first - b.page.numbers.first));
  }

  #set(pages: Unfiled[]): Unfiled[] {
    this.#pages = pages;
    const { oid, number } = joinRows(pages.map(({ page }) => page.all()));
    this.#ids = toEntries(oid, number);
    return pages;
  }
}
