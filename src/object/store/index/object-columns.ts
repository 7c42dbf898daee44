// Rows of the object index in memory: many of them as one array per column.
import type { Column } from "../../../base/format/kinds.ts";
import { OID_BYTES, type Oid } from "../../../base/format/oid.ts";
import type { ChunkId, ObjectNumber } from "../../../base/numbers/kinds.ts";
import type { NumberSet } from "../../../base/numbers/number-set.ts";

/** Names of a row's integer columns. */
export const INTEGERS = [
  "number",
  "chunk",
  "offset",
  "length",
  "type",
  "size",
  "base",
  "distance",
  "introducer",
] as const;

/** Columns whose values may be above 2³²: an object of several GB, an entry of that length, and the
 * distance over such an entry. */
const WIDE = ["length", "size", "distance"] as const;
type Wide = (typeof WIDE)[number];
type Narrow = Exclude<(typeof INTEGERS)[number], Wide>;
const isWide = (name: (typeof INTEGERS)[number]): name is Wide => (WIDE as readonly string[]).includes(name);
const NARROW = INTEGERS.filter((name): name is Narrow => !isWide(name));

/** Index rows, one array per column; slot i of each belongs to row i. */
export interface ObjectColumns extends Readonly<Record<Narrow, Uint32Array>>, Readonly<Record<Wide, Float64Array>> {
  /** Number by order of arrival, from 1. */
  readonly number: Column<ObjectNumber>;
  /** Packed, `OID_BYTES` each. */
  readonly oid: Uint8Array;
  /** Id of the chunk that contains the entry. */
  readonly chunk: Column<ChunkId>;
  /** Offset of the entry in its chunk, bytes: below 2³², since a chunk is closed at the first entry
   * boundary after some 2 MB (`CHUNK_TARGET_BYTES`, `BLOB_MAX_BYTES`). */
  readonly offset: Uint32Array;
  /** Stored size of the entry, bytes, header included. */
  readonly length: Float64Array;
  /** Type of the object, even if it is stored as a delta: 1 commit, 2 tree, 3 blob, 4 tag. */
  readonly type: Uint32Array;
  /** Inflated size of the object, bytes. */
  readonly size: Float64Array;
  /** Number of the delta base; 0: not a delta. */
  readonly base: Column<ObjectNumber>;
  /** OFS distance in the entry's header; 0: not an OFS delta. */
  readonly distance: Float64Array;
  /** Number of the first graph node that introduced the object; 0: none so far. */
  readonly introducer: Column<ObjectNumber>;
}

/** The columns for an object's location. */
export const PLACE = ["chunk", "offset", "length", "base", "distance"] as const;

/** New locations of objects, one array per column: see `ObjectColumns`. */
export type MovedObjects = Pick<ObjectColumns, "number" | (typeof PLACE)[number]>;

/** One index row: the fields of `ObjectColumns`. */
export type ObjectRow = { readonly oid: Oid } & {
  readonly [Name in (typeof INTEGERS)[number]]: ObjectColumns[Name][number];
};

/** The results for the requested ids, in their order. */
export interface Lookup {
  /** 0: there is no such object. */
  readonly number: Column<ObjectNumber>;
  readonly type: Uint8Array;
  /** Inflated size, bytes. */
  readonly size: Float64Array;
  readonly introducer: Column<ObjectNumber>;
}

/** Makes columns for `count` rows, all zero. */
export function newObjectColumns(count: number): ObjectColumns {
  const integers = Object.fromEntries(
    INTEGERS.map((name) => [name, isWide(name) ? new Float64Array(count) : new Uint32Array(count)]),
  );
  return { oid: new Uint8Array(count * OID_BYTES), ...integers } as unknown as ObjectColumns;
}

/** Takes row `i`, without its id. */
export function rowAt(rows: ObjectColumns, i: number): Omit<ObjectRow, "oid"> {
  return {
    number: rows.number[i]!,
    chunk: rows.chunk[i]!,
    offset: rows.offset[i]!,
    length: rows.length[i]!,
    type: rows.type[i]!,
    size: rows.size[i]!,
    base: rows.base[i]!,
    distance: rows.distance[i]!,
    introducer: rows.introducer[i]!,
  };
}

