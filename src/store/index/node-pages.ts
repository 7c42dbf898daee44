// Rows of table `commits`: pages of many nodes, ascending by number. A page is one record after
// another, each a sequence of LEB128 varints:
//
//   the number, as the difference from the record before (in the first record: from 0)
//   how many parents, and each as its difference from the number, zigzag
//   the tree: 0, or one more than its difference from the number, zigzag
//   generation, time
//   the length of `introduced`, and its bytes: `NumberSet.encode`
//
// So the nodes of a push, whose numbers are above all others, are appended without reading the page.
import type { Column } from "../../format/kinds.ts";
import { GitError } from "../../format/errors.ts";
import { fromZigzag, toZigzag, VarintReader, VarintWriter } from "./varints.ts";
import type { ObjectNumber } from "../numbers/kinds.ts";
import type { NumberSet } from "../numbers/number-set.ts";
import { BLOB_MAX_BYTES, type Sql } from "../sql/sql.ts";

/** A node as it is stored. */
export interface StoredNode {
  readonly number: ObjectNumber;
  /** Object numbers. */
  readonly parents: readonly ObjectNumber[];
  readonly tree: ObjectNumber;
  readonly generation: number;
  /** Seconds. */
  readonly time: number;
  /** Encoded: a check must be able to read what is corrupt. */
  readonly introduced: Uint8Array;
}

/** Bytes of a page, unless a single node takes more: some 2,500 commits. */
export const PAGE_BYTES = 65_536;

/** Bytes of the nodes that are encoded together, at most. */
const GROUP_BYTES = 4_096;

/** Bytes of a record but for its parents and its set, at most. */
const RECORD_BYTES = 40;

/** Writes nodes.
 * @param nodes ascending by number, none of them stored
 * @throws GitError "too-large" when a node does not fit into a row; must run in a transaction */
export function writeNodes(sql: Sql, nodes: readonly StoredNode[]): void {
  for (let from = 0; from < nodes.length;) {
    const { number } = nodes[from]!;
    const page = pageBefore(sql, number);
    const next = sql
      .exec<{ first: number | null }>("SELECT min(first) AS first FROM commits WHERE first > ?", number)
      .one();
    let end = from + 1;
    while (end < nodes.length && nodes[end]!.number < (next.first ?? Infinity)) end++;
    const added = nodes.slice(from, end);
    if (page === null) insertPages(sql, added);
    else if (page.last < number) append(sql, page, added);
    else
      replacePage(
        sql,
        page.first,
        [...readPage(sql, page.first), ...added].toSorted((a, b) => a.number - b.number),
      );
    from = end;
  }
}

/** Removes nodes; must run in a transaction. */
export function removeNodes(sql: Sql, numbers: NumberSet): void {
  for (const first of pagesWith(sql, numbers)) {
    replacePage(
      sql,
      first,
      readPage(sql, first).filter(({ number }) => !numbers.has(number)),
    );
  }
}

/** Reads those of the nodes that exist, ascending by number.
 * @throws GitError "storage-failed" when a page cannot be read */
export function* readNodes(sql: Sql, numbers: NumberSet): Generator<StoredNode> {
  for (const first of pagesWith(sql, numbers)) {
    for (const node of readPage(sql, first)) if (numbers.has(node.number)) yield node;
  }
}

/** All nodes, without `introduced`, one array per column. */
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

/** Reads all nodes, by number: 0.4 s for a million. Pages are not counted first, since every row
 * that is read is billed, and this happens whenever an object wakes.
 * @throws as `readNodes` */
