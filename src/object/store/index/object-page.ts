// The index of many objects as one value: about 33 bytes an object.
//
//   count (varint), length of the number set (varint), the number set: `NumberSet.encode`
//   the ids, OID_BYTES each, by number
//   the start of each block of records but the first, u32 little-endian, from the first record on
//   one record for each object, by number, in blocks of `BLOCK`; each block can be read by itself
//
// A record is a byte of flags and LEB128 varints: length, size; the base of a delta, the distance
// of an OFS delta; the introducer; chunk and offset. Base and introducer are differences from the
// object's number, zigzag. Fields that the record before implies are left out.
import { GitError } from "../../../base/format/errors.ts";
import { OID_BYTES, type Oid } from "../../../base/format/oid.ts";
import type { ChunkId, ObjectNumber } from "../../../base/numbers/kinds.ts";
import { NumberSet } from "../../../base/numbers/number-set.ts";
import { newObjectColumns, type ObjectColumns, type ObjectRow, rowAt, sliceRows } from "./object-columns.ts";
import { VarintReader, VarintWriter } from "../sql/varints.ts";

/** Number of run boundaries from which a page is decoded whole. */
const MANY_RUNS = 64;

/** Number of records in a block: up to this many are read to reach one. */
const BLOCK = 32;

/** The first byte of a record: its type, and flags. */
const TYPE = 7;
const IS_DELTA = 8;
const IS_OFS = 16;
/** Flag: in the same chunk as the record before, directly after it. */
const FOLLOWS = 32;
/** Flag: the introducer is that of the record before. */
const SAME_INTRODUCER = 64;
const NO_INTRODUCER = 128;

/** Upper bound of a record's bytes: flags, three integers of 53 bits (length, size, distance), four
 * of 32, two of them as differences with a sign. */
const RECORD_BYTES = 1 + 3 * 8 + 4 * 5;

/** Encodes rows in ascending order of their numbers. */
export function encodeObjectPage(rows: ObjectColumns): Uint8Array<ArrayBuffer> {
  const count = rows.number.length;
  const numbers = NumberSet.fromSorted(rows.number).encode();
  const blocks = Math.max(0, Math.ceil(count / BLOCK) - 1);
  const writer = new VarintWriter(10 + numbers.length + count * (OID_BYTES + RECORD_BYTES) + blocks * 4);
  writer.varint(count);
  writer.varint(numbers.length);
  writer.bytes(numbers);
  writer.bytes(rows.oid);
  const starts = writer.skip(blocks * 4);
  const first = writer.length;
  for (let i = 0; i < count; i++) {
    if (i % BLOCK === 0 && i > 0) writer.u32(starts + (i / BLOCK - 1) * 4, writer.length - first);
    writeRecord(writer, rows, i);
  }
  return writer.finish();
}

function writeRecord(writer: VarintWriter, rows: ObjectColumns, i: number): void {
  const number = rows.number[i]!;
  const introducer = rows.introducer[i]!;
  const isInside = i % BLOCK !== 0;
  const isDelta = rows.base[i] !== 0;
  const isOfs = rows.distance[i] !== 0;
  const follows =
    isInside && rows.chunk[i] === rows.chunk[i - 1] && rows.offset[i] === rows.offset[i - 1]! + rows.length[i - 1]!;
  const isSame = isInside && introducer === rows.introducer[i - 1];
  writer.byte(
    rows.type[i]! |
      (isDelta ? IS_DELTA : 0) |
      (isOfs ? IS_OFS : 0) |
      (follows ? FOLLOWS : 0) |
      (isSame ? SAME_INTRODUCER : introducer === 0 ? NO_INTRODUCER : 0),
  );
  writer.varint(rows.length[i]!);
  writer.varint(rows.size[i]!);
  if (isDelta) writer.zigzag(number - rows.base[i]!);
  if (isOfs) writer.varint(rows.distance[i]!);
  if (!isSame && introducer !== 0) writer.zigzag(number - introducer);
  if (follows) return;
  writer.varint(rows.chunk[i]!);
  writer.varint(rows.offset[i]!);
}

/** An encoded index. Single rows are read in place; for many rows, the whole page is decoded. */
export class ObjectPage {
  readonly numbers: NumberSet;
  readonly #count: number;
  readonly #bytes: Uint8Array;
  /** Offsets of ids, starts of blocks, and records. */
  readonly #ids: number;
  readonly #starts: number;
  readonly #records: number;
  #columns: ObjectColumns | null = null;

  /** @throws GitError "storage-failed" when the bytes are no page */
  constructor(bytes: Uint8Array) {
    const reader = new VarintReader(bytes, 0, "object_chunks");
    this.#count = reader.varint();
    const setBytes = reader.varint();
    this.numbers = decodeSet(bytes.subarray(reader.at, reader.at + setBytes));
    this.#bytes = bytes;
    this.#ids = reader.at + setBytes;
    this.#starts = this.#ids + this.#count * OID_BYTES;
    this.#records = this.#starts + Math.max(0, Math.ceil(this.#count / BLOCK) - 1) * 4;
    if (this.numbers.size !== this.#count || this.#records > bytes.length) {
      throw damagedIndex("a page is corrupt");
    }
  }

