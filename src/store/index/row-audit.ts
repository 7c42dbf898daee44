import type { ChunkId, ObjectNumber } from "../numbers/kinds.ts";
import { NumberSet } from "../numbers/number-set.ts";
import type { ObjectRow } from "./object-columns.ts";
import { inRange, packRanges, WITH_ROWS } from "../sql/packed-rows.ts";
import type { Sql } from "../sql/sql.ts";

/** The row of a node. */
export interface AuditedNode {
  /** Object numbers. */
  readonly parents: readonly number[];
  readonly tree: ObjectNumber;
  readonly generation: number;
  readonly time: number;
  /** Null: unreadable. */
  readonly introduced: NumberSet | null;
}

/** The limits that a chunk's row sets for its objects. */
export interface AuditedChunk {
  readonly id: number;
  readonly size: number;
  readonly firstNumber: number;
  readonly lastNumber: number;
}

/** A stored response's row. */
export interface AuditedResponse {
  /** In hex. */
  readonly key: string;
  readonly objectKey: string;
  readonly sizeBytes: number;
}

const OBJECT_COLUMNS = "oid, number, chunk, offset, length, type, size, base, distance, introducer";

type StoredObjectRow = Omit<ObjectRow, "oid"> & { oid: ArrayBuffer };

const NAMED = `${WITH_ROWS} SELECT ${OBJECT_COLUMNS} FROM row CROSS JOIN object_chunks ON ${inRange("number")}`;

const NODES = `${WITH_ROWS}
  SELECT number, parents, tree, generation, time, introduced FROM row CROSS JOIN commits ON ${inRange("number")}`;

/** Reads rows without trusting them, for checks. Missing rows are left out, and contradictory ones
 * are returned as they are. The other tables rely on what pushes and jobs maintain. */
export class RowAudit {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Rows of objects, by number. */
  objects(after: number, limit: number): ObjectRow[] {
    return this.#objects(
      `SELECT ${OBJECT_COLUMNS} FROM object_chunks WHERE number > ? ORDER BY number LIMIT ?`,
      after,
      limit,
    );
  }

  /** The rows of the objects in a chunk, by number. */
  objectsIn({ id, firstNumber, lastNumber }: Pick<AuditedChunk, "id" | "firstNumber" | "lastNumber">): ObjectRow[] {
    const query = `SELECT ${OBJECT_COLUMNS} FROM object_chunks WHERE number BETWEEN ? AND ? AND chunk = ? ORDER BY number`;
    return this.#objects(query, firstNumber, lastNumber, id);
  }

  /** The existing rows of objects, by number. */
  namedObjects(numbers: Iterable<ObjectNumber>): Map<ObjectNumber, ObjectRow> {
    const found = new Map<ObjectNumber, ObjectRow>();
    for (const ranges of packRanges(toSet(numbers).runs)) {
      for (const row of this.#objects(NAMED, ranges.cells, ranges.rows)) found.set(row.number, row);
    }
    return found;
  }

  /** The existing rows of nodes, by number. */
  nodes(numbers: Iterable<ObjectNumber>): Map<ObjectNumber, AuditedNode> {
    const found = new Map<ObjectNumber, AuditedNode>();
    for (const ranges of packRanges(toSet(numbers).runs)) {
      const rows = this.#sql.exec<{
        number: number;
        parents: ArrayBuffer | null;
        tree: number;
        generation: number;
        time: number;
        introduced: ArrayBuffer | null;
      }>(NODES, ranges.cells, ranges.rows);
      for (const { number, parents, introduced, ...rest } of rows) {
        found.set(number, { ...rest, parents: readWords(parents), introduced: readSet(introduced) });
      }
    }
    return found;
  }

  /** The existing rows of chunks, by id. */
  chunks(ids: Iterable<number>): Map<number, AuditedChunk> {
    const rows = this.#sql.exec<{ [Field in keyof AuditedChunk]: number }>(
      `SELECT id, size, first_number AS firstNumber, last_number AS lastNumber FROM chunks
        WHERE id IN (SELECT value FROM json_each(?))`,
      JSON.stringify([...new Set(ids)]),
    );
    return new Map(rows.toArray().map((row) => [row.id, row]));
  }

  /** The inline bytes of a chunk; null: none. */
  hotBytes(chunk: ChunkId): Uint8Array | null {
    const [row] = this.#sql
      .exec<{ bytes: ArrayBuffer | null }>("SELECT bytes FROM chunks WHERE id = ?", chunk)
      .toArray();
    const bytes = row?.bytes ?? null;
    return bytes === null ? null : new Uint8Array(bytes);
  }

  /** Stored responses, by key.
   * @param after in hex, "": from the first */
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

  /** Whether a worktree has a row for a path, even if its file is about to be removed. */
  hasFile(worktree: number, path: string): boolean {
    const query = "SELECT 1 FROM worktree_files WHERE worktree = ? AND path = ?";
    return this.#sql.exec(query, worktree, path).toArray().length > 0;
  }

  #objects(query: string, ...bindings: (Uint8Array | number)[]): ObjectRow[] {
    const rows = this.#sql.exec<StoredObjectRow>(query, ...bindings).toArray();
    return rows.map((row) => ({ ...row, oid: new Uint8Array(row.oid) }));
  }
}

function toSet(numbers: Iterable<ObjectNumber>): NumberSet {
  return NumberSet.fromUnsorted(numbers);
}

/** An empty BLOB may come back as NULL. */
function readWords(blob: ArrayBuffer | null): number[] {
  const view = new DataView(blob ?? new ArrayBuffer(0));
  return Array.from({ length: view.byteLength >>> 2 }, (_, i) => view.getUint32(i * 4, true));
}

function readSet(blob: ArrayBuffer | null): NumberSet | null {
  try {
    return NumberSet.decode(new Uint8Array(blob ?? new ArrayBuffer(0)));
  } catch {
    return null;
  }
}
