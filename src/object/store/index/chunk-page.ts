// The rows of many sealed chunks as one value: about 40 bytes each.
//
//   the id of the last chunk, the sum of their sizes: varints
//   one record for each chunk, ascending by id
//
// A record is a byte (1: whole), the checksum, and LEB128 varints: the id, as the difference from
// the record before; the number of bytes that the key shares with the key before; the number of its
// further bytes, and these; start, size, push, offset in the pack; the first number, as the
// difference from the one that would follow the record before, and the last, from the first, both
// zigzag; the floors: 0, or one more than the difference from the first number, zigzag.
import { fromByteString, toByteString } from "../../../base/format/byte-string.ts";
import { GitError } from "../../../base/format/errors.ts";
import { OID_BYTES } from "../../../base/format/oid.ts";
import type { ChunkId, ObjectNumber } from "../../../base/numbers/kinds.ts";
import type { SealedRow } from "./chunk-row.ts";
import { fromZigzag, toZigzag, VarintReader, VarintWriter } from "../sql/varints.ts";

/** Upper bound of a varint's bytes. */
const VARINT_BYTES = 8;

/** Upper bound of a record's bytes without its key. */
const RECORD_BYTES = 1 + OID_BYTES + 11 * VARINT_BYTES;

/** Encodes rows, ascending by id; at least one. Keys are byte strings. */
export function encodeChunkPage(rows: readonly SealedRow[]): Uint8Array<ArrayBuffer> {
  const writer = new VarintWriter(rows.reduce((sum, { key }) => sum + RECORD_BYTES + key.length, 2 * VARINT_BYTES));
  writer.varint(rows.at(-1)!.id);
  writer.varint(rows.reduce((sum, { size }) => sum + size, 0));
  let [id, number]: [ChunkId, ObjectNumber] = [0, 0];
  let key = "";
  for (const row of rows) {
    const shared = sharedLength(key, row.key);
    key = row.key;
    writer.byte(row.whole ? 1 : 0);
    writer.bytes(row.checksum);
    writer.varint(row.id - id);
    writer.varint(shared);
    writer.varint(key.length - shared);
    writer.bytes(fromByteString(key.slice(shared)));
    writer.varint(row.start);
    writer.varint(row.size);
    writer.varint(row.push);
    writer.varint(row.packOffset);
    writer.zigzag(row.firstNumber - number);
    writer.zigzag(row.lastNumber - row.firstNumber);
    for (const floor of [row.ofsFloor, row.baseFloor]) {
      writer.varint(floor === 0 ? 0 : toZigzag(row.firstNumber - floor) + 1);
    }
    [id, number] = [row.id, row.lastNumber + 1];
  }
  return writer.finish();
}

/** Counts the equal characters at the beginning of two texts. */
function sharedLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  return length;
}

/** An encoded page. Its decoded rows are weakly held: the garbage collector may drop them. */
export class ChunkPage {
  /** Lowest id that belongs to the page. */
  readonly first: ChunkId;
  /** Id of the page's last chunk. */
  readonly last: ChunkId;
  /** Sum of the chunks' sizes. */
  readonly sizeBytes: number;
  readonly #bytes: Uint8Array;
  /** Offset of the first record. */
  readonly #records: number;
  #rows: WeakRef<ReadonlyMap<ChunkId, SealedRow>> | null = null;

  /** @throws GitError "storage-failed" when the bytes are no page; the same below */
  constructor(first: ChunkId, bytes: Uint8Array) {
    const reader = new VarintReader(bytes, 0, "sealed_chunks");
    this.first = first;
    this.last = reader.varint();
    this.sizeBytes = reader.varint();
    this.#bytes = bytes;
    this.#records = reader.at;
  }

  /** Decodes the rows by id, ascending. */
  rows(): ReadonlyMap<ChunkId, SealedRow> {
    const known = this.#rows?.deref();
    if (known !== undefined) return known;
    const rows = new Map<ChunkId, SealedRow>();
    let [last, sizeBytes] = [0, 0];
    for (const row of this.#decode()) {
      rows.set(row.id, row);
      last = row.id;
      sizeBytes += row.size;
    }
    if (last !== this.last || sizeBytes !== this.sizeBytes) throw corrupt();
    this.#rows = new WeakRef(rows);
    return rows;
  }

  *#decode(): Generator<SealedRow> {
    const reader = new VarintReader(this.#bytes, this.#records, "sealed_chunks");
    let [id, number]: [ChunkId, ObjectNumber] = [0, 0];
    let key = "";
    while (reader.at < this.#bytes.length) {
      const whole = reader.byte() === 1;
      // Copies the checksum: a view would be sent to the Worker with the whole page.
      const checksum = reader.bytes(OID_BYTES).slice();
      id += reader.varint();
      const shared = reader.varint();
      const rest = reader.bytes(reader.varint());
      if (shared > key.length) throw corrupt();
      // Shares one string among the chunks of an R2 object.
      if (shared < key.length || rest.length > 0) key = key.slice(0, shared) + toByteString(rest);
      const start = reader.varint();
      const size = reader.varint();
      const push = reader.varint();
      const packOffset = reader.varint();
      const firstNumber = number + reader.zigzag();
      const lastNumber = firstNumber + reader.zigzag();
      const ofsFloor = floorOf(firstNumber, reader.varint());
      const baseFloor = floorOf(firstNumber, reader.varint());
      number = lastNumber + 1;
      yield { id, key, start, size, checksum, push, packOffset, firstNumber, lastNumber, whole, ofsFloor, baseFloor };
    }
  }
}

function floorOf(firstNumber: ObjectNumber, stored: number): ObjectNumber {
  return stored === 0 ? 0 : firstNumber - fromZigzag(stored - 1);
}

function corrupt(): GitError {
  return new GitError("storage-failed", { key: "sealed_chunks", reason: "a page is corrupt" });
}