export function readAllNodes(sql: Sql): NodeColumns {
  const pages = sql
    .exec<{ count: number; parents: number; nodes: ArrayBuffer }>(
      "SELECT count, parents, nodes FROM commits ORDER BY first",
    )
    .toArray();
  const nodes = pages.reduce((sum, { count }) => sum + count, 0);
  const parents = pages.reduce((sum, page) => sum + page.parents, 0);
  const columns = {
    numbers: new Uint32Array(nodes),
    trees: new Uint32Array(nodes),
    generations: new Uint32Array(nodes),
    times: new Float64Array(nodes),
    parentStarts: new Uint32Array(nodes + 1),
    parents: new Uint32Array(parents),
  };
  let i = 0;
  let end = 0;
  for (const page of pages) {
    const bytes = new Uint8Array(page.nodes);
    const reader = new VarintReader(bytes, 0, "commits");
    for (let number = 0; reader.at < bytes.length; i++) {
      number += reader.varint();
      columns.numbers[i] = number;
      for (let left = reader.varint(); left > 0; left--) columns.parents[end++] = number - reader.zigzag();
      columns.parentStarts[i + 1] = end;
      const tree = reader.varint();
      columns.trees[i] = tree === 0 ? 0 : number - fromZigzag(tree - 1);
      columns.generations[i] = reader.varint();
      columns.times[i] = reader.varint();
      const introducedBytes = reader.varint();
      reader.at += introducedBytes;
    }
    if (reader.at > bytes.length) throw damaged();
  }
  if (i !== nodes || end !== parents) throw damaged();
  return columns;
}

/** A page without its nodes. */
interface Page {
  readonly first: ObjectNumber;
  readonly last: ObjectNumber;
  readonly bytes: number;
}

/** The page that a number belongs to; null: none begins at or before it. */
function pageBefore(sql: Sql, number: ObjectNumber): Page | null {
  const query = "SELECT first, last, length(nodes) AS bytes FROM commits WHERE first <= ? ORDER BY first DESC LIMIT 1";
  return sql.exec<{ first: number; last: number; bytes: number }>(query, number).toArray()[0] ?? null;
}

/** The first numbers of the pages that may have some of the nodes. */
function pagesWith(sql: Sql, numbers: NumberSet): ObjectNumber[] {
  if (numbers.size === 0) return [];
  const start = pageBefore(sql, numbers.first)?.first ?? 0;
  const query = "SELECT first, last FROM commits WHERE first BETWEEN ? AND ? ORDER BY first";
  const pages = sql.exec<{ first: number; last: number }>(query, start, numbers.last).toArray();
  return pages.filter(({ first, last }) => numbers.within(first, last + 1).size > 0).map(({ first }) => first);
}

function readPage(sql: Sql, first: ObjectNumber): StoredNode[] {
  const row = sql.exec<{ nodes: ArrayBuffer }>("SELECT nodes FROM commits WHERE first = ?", first).one();
  const reader = new NodeReader(new Uint8Array(row.nodes));
  const nodes: StoredNode[] = [];
  while (reader.next()) {
    const { number, parents, tree, generation, time, introduced } = reader;
    nodes.push({ number, parents, tree, generation, time, introduced });
  }
  return nodes;
}

/** Appends nodes to a page, and to further ones when it is full. */
function append(sql: Sql, { first, last, bytes }: Page, nodes: readonly StoredNode[]): void {
  const added = encodeNodes(nodes, last);
  if (bytes + added.length > PAGE_BYTES) return insertPages(sql, nodes);
  sql.exec(
    "UPDATE commits SET last = ?, count = count + ?, parents = parents + ?, nodes = CAST(nodes || ? AS BLOB) WHERE first = ?",
    nodes.at(-1)!.number,
    nodes.length,
    countParents(nodes),
    added,
    first,
  );
}

function replacePage(sql: Sql, first: ObjectNumber, nodes: readonly StoredNode[]): void {
  sql.exec("DELETE FROM commits WHERE first = ?", first);
  insertPages(sql, nodes);
}

