import { OID_BYTES } from "../../../base/format/oid.ts";
import type { ObjectNumber } from "../../../base/numbers/kinds.ts";
import { NumberSet, sortIndices } from "../../../base/numbers/number-set.ts";
import type { AbsentObjects } from "./absent-objects.ts";
import { type IdRuns, prefixesOf } from "./id-runs.ts";
import type { ObjectColumns } from "./object-columns.ts";
import { type ObjectPage, rowsOf } from "./object-page.ts";
import type { ObjectPages } from "./object-pages.ts";
import type { UnfiledObjects } from "./unfiled-objects.ts";

/** Number of ids from which the pages that they lead to are decoded whole. */
const MANY = 1_000;

/** Finds the rows of objects, by number or by id, wherever they are: in pages by number, or beside
 * the chunks of small pushes. Read-only. */
export class ObjectRows {
  readonly #pages: ObjectPages;
  readonly #unfiled: UnfiledObjects;
  readonly #ids: IdRuns;
  readonly #absent: AbsentObjects;

  constructor(pages: ObjectPages, unfiled: UnfiledObjects, ids: IdRuns, absent: AbsentObjects) {
    this.#pages = pages;
    this.#unfiled = unfiled;
    this.#ids = ids;
    this.#absent = absent;
  }

  /** Finds the page that has a number; null: none. */
  pageOf(number: ObjectNumber): ObjectPage | null {
    const page = this.#unfiled.pageOf(number) ?? this.#pages.pageOf(number);
    return page !== null && page.numbers.has(number) ? page : null;
  }

  /** Yields the pages that have some of the numbers, with these numbers. */
  *parts(numbers: NumberSet): Generator<{ page: ObjectPage; wanted: NumberSet }> {
    if (numbers.size === 0) return;
    const end = numbers.last + 1;
    for (const pages of [this.#unfiled.pagesIn(numbers.first, end), this.#pages.pagesIn(numbers)]) {
      for (const page of pages) {
        const wanted = numbers.within(page.numbers.first, page.numbers.last + 1).intersection(page.numbers);
        if (wanted.size > 0) yield { page, wanted };
      }
    }
  }

  /** Selects the existing numbers whose rows pass. */
  select(numbers: NumberSet, passes: (rows: ObjectColumns, i: number) => boolean): NumberSet {
    const found: ObjectNumber[] = [];
    for (const { page, wanted } of this.parts(numbers)) {
      for (const { part, from, end } of rowsOf(page, wanted)) {
        for (let i = from; i < end; i++) if (passes(part, i)) found.push(part.number[i]!);
      }
    }
    return NumberSet.fromUnsorted(found);
  }

  /** Finds packed ids.
   * @param found receives the index of an id that exists, its page, its row there, and its
   *   number */
  search(oids: Uint8Array, found: (i: number, page: ObjectPage, at: number, number: ObjectNumber) => void): void {
    const prefixes = prefixesOf(oids);
    const order = sortIndices(prefixes);
    const indices: number[] = [];
    const numbers: ObjectNumber[] = [];
    const note = (at: number, number: ObjectNumber): void => {
      indices.push(order[at]!);
      numbers.push(number);
    };
    const sorted = order.map((i) => prefixes[i]!);
    this.#unfiled.find(sorted, note);
    this.#ids.find(sorted, note);
    if (numbers.length === 0) return;
    const hidden = this.#absent.hidden;
    let page: ObjectPage | null = null;
    for (const k of sortIndices(Uint32Array.from(numbers))) {
      const number = numbers[k]!;
      let at = page?.numbers.indexOf(number) ?? -1;
      if (at < 0) {
        page = this.pageOf(number);
        if (numbers.length >= MANY) page?.all();
        at = page?.numbers.indexOf(number) ?? -1;
      }
      if (page?.hasOid(at, oids, indices[k]! * OID_BYTES) !== true || hidden.has(number)) continue;
      found(indices[k]!, page, at, number);
    }
  }
}
