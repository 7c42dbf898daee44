// Copies the tables of a fork's parent row by row. The rows are pages of many objects, so there are
// few.
import { tableExists } from "../sql/schema.ts";
import type { Sql, SqlValue } from "../sql/sql.ts";

/** Tables that a fork copies whole. Everything else is computed anew, or belongs to the parent
 * alone. Chunks come first: a push that arrives between two parts adds objects without a chunk,
 * which the fork's refs do not reach, and never a chunk that is not pinned. */
const COPIED = [
  "hot_chunks",
  "sealed_chunks",
  "object_chunks",
  "object_ids",
  // Copied after the rows that it concerns, which may be staged in between.
  "staged",
  "pruned",
  "commits",
  "reintroductions",
  "authored",
  "path_filters",
  // Copied after the tables that refer to it: a call may add rows in between.
  "authors",
  "vetted_blobs",
  // Created with the first LFS object or pointer file.
  "lfs_objects",
  "lfs_pointers",
  "lfs_scan",
  // Created with the fork.
  "lfs_withheld",
] as const;

/** Size limit of a part in bytes, unless a single row is larger, because a call between objects
 * is limited. */
const PART_BYTES = 8 * 1024 * 1024;

/** The position of a part. */
export interface CopyPlace {
  /** Index of the table. */
  readonly table: number;
  /** Number of rows of the table before the part. */
  readonly row: number;
}

/** Some rows of the tables, in order. */
export interface CopyPart {
  readonly rows: readonly { readonly table: number; readonly values: readonly SqlValue[] }[];
  /** Position of the next part; null: this is the last. */
  readonly next: CopyPlace | null;
}

/** Position of the first part. */
export const FIRST_PLACE: CopyPlace = { table: 0, row: 0 };

/** Reads a part of the tables. */
export function readPart(sql: Sql, { table, row }: CopyPlace): CopyPart {
  const rows: { table: number; values: SqlValue[] }[] = [];
  let bytes = 0;
  for (let at = table; at < COPIED.length; at++) {
    if (!tableExists(sql, COPIED[at]!)) continue;
    let skipped = at === table ? row : 0;
    // Reads in the order of the primary key, since no other index could answer this query.
    const cursor = sql.exec(`SELECT * FROM ${COPIED[at]!} LIMIT -1 OFFSET ?`, skipped).raw();
    let isFull = false;
    for (const values of cursor) {
      // Reads the cursor to its end: a half-read one would keep its statement open.
      if (isFull) continue;
      const size = sizeOf(values);
      if (bytes > 0 && bytes + size > PART_BYTES) isFull = true;
      else {
        rows.push({ table: at, values });
        bytes += size;
        skipped += 1;
      }
    }
    if (isFull) return { rows, next: { table: at, row: skipped } };
  }
  return { rows, next: null };
}

/** Writes a part into empty tables, all of which must exist; must run in a transaction. */
export function writePart(sql: Sql, { rows }: CopyPart): void {
  for (const { table, values } of rows) {
    const marks = values.map(() => "?").join(", ");
    // oxlint-disable-next-line bounded/no-call-spread -- a row has few columns.
    sql.exec(`INSERT INTO ${COPIED[table]!} VALUES (${marks})`, ...values);
  }
}

function sizeOf(values: readonly SqlValue[]): number {
  const sizes = values.map((value) =>
    value instanceof ArrayBuffer ? value.byteLength : typeof value === "string" ? value.length : 8,
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
