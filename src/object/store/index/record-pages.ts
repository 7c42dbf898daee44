// Tables whose rows are pages: many records each, ascending by number. A page is one record after
// another, each of which begins with its number as the difference from the record before (in the
// first record: from 0), as a LEB128 varint. So the records of a push, whose numbers are above all
// others, are appended without reading the page.
import type { ObjectNumber } from "../../../base/numbers/kinds.ts";
import { NumberSet } from "../../../base/numbers/number-set.ts";
import type { Sql, SqlValue } from "../sql/sql.ts";
import { VarintReader, VarintWriter } from "../sql/varints.ts";

/** The contents of a table's pages. Besides the column of records, the table has `first` (primary
 * key) and `last`, the lowest and the highest number in the page. */
interface RecordFormat<R> {
  readonly table: string;
  /** Name of the column with the records. */
  readonly column: string;
  /** Columns with sums over a page's records, with the summand of a record. */
  readonly sums: Readonly<Record<string, (record: R) => number>>;
  /** Upper bound of the bytes of a record with its number.
   * @throws GitError "too-large" when it does not fit into a row */
  sizeOf(this: void, record: R): number;
  /** Writes a record's fields, after its number. */
  write(this: void, writer: VarintWriter, record: R): void;
  /** Reads a record's fields, after its number.
   * @throws GitError "storage-failed" when it is corrupt */
  read(this: void, reader: VarintReader, number: ObjectNumber): R;
}

/** Size of a page whose records are written at once, unless a single record is larger. */
export const PAGE_BYTES = 524_288;

/** Size limit of a page to which few records are appended, because each append rewrites the
 * page. */
export const APPENDED_BYTES = 65_536;

/** Smallest fraction by which a larger page grows at a time. */
const LEAST_GROWTH = 1 / 4;

/** Size limit of the records that are encoded together. */
const GROUP_BYTES = 4_096;

/** A page without its records. */
interface Page {
  readonly first: ObjectNumber;
  readonly last: ObjectNumber;
  readonly bytes: number;
}

/** A page to insert. */
export interface PreparedPage {
  readonly first: ObjectNumber;
  readonly last: ObjectNumber;
  /** Sums in the order of `RecordFormat.sums`. */
  readonly sums: readonly SqlValue[];
  readonly bytes: Uint8Array;
}

/** The pages of one table. Writing methods must run in a transaction. */
export class RecordPages<R extends { readonly number: ObjectNumber }> {
  readonly #sql: Sql;
  readonly #format: RecordFormat<R>;

  constructor(sql: Sql, format: RecordFormat<R>) {
    this.#sql = sql;
    this.#format = format;
  }

  /** Writes records, replacing existing ones.
   * @param records ascending by number
   * @throws GitError "too-large" when one does not fit into a row */
  write(records: readonly R[]): void {
    const { table } = this.#format;
    for (let from = 0; from < records.length;) {
      const { number } = records[from]!;
      const page = this.#pageBefore(number);
      const next = this.#sql
        .exec<{ first: number | null }>(`SELECT min(first) AS first FROM ${table} WHERE first > ?`, number)
        .one();
      let end = from + 1;
      while (end < records.length && records[end]!.number < (next.first ?? Infinity)) end++;
      const added = records.slice(from, end);
      if (page === null) this.#insert(added);
      else if (page.last < number) this.#append(page, added);
      else {
        const all = [...this.#readPage(page.first), ...added].map((record) => [record.number, record] as const);
        this.#replace(
          page.first,
          [...new Map(all).values()].sort((a, b) => a.number - b.number),
        );
      }
      from = end;
    }
  }

  /** Removes the records that exist. */
  remove(numbers: NumberSet): void {
    for (const first of this.#pagesWith(numbers)) {
      const kept = this.#readPage(first).filter(({ number }) => !numbers.has(number));
      this.#replace(first, kept);
    }
  }

  /** Removes all records, including unreadable ones. */
  clear(): void {
    this.#sql.exec(`DELETE FROM ${this.#format.table}`);
  }

  /** Finds the numbers of the page after the one that begins with `first`, possibly with gaps;
   * null: there is none. */
  pageAfter(first: ObjectNumber): NumberSet | null {
    const query = `SELECT first, last FROM ${this.#format.table} WHERE first > ? ORDER BY first LIMIT 1`;
    const [page] = this.#sql.exec<{ first: number; last: number }>(query, first).toArray();
    return page === undefined ? null : NumberSet.range(page.first, page.last + 1);
  }

  /** Reads the records that exist, ascending by number.
   * @throws GitError "storage-failed" when a page cannot be read */
  *read(numbers: NumberSet): Generator<R> {
    for (const first of this.#pagesWith(numbers)) {
      for (const record of this.#readPage(first)) if (numbers.has(record.number)) yield record;
    }
  }

  /** Reads all records, ascending by number.
   * @throws as `read` */
  *all(): Generator<R> {
    const { table, column } = this.#format;
    const pages = this.#sql.exec<{ records: ArrayBuffer }>(`SELECT ${column} AS records FROM ${table} ORDER BY first`);
    for (const { records } of pages) yield* this.#decode(records);
  }

  /** The highest number; 0: there are no records. Reads one row. */
  lastNumber(): ObjectNumber {
    const query = `SELECT last FROM ${this.#format.table} ORDER BY first DESC LIMIT 1`;
    return this.#sql.exec<{ last: number }>(query).toArray()[0]?.last ?? 0;
  }

  /** Encodes records, ascending by number.
   * @param last the number of the record before; 0: none */
  encode(records: readonly R[], last: ObjectNumber): Uint8Array<ArrayBuffer> {
    const { sizeOf, write } = this.#format;
    const writer = new VarintWriter(records.reduce((sum, record) => sum + sizeOf(record), 0));
    let before: number = last;
    for (const record of records) {
      writer.varint(record.number - before);
      before = record.number;
      write(writer, record);
    }
    return writer.finish();
  }

  #decode(page: ArrayBuffer): R[] {
    const { table, read } = this.#format;
    const reader = new VarintReader(new Uint8Array(page), 0, table);
    const records: R[] = [];
    for (let number = 0; reader.at < page.byteLength;) {
      number += reader.varint();
      records.push(read(reader, number));
    }
    return records;
  }

