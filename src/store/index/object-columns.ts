// Rows of table `object_chunks` in memory: many of them as one array per column.
import type { Column } from "../../format/kinds.ts";
import { OID_BYTES, type Oid } from "../../format/oid.ts";
import type { ChunkId, ObjectNumber } from "../numbers/kinds.ts";
import { INTEGER_CELL_BYTES, writeInteger } from "../sql/packed-rows.ts";

/** The integer columns of `object_chunks`, in the order of their cells. */
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

/** Index rows, one array per column; slot i of each belongs to row i. */
export interface ObjectColumns extends Readonly<Record<(typeof INTEGERS)[number], Uint32Array>> {
  /** Order of arrival, from 1. */
  readonly number: Column<ObjectNumber>;
  /** Packed, `OID_BYTES` each. */
  readonly oid: Uint8Array;
  /** Id of the chunk that contains the entry. */
  readonly chunk: Column<ChunkId>;
  /** Offset of the entry in its chunk, bytes. */
  readonly offset: Uint32Array;
  /** Stored size of the entry, bytes, header included. */
  readonly length: Uint32Array;
  /** Type of the object, even if it is stored as a delta: 1 commit, 2 tree, 3 blob, 4 tag. */
  readonly type: Uint32Array;
  /** Inflated size of the object, bytes. */
  readonly size: Uint32Array;
  /** Number of the delta base; 0: not a delta. */
  readonly base: Column<ObjectNumber>;
  /** OFS distance in the entry's header; 0: not an OFS delta. */
  readonly distance: Uint32Array;
  /** Number of the first graph node that introduced the object; 0: none so far. */
  readonly introducer: Column<ObjectNumber>;
}

/** The columns for an object's location, in the order of their cells. */
export const PLACE = ["chunk", "offset", "length", "base", "distance"] as const;

/** New locations of objects, one array per column: see `ObjectColumns`. */
export type MovedObjects = Pick<ObjectColumns, "number" | (typeof PLACE)[number]>;

/** One index row: the fields of `ObjectColumns`. */
export type ObjectRow = { readonly oid: Oid } & {
  readonly [Name in (typeof INTEGERS)[number]]: ObjectColumns[Name][number];
};

/** The result for each requested id, in order. */
export interface Lookup {
  /** 0: there is no such object. */
  readonly number: Column<ObjectNumber>;
  readonly type: Uint8Array;
  /** Inflated size, bytes. */
  readonly size: Uint32Array;
  readonly introducer: Column<ObjectNumber>;
}

/** Columns for `count` rows, all zero. */
export function newObjectColumns(count: number): ObjectColumns {
  const integers = Object.fromEntries(INTEGERS.map((name) => [name, new Uint32Array(count)]));
  return { oid: new Uint8Array(count * OID_BYTES), ...integers } as unknown as ObjectColumns;
}

/** Writes the cells of row `i`, one for each column. */
export function writeIntegers(cells: Uint8Array, offset: number, columns: readonly Uint32Array[], i: number): void {
  columns.forEach((column, k) => writeInteger(cells, offset + k * INTEGER_CELL_BYTES, column[i]!));
}
