import type { Column, Kind } from "../../../base/format/kinds.ts";
import type { ObjectNumber } from "../../../base/numbers/kinds.ts";
import type { NumberSet } from "../../../base/numbers/number-set.ts";
import {
  INTEGER_CELL_BYTES,
  inRange,
  integerCell,
  PACKED_ROWS,
  packRanges,
  WITH_ROWS,
  writeInteger,
} from "../sql/packed-rows.ts";
import { BLOB_MAX_BYTES, type Sql } from "../sql/sql.ts";

/** An entry of a tree as one word: twice the object number, plus one for a tree. */
export type EntryWord = Kind<"entry word">;

/** Takes the object number of an entry. */
export function entryNumber(word: EntryWord): ObjectNumber {
  return word >>> 1;
}

/** Whether an entry is a tree. */
export function isTreeEntry(word: EntryWord): boolean {
  return (word & 1) === 1;
}

/** Packs an entry.
 * @param number below 2³¹ */
export function toEntryWord(number: ObjectNumber, isTree: boolean): EntryWord {
  return number * 2 + (isTree ? 1 : 0);
}

const ROW_BYTES = 3 * INTEGER_CELL_BYTES;

const INSERT = `INSERT OR IGNORE INTO trees (tree, entries) ${WITH_ROWS}
  SELECT ${integerCell(ROW_BYTES, 0)},
    substr(?3, ${integerCell(ROW_BYTES, INTEGER_CELL_BYTES)} + 1, ${integerCell(ROW_BYTES, 2 * INTEGER_CELL_BYTES)})
  FROM row`;

const READ = `${WITH_ROWS} SELECT tree, entries FROM row CROSS JOIN trees ON ${inRange("tree")}`;

/** Entries of the trees that have been read: table `trees`. So a walk decodes a stored tree, with
 * its delta chain, once in the repository's life. Gitlinks are left out: their commits are not
 * stored here. */
export class TreeTable {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Finds the stored entries of trees. */
  find(trees: NumberSet): Map<ObjectNumber, Column<EntryWord>> {
    const found = new Map<ObjectNumber, Column<EntryWord>>();
    for (const ranges of packRanges(trees.runs)) {
      const rows = this.#sql.exec(READ, ranges.cells, ranges.rows).raw() as Iterable<
        [ObjectNumber, ArrayBuffer | null]
      >;
      // An empty BLOB may come back as NULL.
      for (const [tree, entries] of rows) found.set(tree, new Uint32Array(entries ?? new ArrayBuffer(0)));
    }
    return found;
  }

  /** Stores the entries of trees. A tree that does not fit into a row is parsed again each time. */
  insert(trees: Iterable<readonly [tree: ObjectNumber, entries: Column<EntryWord>]>): void {
    let rows: (readonly [ObjectNumber, Column<EntryWord>])[] = [];
    let sizeBytes = 0;
    for (const row of trees) {
      const { byteLength } = row[1];
      if (byteLength >= BLOB_MAX_BYTES) continue;
      if (rows.length === PACKED_ROWS || sizeBytes + byteLength >= BLOB_MAX_BYTES) {
        this.#write(rows, sizeBytes);
        rows = [];
        sizeBytes = 0;
      }
      rows.push(row);
      sizeBytes += byteLength;
    }
    if (rows.length > 0) this.#write(rows, sizeBytes);
  }

  #write(rows: readonly (readonly [ObjectNumber, Column<EntryWord>])[], sizeBytes: number): void {
    const cells = new Uint8Array(rows.length * ROW_BYTES);
    // Adds one byte, because an empty BLOB would be bound as NULL.
    const bytes = new Uint8Array(sizeBytes + 1);
    let end = 0;
    rows.forEach(([tree, entries], i) => {
      [tree, end, entries.byteLength].forEach((integer, k) =>
        writeInteger(cells, i * ROW_BYTES + k * INTEGER_CELL_BYTES, integer),
      );
      bytes.set(new Uint8Array(entries.buffer, entries.byteOffset, entries.byteLength), end);
      end += entries.byteLength;
    });
    this.#sql.exec(INSERT, cells, rows.length, bytes);
  }
}