  /** The encoded form. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Whether all rows have been decoded. */
  get isDecoded(): boolean {
    return this.#columns !== null;
  }

  /** Whether row `i` has the id in `oids` from `at` on. */
  hasOid(i: number, oids: Uint8Array, at: number): boolean {
    const id = this.#ids + i * OID_BYTES;
    for (let o = 0; o < OID_BYTES; o++) if (this.#bytes[id + o] !== oids[at + o]) return false;
    return true;
  }

  /** Id of row `i`: a view. */
  oid(i: number): Oid {
    return this.#bytes.subarray(this.#ids + i * OID_BYTES, this.#ids + (i + 1) * OID_BYTES);
  }

  /** Row `i`. */
  row(i: number): Omit<ObjectRow, "oid"> {
    if (this.#columns !== null) return rowAt(this.#columns, i);
    const record = this.#recordsFrom(i - (i % BLOCK));
    for (const number of this.numbers.slice(i - (i % BLOCK), i + 1)) record.next(number);
    return record;
  }

  /** Decodes the rows `from` to `end - 1`, which must not be changed. */
  rows(from: number, end: number): ObjectColumns {
    if (this.#columns !== null || end - from >= this.#count / 4) return sliceRows(this.all(), from, end);
    const start = from - (from % BLOCK);
    return sliceRows(this.#decode(start, end), from - start, end - start);
  }

  /** Decodes all rows, which must not be changed. */
  all(): ObjectColumns {
    return (this.#columns ??= this.#decode(0, this.#count));
  }

  /** Decodes rows.
   * @param start the first row of a block */
  #decode(start: number, end: number): ObjectColumns {
    const rows = newObjectColumns(end - start);
    rows.oid.set(this.#bytes.subarray(this.#ids + start * OID_BYTES, this.#ids + end * OID_BYTES));
    (rows.number as Uint32Array).set(this.numbers.slice(start, end) as Uint32Array);
    const record = this.#recordsFrom(start);
    for (let k = 0; k < end - start; k++) {
      record.next(rows.number[k]!);
      rows.chunk[k] = record.chunk;
      rows.offset[k] = record.offset;
      rows.length[k] = record.length;
      rows.type[k] = record.type;
      rows.size[k] = record.size;
      rows.base[k] = record.base;
      rows.distance[k] = record.distance;
      rows.introducer[k] = record.introducer;
    }
    return rows;
  }

  /** Reads records from the first of a block on. */
  #recordsFrom(start: number): RecordReader {
    const view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.length);
    const offset = start === 0 ? 0 : view.getUint32(this.#starts + (start / BLOCK - 1) * 4, true);
    return new RecordReader(new VarintReader(this.#bytes, this.#records + offset, "object_chunks"));
  }
}

/** Yields the rows of some of a page's numbers, run by run: those in `part` from `from` to before
 * `end`. */
export function* rowsOf(
  page: ObjectPage,
  { runs }: NumberSet,
): Generator<{ readonly part: ObjectColumns; readonly from: number; readonly end: number }> {
  const all = runs.length >= MANY_RUNS || page.isDecoded ? page.all() : null;
  for (let r = 0; r < runs.length; r += 2) {
    const from = page.numbers.indexOf(runs[r]!);
    const length = runs[r + 1]! - runs[r]!;
    if (all === null) yield { part: page.rows(from, from + length), from: 0, end: length };
    else yield { part: all, from, end: from + length };
  }
}

/** Reads records one after another. */
class RecordReader implements Omit<ObjectRow, "oid"> {
  number: ObjectNumber = 0;
  chunk: ChunkId = 0;
  offset = 0;
  length = 0;
  type = 0;
  size = 0;
  base: ObjectNumber = 0;
  distance = 0;
  introducer: ObjectNumber = 0;
  readonly #bytes: VarintReader;

  constructor(bytes: VarintReader) {
    this.#bytes = bytes;
  }

  /** Reads the record of an object. */
  next(number: ObjectNumber): void {
    const bytes = this.#bytes;
    const flags = bytes.byte();
    const end = this.offset + this.length;
    this.number = number;
    this.type = flags & TYPE;
    this.length = bytes.varint();
    this.size = bytes.varint();
    this.base = (flags & IS_DELTA) === 0 ? 0 : number - bytes.zigzag();
    this.distance = (flags & IS_OFS) === 0 ? 0 : bytes.varint();
    if ((flags & SAME_INTRODUCER) === 0) {
      this.introducer = (flags & NO_INTRODUCER) !== 0 ? 0 : number - bytes.zigzag();
    }
    if ((flags & FOLLOWS) === 0) {
      this.chunk = bytes.varint();
      this.offset = bytes.varint();
    } else this.offset = end;
  }
}

function decodeSet(bytes: Uint8Array): NumberSet {
  try {
    return NumberSet.decode(bytes);
  } catch {
    throw damagedIndex("a page is corrupt");
  }
}

/** Makes the error for an index of objects that contradicts itself. */
export function damagedIndex(reason: string): GitError {
  return new GitError("storage-failed", { key: "object_chunks", reason });
}