/** Copies all rows. */
export function toRows(rows: ObjectColumns): ObjectRow[] {
  return Array.from(rows.number, (_, i) => ({
    oid: rows.oid.slice(i * OID_BYTES, (i + 1) * OID_BYTES),
    ...rowAt(rows, i),
  }));
}

/** Takes the rows `from` to `end - 1` as views. */
export function sliceRows(rows: ObjectColumns, from: number, end: number): ObjectColumns {
  const integers = Object.fromEntries(INTEGERS.map((name) => [name, rows[name].subarray(from, end)]));
  return { oid: rows.oid.subarray(from * OID_BYTES, end * OID_BYTES), ...integers } as unknown as ObjectColumns;
}

/** Copies rows `from` to `end - 1` to row `into` and the following. */
export function copyRows(rows: ObjectColumns, from: number, end: number, target: ObjectColumns, into: number): void {
  copyPart(rows.oid, from * OID_BYTES, end * OID_BYTES, target.oid, into * OID_BYTES);
  for (const name of NARROW) copyPart(rows[name] as Uint32Array, from, end, target[name] as Uint32Array, into);
  for (const name of WIDE) copyPart(rows[name], from, end, target[name], into);
}

/** Number of elements from which a view of them costs less than copying one after another. */
const MANY_ELEMENTS = 100;

function copyPart<Part extends Uint8Array | Uint32Array | Float64Array>(
  source: Part,
  from: number,
  end: number,
  target: Part,
  into: number,
): void {
  if (end - from >= MANY_ELEMENTS) target.set(source.subarray(from, end), into);
  else for (let i = from; i < end; i++) target[into + i - from] = source[i]!;
}

/** Merges two lists of rows by number; of a number in both, the newer row counts. */
export function mergeRows(older: ObjectColumns, newer: ObjectColumns): ObjectColumns {
  const merged = newObjectColumns(older.number.length + newer.number.length);
  let length = 0;
  const take = (rows: ObjectColumns, from: number, end: number): void => {
    copyRows(rows, from, end, merged, length);
    length += end - from;
  };
  let o = 0;
  for (let n = 0; n < newer.number.length;) {
    const startOlder = o;
    while (o < older.number.length && older.number[o]! < newer.number[n]!) o++;
    take(older, startOlder, o);
    const startNewer = n;
    const next = older.number[o] ?? Infinity;
    while (n < newer.number.length && newer.number[n]! < next) n++;
    if (newer.number[n] === next) {
      n++;
      o++;
    }
    take(newer, startNewer, n);
  }
  take(older, o, older.number.length);
  return sliceRows(merged, 0, length);
}

/** Divides rows into those with one of the numbers, and the others: copies. */
export function divideRows(
  rows: ObjectColumns,
  numbers: NumberSet,
): { readonly named: ObjectColumns; readonly others: ObjectColumns } {
  const pick = (isPicked: boolean): ObjectColumns => {
    const picked = newObjectColumns(rows.number.length);
    let length = 0;
    rows.number.forEach((number, i) => {
      if (numbers.has(number) === isPicked) copyRows(rows, i, i + 1, picked, length++);
    });
    return sliceRows(picked, 0, length);
  };
  return { named: pick(true), others: pick(false) };
}

/** Joins several lists of rows into a copy. */
export function joinRows(parts: readonly ObjectColumns[]): ObjectColumns {
  const joined = newObjectColumns(parts.reduce((sum, { number }) => sum + number.length, 0));
  let length = 0;
  for (const part of parts) {
    copyRows(part, 0, part.number.length, joined, length);
    length += part.number.length;
  }
  return joined;
}

/** Finds the lowest number except 0; 0 if there is no other. */
export function lowest(numbers: Iterable<ObjectNumber>): ObjectNumber {
  let low: ObjectNumber = 0;
  for (const number of numbers) if (number !== 0 && (low === 0 || number < low)) low = number;
  return low;
}
