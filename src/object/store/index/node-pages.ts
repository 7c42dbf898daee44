// Rows of table `commits`: pages of nodes. A record is a sequence of LEB128 varints:
//
//   the number, as the difference from the record before
//   the number of parents, and each as its difference from the number, zigzag
//   the tree: 0, or one more than its difference from the number, zigzag
//   generation, time
//   the length of `introduced`, and its bytes: `NumberSet.encode`
import type { Column } from "../../../base/format/kinds.ts";
import { GitError } from "../../../base/format/errors.ts";
import { fromZigzag, toZigzag, VarintReader, type VarintWriter } from "../sql/varints.ts";
import type { ObjectNumber } from "../../../base/numbers/kinds.ts";
import { RecordPages } from "./record-pages.ts";
import { BLOB_MAX_BYTES, type Sql } from "../sql/sql.ts";

/** A node as it is stored. */
export interface StoredNode {
  readonly number: ObjectNumber;
  /** Object numbers of the parents. */
  readonly parents: readonly ObjectNumber[];
  readonly tree: ObjectNumber;
  readonly generation: number;
  /** Seconds. */
  readonly time: number;
  /** Encoded set, so that a check can read a corrupt one. */
  readonly introduced: Uint8Array;
}

/** Upper bound of a record's bytes without its parents and its set. */
const RECORD_BYTES = 40;

/** Opens the table. */
export function openNodes(sql: Sql): RecordPages<StoredNode> {
  return new RecordPages(sql, {
    table: "commits",
    column: "nodes",
    sums: { count: () => 1, parents: ({ parents }) => parents.length },
    sizeOf,
    write,
    read,
  });
}

/** Spare room after the nodes that are read, as a fraction of their number: the next pushes append
 * nodes there without copying everything. */
const ROOM = 1 / 64;

/** All nodes, without `introduced`, one array per column, by number. */
export interface NodeColumns {
  /** Number of nodes. */
  readonly length: number;
  /** These three columns have `ROOM`. */
  readonly numbers: Column<ObjectNumber>;
  readonly trees: Column<ObjectNumber>;
  readonly times: Float64Array;
  readonly generations: Uint32Array;
  /** Parents of row i are `parents` from `parentStarts[i]` to `parentStarts[i + 1] - 1`, as object
   * numbers. */
  readonly parentStarts: Uint32Array;
  readonly parents: Column<ObjectNumber>;
}

/** Reads all nodes, by number. Does not count pages first, because every row that is read is
 * billed, and this runs whenever an object wakes.
 * @throws as `RecordPages.read` */
export function readAllNodes(sql: Sql): NodeColumns {
  const pages = sql
    .exec<{ count: number; parents: number; nodes: ArrayBuffer }>(
      "SELECT count, parents, nodes FROM commits ORDER BY first",
    )
    .toArray();
  const length = pages.reduce((sum, { count }) => sum + count, 0);
  const parents = pages.reduce((sum, page) => sum + page.parents, 0);
  const capacity = length + Math.floor(length * ROOM);
  const columns = {
    length,
    numbers: new Uint32Array(capacity),
    trees: new Uint32Array(capacity),
    times: new Float64Array(capacity),
    generations: new Uint32Array(length),
    parentStarts: new Uint32Array(length + 1),
    parents: new Uint32Array(parents),
  };
  let row = 0;
  for (const { count, nodes } of pages) {
    readPage(columns, row, row + count, new Uint8Array(nodes));
    row += count;
  }
  if (columns.parentStarts[length] !== parents) throw damaged();
  return columns;
}

/** Reads the nodes of one page into the rows from `from` to before `end`. A function of its own, so
 * that it is compiled once the first pages have been read. */
function readPage(columns: NodeColumns, from: number, end: number, bytes: Uint8Array): void {
  const { numbers, trees, times, generations, parentStarts, parents } = columns;
  const reader = new VarintReader(bytes, 0, "commits");
  let row = from;
  let last = parentStarts[from]!;
  for (let number = 0; reader.at < bytes.length; row++) {
    number += reader.varint();
    // Checks the order, because binary searches rely on it.
    if (row > 0 && number <= numbers[row - 1]!) throw damaged();
    numbers[row] = number;
    for (let left = reader.varint(); left > 0; left--) parents[last++] = number - reader.zigzag();
    parentStarts[row + 1] = last;
    const tree = reader.varint();
    trees[row] = tree === 0 ? 0 : number - fromZigzag(tree - 1);
    generations[row] = reader.varint();
    times[row] = reader.varint();
    const introducedBytes = reader.varint();
    reader.at += introducedBytes;
  }
  if (row !== end || reader.at > bytes.length) throw damaged();
}
/** Upper bound of the bytes of a node's record.
 * @throws GitError "too-large" when it does not fit into a row */
function sizeOf({ parents, introduced }: StoredNode): number {
  const bytes = RECORD_BYTES + parents.length * 5 + introduced.length;
  if (bytes <= BLOB_MAX_BYTES) return bytes;
  const what = introduced.length > parents.length * 5 ? "a commit's set of new objects" : "a commit's parents";
  throw new GitError("too-large", { what, limit: BLOB_MAX_BYTES, actual: bytes });
}

function write(writer: VarintWriter, { number, parents, tree, generation, time, introduced }: StoredNode): void {
  writer.varint(parents.length);
  for (const parent of parents) writer.zigzag(number - parent);
  writer.varint(tree === 0 ? 0 : toZigzag(number - tree) + 1);
  writer.varint(generation);
  writer.varint(time);
  writer.varint(introduced.length);
  writer.bytes(introduced);
}

/** @returns a node whose set is a view */
function read(reader: VarintReader, number: ObjectNumber): StoredNode {
  const parents: ObjectNumber[] = [];
  for (let left = reader.varint(); left > 0; left--) parents.push(number - reader.zigzag());
  const tree = reader.varint();
  return {
    number,
    parents,
    tree: tree === 0 ? 0 : number - fromZigzag(tree - 1),
    generation: reader.varint(),
    time: reader.varint(),
    introduced: reader.bytes(reader.varint()),
  };
}

function damaged(): GitError {
  return new GitError("storage-failed", { key: "commits", reason: "a page is corrupt" });
}