  /** Finds the page of a number; null: none begins at or before it. */
  #pageBefore(number: ObjectNumber): Page | null {
    const { table, column } = this.#format;
    const query = `SELECT first, last, length(${column}) AS bytes FROM ${table} WHERE first <= ? ORDER BY first DESC LIMIT 1`;
    return this.#sql.exec<{ first: number; last: number; bytes: number }>(query, number).toArray()[0] ?? null;
  }

  /** Finds the first numbers of the pages that may have some of the records. */
  #pagesWith(numbers: NumberSet): ObjectNumber[] {
    if (numbers.size === 0) return [];
    const start = this.#pageBefore(numbers.first)?.first ?? 0;
    const query = `SELECT first, last FROM ${this.#format.table} WHERE first BETWEEN ? AND ? ORDER BY first`;
    const pages = this.#sql.exec<{ first: number; last: number }>(query, start, numbers.last).toArray();
    return pages.filter(({ first, last }) => numbers.within(first, last + 1).size > 0).map(({ first }) => first);
  }

  #readPage(first: ObjectNumber): R[] {
    const { table, column } = this.#format;
    const query = `SELECT ${column} AS records FROM ${table} WHERE first = ?`;
    return this.#decode(this.#sql.exec<{ records: ArrayBuffer }>(query, first).one().records);
  }

  /** Appends records to a page, and to further ones when it is full. */
  #append({ first, last, bytes }: Page, records: readonly R[]): void {
    const { table, column, sums } = this.#format;
    const added = this.encode(records, last);
    const most = added.length >= bytes * LEAST_GROWTH ? PAGE_BYTES : APPENDED_BYTES;
    if (bytes + added.length > most) return this.#insert(records);
    const sets = Object.keys(sums).map((sum) => `${sum} = ${sum} + ?, `);
    this.#sql.exec(
      `UPDATE ${table} SET last = ?, ${sets.join("")}${column} = CAST(${column} || ? AS BLOB) WHERE first = ?`,
      records.at(-1)!.number,
      // oxlint-disable-next-line bounded/no-call-spread -- as many as the table has columns.
      ...this.#sum(records),
      added,
      first,
    );
  }

  #replace(first: ObjectNumber, records: readonly R[]): void {
    this.#sql.exec(`DELETE FROM ${this.#format.table} WHERE first = ?`, first);
    this.#insert(records);
  }

  /** Writes records as new pages. */
  #insert(records: readonly R[]): void {
    for (const page of this.#encodePages(records)) this.#insertPage(page);
  }

  /** Encodes records whose numbers are above all others, as new pages. Yields after each page. */
  *prepare(records: readonly R[]): Generator<void, PreparedPage[]> {
    const pages: PreparedPage[] = [];
    for (const page of this.#encodePages(records)) {
      pages.push(page);
      yield;
    }
    return pages;
  }

  /** Writes prepared pages. */
  insertPrepared(pages: readonly PreparedPage[]): void {
    for (const page of pages) this.#insertPage(page);
  }

  #insertPage({ first, last, sums, bytes }: PreparedPage): void {
    const { table, column, sums: named } = this.#format;
    const columns = ["first", "last", ...Object.keys(named), column];
    const insert = `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
    // oxlint-disable-next-line bounded/no-call-spread -- as many as the table has columns.
    this.#sql.exec(insert, first, last, ...sums, bytes);
  }

  /** Divides records into pages, each as full as possible. */
  *#encodePages(records: readonly R[]): Generator<PreparedPage> {
    let page: R[] = [];
    let parts: Uint8Array[] = [];
    let bytes = 0;
    const close = (): PreparedPage => {
      const { number: first } = page[0]!;
      const closed = { first, last: page.at(-1)!.number, sums: this.#sum(page), bytes: joinParts(parts, bytes) };
      [page, parts, bytes] = [[], [], 0];
      return closed;
    };
    for (const group of this.#inGroups(records)) {
      let encoded = this.encode(group, page.at(-1)?.number ?? 0);
      if (page.length > 0 && bytes + encoded.length > PAGE_BYTES) {
        yield close();
        encoded = this.encode(group, 0);
      }
      for (const record of group) page.push(record);
      parts.push(encoded);
      bytes += encoded.length;
    }
    if (page.length > 0) yield close();
  }

  /** Divides records into groups of at most `GROUP_BYTES`, or of one record. */
  *#inGroups(records: readonly R[]): Generator<R[]> {
    const { sizeOf } = this.#format;
    for (let from = 0; from < records.length;) {
      let end = from + 1;
      let bytes = sizeOf(records[from]!);
      while (end < records.length && (bytes += sizeOf(records[end]!)) <= GROUP_BYTES) end++;
      yield records.slice(from, end);
      from = end;
    }
  }

  #sum(records: readonly R[]): SqlValue[] {
    return Object.values(this.#format.sums).map((add) => records.reduce((sum, record) => sum + add(record), 0));
  }
}

function joinParts(parts: readonly Uint8Array[], bytes: number): Uint8Array {
  const joined = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
