// A fork takes over its parent's tables row by row: rows are pages of many objects, so they are
// few.
import { tableExists } from "../sql/schema.ts";
import type { Sql, SqlValue } from "../sql/sql.ts";

/** What a fork takes over whole. Everything else is found anew, or belongs to the parent alone.
 * Chunks come first: a push that arrives between two parts adds objects without a chunk, which the
 * fork's refs do not reach, and never a chunk that nobody has pinned. */
const COPIED = [
  "hot_chunks",
  "sealed_chunks",
  "object_chunks",
  "object_ids",
  // After the rows that it is about, which may be staged in between.
  "staged",
  "pruned",
  "commits",
  "reintroductions",
  "authored",
  "path_filters",
  // After what names them: a call may add some in between.
  "authors",
  "vetted_blobs",
  // Made with the first LFS object or pointer file.
  "lfs_objects",
  "lfs_pointers",
  "lfs_scan",
  // Made with the fork.
  "lfs_withheld",
] as const;

/** Bytes of a part, unless a single row has more: a call between objects has a limit. */
const PART_BYTES = 8 * 1024 * 1024;

/** Where a part begins. */
export interface CopyPlace {
  /** Index of the table. */
  readonly table: number;
  /** Rows of it that came before. */
  readonly row: number;
}

/** Some rows of the tables, in order. */
export interface CopyPart {
  readonly rows: readonly { readonly table: number; readonly values: readonly SqlValue[] }[];
  /** Where the next part begins; null: this is the last. */
  readonly next: CopyPlace | null;
}

/** The beginning of the first table. */
export const FIRST_PLACE: CopyPlace = { table: 0, row: 0 };

/** Reads a part of the tables. */
export function readPart(sql: Sql, { table, row }: CopyPlace): CopyPart {
  const rows: { table: number; values: SqlValue[] }[] = [];
  let bytes = 0;
  for (let at = table; at < COPIED.length; at++) {
    if (!tableExists(sql, COPIED[at]!)) continue;
    let skipped = at === table ? row : 0;
    // In the order of the primary key, since no other index could answer it.
    const cursor = sql.exec(`SELECT * FROM ${COPIED[at]!} LIMIT -1 OFFSET ?`, skipped).raw();
    let isFull = false;
    for (const values of cursor) {
      // The cursor is read to its end, because a half-read one would keep its statement open.
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

/** Writes a part into empty tables, all of which must be there; must run in a transaction. */
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