/** Writes nodes as new pages, each as full as it gets. */
function insertPages(sql: Sql, nodes: readonly StoredNode[]): void {
  let page: StoredNode[] = [];
  let parts: Uint8Array[] = [];
  let bytes = 0;
  const close = (): void => {
    if (page.length === 0) return;
    sql.exec(
      "INSERT INTO commits (first, last, count, parents, nodes) VALUES (?, ?, ?, ?, ?)",
      page[0]!.number,
      page.at(-1)!.number,
      page.length,
      countParents(page),
      joinParts(parts, bytes),
    );
    [page, parts, bytes] = [[], [], 0];
  };
  for (const group of inGroups(nodes)) {
    let encoded = encodeNodes(group, page.at(-1)?.number ?? 0);
    if (bytes + encoded.length > PAGE_BYTES) {
      close();
      encoded = encodeNodes(group, 0);
    }
    for (const node of group) page.push(node);
    parts.push(encoded);
    bytes += encoded.length;
  }
  close();
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

/** Divides nodes into groups of at most `GROUP_BYTES`, or one. */
function* inGroups(nodes: readonly StoredNode[]): Generator<StoredNode[]> {
  for (let from = 0; from < nodes.length;) {
    let end = from + 1;
    let bytes = sizeOf(nodes[from]!);
    while (end < nodes.length && (bytes += sizeOf(nodes[end]!)) <= GROUP_BYTES) end++;
    yield nodes.slice(from, end);
    from = end;
  }
}

function countParents(nodes: readonly StoredNode[]): number {
  return nodes.reduce((sum, { parents }) => sum + parents.length, 0);
}

/** Bytes of a node's record, at most.
 * @throws GitError "too-large" when it does not fit into a row */
function sizeOf({ parents, introduced }: StoredNode): number {
  const bytes = RECORD_BYTES + parents.length * 5 + introduced.length;
  if (bytes <= BLOB_MAX_BYTES) return bytes;
  const what = introduced.length > parents.length * 5 ? "a commit's set of new objects" : "a commit's parents";
  throw new GitError("too-large", { what, limit: BLOB_MAX_BYTES, actual: bytes });
}

/** Encodes nodes, ascending by number.
 * @param last the number of the record before; 0: none */
export function encodeNodes(nodes: readonly StoredNode[], last: ObjectNumber): Uint8Array<ArrayBuffer> {
  const writer = new VarintWriter(nodes.reduce((sum, node) => sum + sizeOf(node), 0));
  let before: number = last;
  for (const { number, parents, tree, generation, time, introduced } of nodes) {
    writer.varint(number - before);
    before = number;
    writer.varint(parents.length);
    for (const parent of parents) writer.zigzag(number - parent);
    writer.varint(tree === 0 ? 0 : toZigzag(number - tree) + 1);
    writer.varint(generation);
    writer.varint(time);
    writer.varint(introduced.length);
    writer.bytes(introduced);
  }
  return writer.finish();
}

/** Reads one record after another. */
class NodeReader implements StoredNode {
  number: ObjectNumber = 0;
  parents: ObjectNumber[] = [];
  tree: ObjectNumber = 0;
  generation = 0;
  time = 0;
  introduced = new Uint8Array(0);
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #reader: VarintReader;

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.#bytes = bytes;
    this.#reader = new VarintReader(bytes, 0, "commits");
  }

  /** Reads the next record; its sets are views.
   * @returns whether there was one */
  next(): boolean {
    const reader = this.#reader;
    if (reader.at >= this.#bytes.length) return false;
    this.number += reader.varint();
    const count = reader.varint();
    if (count > this.#bytes.length) throw damaged();
    this.parents = [];
    for (let k = 0; k < count; k++) this.parents.push(this.number - reader.zigzag());
    const tree = reader.varint();
    this.tree = tree === 0 ? 0 : this.number - fromZigzag(tree - 1);
    this.generation = reader.varint();
    this.time = reader.varint();
    const end = reader.varint() + reader.at;
    if (end > this.#bytes.length) throw damaged();
    this.introduced = this.#bytes.subarray(reader.at, end);
    reader.at = end;
    return true;
  }
}

function damaged(): GitError {
  return new GitError("storage-failed", { key: "commits", reason: "a page is corrupt" });
}
