// Rows of table `commits` in bulk: 6,000 rows take 50 ms one by one, 15 in bulk.
import type { Column } from "../../format/kinds.ts";
import type { ObjectNumber } from "../numbers/kinds.ts";
import { GitError } from "../../format/errors.ts";
import type { NumberSet } from "../numbers/number-set.ts";
import {
  bytesCell,
  INTEGER_CELL_BYTES,
  integerCell,
  PACKED_ROWS,
  readBytes,
  readIntegers,
  WITH_ROWS,
  writeInteger,
} from "../sql/packed-rows.ts";
import { BLOB_MAX_BYTES, type Sql } from "../sql/sql.ts";

/** All values of a node's row. */
export interface NodeRow {
  readonly number: ObjectNumber;
  /** Object numbers. */
  readonly parents: Column<ObjectNumber>;
  readonly tree: ObjectNumber;
  readonly generation: number;
  /** Seconds; a hostile commit's time may have more digits than a packed integer. */
  readonly time: number;
  readonly introduced: NumberSet;
}

/** Integers of a packed row: three columns, and the lengths of the two of variable size, whose
 * bytes are in BLOBs of their own. */
const INTEGERS = 7;
const TIME_BYTES = 20;
const ROW_BYTES = INTEGERS * INTEGER_CELL_BYTES + TIME_BYTES;

const cell = (index: number): string => integerCell(ROW_BYTES, index * INTEGER_CELL_BYTES);

const INSERT = `INSERT INTO commits (number, tree, generation, time, parents, introduced) ${WITH_ROWS}
  SELECT ${cell(0)}, ${cell(1)}, ${cell(2)}, CAST(${bytesCell(ROW_BYTES, INTEGERS * INTEGER_CELL_BYTES, TIME_BYTES)} AS INTEGER),
    substr(?3, ${cell(3)} + 1, ${cell(4)}), substr(?4, ${cell(5)} + 1, ${cell(6)}) FROM row`;

/** Writes rows in statements of `PACKED_ROWS`, or fewer if they are long. */
export class NodeWriter {
  readonly #sql: Sql;
  #rows: NodeRow[] = [];
  #parentBytes = 0;
  #sets: Uint8Array[] = [];
  #setBytes = 0;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** @throws GitError "too-large" when the set does not fit into a row */
  add(row: NodeRow): void {
    const set = row.introduced.encode();
    const parentBytes = row.parents.length * 4;
    for (const [what, actual] of Object.entries({
      "a commit's set of new objects": set.length,
      "a commit's parents": parentBytes,
    })) {
      if (actual >= BLOB_MAX_BYTES) throw new GitError("too-large", { what, limit: BLOB_MAX_BYTES, actual });
    }
    const isFull =
      this.#rows.length === PACKED_ROWS ||
      this.#setBytes + set.length > BLOB_MAX_BYTES - 1 ||
      this.#parentBytes + parentBytes > BLOB_MAX_BYTES - 1;
    if (isFull) this.flush();
    this.#rows.push(row);
    this.#parentBytes += parentBytes;
    this.#sets.push(set);
    this.#setBytes += set.length;
  }

  /** Writes the rows added since the last flush. */
  flush(): void {
    const count = this.#rows.length;
    if (count === 0) return;
    const cells = new Uint8Array(count * ROW_BYTES);
    // One byte more than needed: an empty BLOB would be bound as NULL.
    const parents = new DataView(new ArrayBuffer(this.#parentBytes + 1));
    const sets = new Uint8Array(this.#setBytes + 1);
    let parentEnd = 0;
    let setEnd = 0;
    this.#rows.forEach((row, i) => {
      const set = this.#sets[i]!;
      const integers = [row.number, row.tree, row.generation, parentEnd, row.parents.length * 4, setEnd, set.length];
      const at = i * ROW_BYTES;
      integers.forEach((integer, k) => writeInteger(cells, at + k * INTEGER_CELL_BYTES, integer));
      const digits = row.time.toFixed(0).padStart(TIME_BYTES, "0");
      for (let d = 0; d < TIME_BYTES; d++) cells[at + INTEGERS * INTEGER_CELL_BYTES + d] = digits.charCodeAt(d);
      for (const parent of row.parents) {
        parents.setUint32(parentEnd, parent, true);
        parentEnd += 4;
      }
      sets.set(set, setEnd);
      setEnd += set.length;
    });
    this.#sql.exec(INSERT, cells, count, new Uint8Array(parents.buffer), sets);
    this.#rows = [];
    this.#parentBytes = 0;
    this.#sets = [];
    this.#setBytes = 0;
  }
}

/** Rows of `commits` without `introduced`, one array per column. */
export interface NodeColumns {
  readonly numbers: Column<ObjectNumber>;
  readonly trees: Column<ObjectNumber>;
  readonly generations: Uint32Array;
  readonly times: Float64Array;
  /** Parents of row i are `parents` from `parentStarts[i]` to `parentStarts[i + 1] - 1`, as object
   * numbers. */
  readonly parentStarts: Uint32Array;
  readonly parents: Column<ObjectNumber>;
}

const READ = `SELECT json_group_array(number), json_group_array(tree), json_group_array(generation), json_group_array(time),
    json_group_array(length(parents) / 4), group_concat(hex(parents), '')
  FROM (SELECT number, tree, generation, time, parents FROM commits WHERE number > ? ORDER BY number LIMIT ${PACKED_ROWS})`;

/** Reads all rows, by number, in statements of `PACKED_ROWS`: 100,000 single rows would take three
 * times as long. They are not counted first, since that would read each row once more, every row
 * read is billed, and this happens whenever an object wakes. */
export function readNodes(sql: Sql): NodeColumns {
  const pages: (Uint32Array | Float64Array)[][] = [];
  const parents: number[] = [];
  for (let last = 0; ;) {
    const [columns] = [...sql.exec(READ, last).raw()];
    const page = columns!.slice(0, 5).map(readIntegers);
    pages.push(page.map((column, index) => (index === 3 ? Float64Array : Uint32Array).from(column)));
    const bytes = readBytes(columns![5]);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let offset = 0; offset < bytes.length; offset += 4) parents.push(view.getUint32(offset, true));
    if (page[0]!.length < PACKED_ROWS) break;
    last = page[0]!.at(-1)!;
  }
  const count = pages.reduce((sum, [numbers]) => sum + numbers!.length, 0);
  const join = <Column extends Uint32Array | Float64Array>(column: Column, index: number): Column => {
    let at = 0;
    for (const page of pages) {
      column.set(page[index]!, at);
      at += page[index]!.length;
    }
    return column;
  };
  const parentStarts = new Uint32Array(count + 1);
  join(parentStarts.subarray(1), 4);
  for (let at = 0; at < count; at++) parentStarts[at + 1]! += parentStarts[at]!;
  return {
    numbers: join(new Uint32Array(count), 0),
    trees: join(new Uint32Array(count), 1),
    generations: join(new Uint32Array(count), 2),
    times: join(new Float64Array(count), 3),
    parentStarts,
    parents: Uint32Array.from(parents),
  };
}
