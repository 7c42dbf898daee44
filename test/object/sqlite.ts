import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import {
  BLOB_MAX_BYTES,
  type Sql,
  type SqlBinding,
  type SqlCursor,
  type SqlValue,
} from "../../src/object/store/sql/sql.ts";

/** A repository's database outside the runtime: node:sqlite with the interface of a Durable
 * Object's. */
export class NodeSql implements Sql {
  readonly databaseSize = 0;
  readonly #database: DatabaseSync;
  /** Compiled once: compiling takes longer than running most of them. */
  readonly #statements = new Map<string, StatementSync>();

  constructor(database = new DatabaseSync(":memory:")) {
    this.#database = database;
  }

  exec<T extends Record<string, SqlValue>>(query: string, ...bindings: SqlBinding[]): SqlCursor<T> {
    if (bindings.length === 0 && /\b(CREATE|ALTER) TABLE/.test(query)) {
      this.#database.exec(query);
      return new Rows<T>([]);
    }
    let statement = this.#statements.get(query);
    if (statement === undefined) this.#statements.set(query, (statement = this.#database.prepare(query)));
    const rows = statement.all(...(bindings as SQLInputValue[])) as Record<string, unknown>[];
    for (const row of rows) for (const name in row) row[name] = toSqlValue(row[name]);
    return new Rows<T>(rows as T[]);
  }

  /** Removes all tables, as `deleteAll` of a Durable Object does. */
  erase(): void {
    this.#statements.clear();
    const tables = this.#database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    for (const { name } of tables) this.#database.exec(`DROP TABLE "${name as string}"`);
  }
}

/** @throws RangeError on a value that the platform would not return */
function toSqlValue(value: unknown): SqlValue {
  const isText = typeof value === "string" && 3 * value.length > BLOB_MAX_BYTES;
  const bytes = value instanceof Uint8Array ? value.length : isText ? Buffer.byteLength(value) : 0;
  if (bytes > BLOB_MAX_BYTES) throw new RangeError(`a statement made a value of ${bytes} bytes`);
  return value instanceof Uint8Array ? (value.slice().buffer as ArrayBuffer) : (value as SqlValue);
}

class Rows<T extends Record<string, SqlValue>> implements SqlCursor<T> {
  readonly rowsRead = 0;
  readonly rowsWritten = 0;
  readonly #rows: T[];

  constructor(rows: T[]) {
    this.#rows = rows;
  }

  toArray(): T[] {
    return this.#rows;
  }

  one(): T {
    const [row] = this.#rows;
    if (row === undefined || this.#rows.length > 1) throw new Error(`${this.#rows.length} rows instead of one`);
    return row;
  }

  raw(): Iterable<SqlValue[]> {
    return this.#rows.map((row) => Object.values(row));
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#rows[Symbol.iterator]();
  }
}

// Bytes from hex: the runtime has this function, this Node does not yet.
(Uint8Array as unknown as { fromHex?: (hex: string) => Uint8Array }).fromHex ??= (hex) =>
  new Uint8Array(Buffer.from(hex, "hex"));
