import type { ObjectNumber } from "../../../base/numbers/kinds.ts";
import { NumberSet } from "../../../base/numbers/number-set.ts";
import type { ChunkRow } from "./chunk-row.ts";
import { openNodes } from "./node-pages.ts";
import { type ObjectColumns, type ObjectRow, toRows } from "./object-columns.ts";
import type { ObjectIndex } from "./object-index.ts";
import { tableExists } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";

/** The row of a node. */
interface AuditedNode {
  /** Object numbers of the parents. */
  readonly parents: readonly number[];
  readonly tree: ObjectNumber;
  readonly generation: number;
  readonly time: number;
  /** Null: unreadable. */
  readonly introduced: NumberSet | null;
}

/** A stored response's row. */
interface AuditedResponse {
  /** Key in hex. */
  readonly key: string;
  readonly objectKey: string;
  readonly sizeBytes: number;
}

/** A part of an upload session. */
interface AuditedPart {
  /** Session and part, by which parts are sorted. */
  readonly place: string;
  readonly key: string;
  readonly sizeBytes: number;
}

/** Reads rows without trusting them, for checks. Missing rows are left out, and contradictory ones
 * are returned unchanged. The other tables rely on invariants that pushes and jobs maintain. */
export class RowAudit {
  readonly #sql: Sql;
  readonly #objects: ObjectIndex;

  /** @param objects the repository's index, with an empty cache */
  constructor(sql: Sql, objects: ObjectIndex) {
    this.#sql = sql;
    this.#objects = objects;
  }

  /** Reads rows of objects, by number.
   * @throws GitError "storage-failed" when a page of them cannot be read; the same below */
  objects(after: number, limit: number): ObjectRow[] {
    const last = this.#objects.lastNumber();
    for (let first = after + 1; first <= last; first += limit) {
      const rows = toRows(this.#objects.locateExisting(NumberSet.range(first, first + limit)));
      if (rows.length > 0) return rows;
    }
    return [];
  }

  /** Finds the first number of the page of objects after the one of a number; null: there is
   * none. */
  nextPage(number: ObjectNumber): ObjectNumber | null {
    const query = "SELECT first FROM object_chunks WHERE first > ? ORDER BY first LIMIT 1";
    return this.#sql.exec<{ first: number }>(query, number).toArray()[0]?.first ?? null;
  }

  /** The rows of the objects in a chunk, by number. */
  objectsIn({ id, firstNumber, lastNumber }: ChunkRow): ObjectRow[] {
    return this.#rows(NumberSet.range(firstNumber, lastNumber + 1)).filter(({ chunk }) => chunk === id);
  }

  /** The existing rows of objects, by number. */
  namedObjects(numbers: Iterable<ObjectNumber>): Map<ObjectNumber, ObjectRow> {
    return new Map(this.#rows(toSet(numbers)).map((row) => [row.number, row]));
  }

  /** The existing rows of objects as columns, ascending. */
  columns(numbers: NumberSet): ObjectColumns {
    return this.#objects.locateExisting(numbers);
  }

  /** The existing rows of nodes, by number. */
  nodes(numbers: Iterable<ObjectNumber>): Map<ObjectNumber, AuditedNode> {
    const nodes = openNodes(this.#sql).read(toSet(numbers));
    return new Map(
      Array.from(nodes, ({ number, introduced, ...node }) => [number, { ...node, introduced: readSet(introduced) }]),
    );
  }

  /** Reads stored responses, by key.
   * @param after in hex; "": from the first */
  responses(after: string, limit: number): AuditedResponse[] {
    return this.#sql
      .exec<{ key: string; objectKey: string; sizeBytes: number }>(
        `SELECT lower(hex(key)) AS key, object_key AS objectKey, size AS sizeBytes FROM responses
          WHERE lower(hex(key)) > ? ORDER BY lower(hex(key)) LIMIT ?`,
        after,
        limit,
      )
      .toArray();
  }

  /** Reads parts of upload sessions, by session and part.
   * @param after place of the last part before; "": from the first */
  uploadParts(after: string, limit: number): AuditedPart[] {
    if (!tableExists(this.#sql, "upload_parts")) return [];
    const [upload = "", part = 0] = after.split(" ");
    return this.#sql
      .exec<{ place: string; key: string; sizeBytes: number }>(
        `SELECT upload || ' ' || part AS place, key, size AS sizeBytes FROM upload_parts
          WHERE (upload, part) > (?, ?) ORDER BY upload, part LIMIT ?`,
        upload,
        Number(part),
        limit,
      )
      .toArray();
  }

  /** Counts the values of a column of JSON that cannot be parsed. */
  brokenJson(table: string, column: string): number {
    if (!tableExists(this.#sql, table)) return 0;
    const query = `SELECT count(*) AS count FROM ${table} WHERE ${column} IS NOT NULL AND NOT json_valid(${column})`;
    return this.#sql.exec<{ count: number }>(query).one().count;
  }

  #rows(numbers: NumberSet): ObjectRow[] {
    return toRows(this.#objects.locateExisting(numbers));
  }
}

function toSet(numbers: Iterable<ObjectNumber>): NumberSet {
  return NumberSet.fromUnsorted(numbers);
}

function readSet(bytes: Uint8Array): NumberSet | null {
  try {
    return NumberSet.decode(bytes);
  } catch {
    return null;
  }
}
