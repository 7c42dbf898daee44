import { whenUnreadable } from "../../../base/failures/known-failures.ts";
import type { SqlCounters } from "../../../contract/log-events.ts";

/** Size limit of one bound or stored value: the platform's is 2 MB. The local runtime accepts more.
 * @see https://developers.cloudflare.com/durable-objects/platform/limits/ */
export const BLOB_MAX_BYTES = 2_000_000;

/** Result values: `BLOB`, `TEXT`, `INTEGER` or `REAL`, `NULL`. */
export type SqlValue = ArrayBuffer | string | number | null;

/** Bound values; a view binds its own bytes, not its whole buffer. */
export type SqlBinding = SqlValue | Uint8Array;

/** The rows of one statement, each read once. Read them to the end: a half-read cursor keeps its
 * statement open. */
export interface SqlCursor<T> extends Iterable<T> {
  toArray(): T[];
  /** Reads a single row.
   * @throws unless the statement yields exactly one row */
  one(): T;
  /** The rows as arrays, at half the cost of rows as objects. */
  raw(): Iterable<SqlValue[]>;
  readonly rowsRead: number;
  readonly rowsWritten: number;
}

/** The database of one repository. The interface is that of a Durable Object's `ctx.storage.sql`,
 * so that this layer does not depend on the platform.
 * @see https://developers.cloudflare.com/durable-objects/api/sqlite-storage-api/ */
export interface Sql {
  exec<T extends Record<string, SqlValue>>(query: string, ...bindings: SqlBinding[]): SqlCursor<T>;
  readonly databaseSize: number;
}

/** Runs `f` as one transaction: an exception rolls it back and is rethrown. The interface is that
 * of `ctx.storage`. */
export interface Transactor {
  transactionSync<T>(f: () => T): T;
}

/** Makes counters that are all zero. */
export function newSqlCounters(): SqlCounters {
  return { statements: 0, rowsRead: 0, rowsWritten: 0 };
}

/** A database that counts its operations in `counters`, refuses values that the platform would
 * refuse, and reports damaged data. */
export class CountedSql implements Sql {
  readonly #inner: Sql;
  readonly #counters: SqlCounters;

  readonly #what: string;

  /** @param what the stored thing, for errors */
  constructor(inner: Sql, counters: SqlCounters, what = "repository's database") {
    this.#inner = inner;
    this.#counters = counters;
    this.#what = what;
  }

  get databaseSize(): number {
    return this.#inner.databaseSize;
  }

  exec<T extends Record<string, SqlValue>>(query: string, ...bindings: SqlBinding[]): SqlCursor<T> {
    this.#counters.statements += 1;
    for (const value of bindings) checkSize(value);
    const explain = (error: unknown): unknown => whenUnreadable(error, this.#what) ?? error;
    try {
      return new CountedCursor(this.#inner.exec<T>(query, ...bindings), this.#counters, explain);
    } catch (error) {
      throw explain(error);
    }
  }
}

/** Adds a cursor's rows to the counters as they are read, since the cursor's own counts grow as
 * well. */
class CountedCursor<T> implements SqlCursor<T> {
  readonly #inner: SqlCursor<T>;
  readonly #counters: SqlCounters;
  #counted = { rowsRead: 0, rowsWritten: 0 };

  readonly #explain: (error: unknown) => unknown;

  /** @param explain turns the error of a read into a better one */
  constructor(inner: SqlCursor<T>, counters: SqlCounters, explain: (error: unknown) => unknown) {
    this.#inner = inner;
    this.#counters = counters;
    this.#explain = explain;
    this.#count();
  }

  get rowsRead(): number {
    return this.#inner.rowsRead;
  }

  get rowsWritten(): number {
    return this.#inner.rowsWritten;
  }

  #count(): void {
    const { rowsRead, rowsWritten } = this.#inner;
    this.#counters.rowsRead += rowsRead - this.#counted.rowsRead;
    this.#counters.rowsWritten += rowsWritten - this.#counted.rowsWritten;
    this.#counted = { rowsRead, rowsWritten };
  }

  #counting<R>(read: () => R): R {
    try {
      return read();
    } catch (error) {
      throw this.#explain(error);
    } finally {
      this.#count();
    }
  }

  *#countingEach<R>(rows: Iterable<R>): Generator<R> {
    try {
      yield* rows;
    } catch (error) {
      throw this.#explain(error);
    } finally {
      this.#count();
    }
  }

  toArray(): T[] {
    return this.#counting(() => this.#inner.toArray());
  }

  one(): T {
    return this.#counting(() => this.#inner.one());
  }

  raw(): Iterable<SqlValue[]> {
    return this.#countingEach(this.#inner.raw());
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#countingEach(this.#inner);
  }
}

const utf8Encoder = new TextEncoder();

/** Checks a value's size.
 * @throws RangeError on a value that does not fit into a row */
function checkSize(value: SqlBinding): void {
  if (value === null || typeof value === "number") return;
  const isText = typeof value === "string";
  // Counts the bytes only if the text may be too long: a character takes at most three.
  if ((isText ? 3 * value.length : value.byteLength) <= BLOB_MAX_BYTES) return;
  const bytes = isText ? utf8Encoder.encode(value).length : value.byteLength;
  if (bytes > BLOB_MAX_BYTES) throw new RangeError(`a value of ${bytes} bytes does not fit a row`);
}
