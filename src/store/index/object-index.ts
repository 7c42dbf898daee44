import type { ChunkId, ObjectNumber } from "../numbers/kinds.ts";
import { GitError } from "../../format/errors.ts";
import { OID_BYTES, type Oid } from "../../format/oid.ts";
import { NumberSet } from "../numbers/number-set.ts";
import {
  bytesCell,
  INTEGER_CELL_BYTES,
  inRange,
  integerCell,
  PACKED_ROWS,
  packRanges,
  readBytes,
  readIntegers,
  WITH_ROWS,
} from "../sql/packed-rows.ts";
import type { Sql } from "../sql/sql.ts";
import {
  INTEGERS,
  type Lookup,
  type MovedObjects,
  newObjectColumns,
  type ObjectColumns,
  type ObjectRow,
  PLACE,
  writeIntegers,
} from "./object-columns.ts";

const ROW_BYTES = OID_BYTES + INTEGERS.length * INTEGER_CELL_BYTES;

/** Rows are inserted by number. Sorting them by oid takes as long (20 ms per 10,000 either way):
 * what the unique index saves, the table costs. */
const INSERT = `INSERT INTO object_chunks (oid, ${INTEGERS.join(", ")}) ${WITH_ROWS}
  SELECT ${bytesCell(ROW_BYTES, 0, OID_BYTES)}, ${INTEGERS.map((_, k) =>
    integerCell(ROW_BYTES, OID_BYTES + k * INTEGER_CELL_BYTES),
  ).join(", ")} FROM row`;

const MOVED_ROW_BYTES = (1 + PLACE.length) * INTEGER_CELL_BYTES;

const MOVE = `${WITH_ROWS}
  UPDATE object_chunks SET ${PLACE.map(
    (name, k) => `${name} = ${integerCell(MOVED_ROW_BYTES, (k + 1) * INTEGER_CELL_BYTES)}`,
  ).join(", ")} FROM row WHERE number = ${integerCell(MOVED_ROW_BYTES, 0)}`;

/** CROSS JOIN keeps SQLite from making the index the outer loop. */
const LOOK_UP = `${WITH_ROWS}
  SELECT json_group_array(i), json_group_array(number), json_group_array(type), json_group_array(size),
    json_group_array(introducer)
  FROM row CROSS JOIN object_chunks ON oid = ${bytesCell(OID_BYTES, 0, OID_BYTES)}`;

const LOCATE = `${WITH_ROWS}
  SELECT group_concat(hex(oid), ''), ${INTEGERS.map((name) => `json_group_array(${name})`).join(", ")}
  FROM row CROSS JOIN object_chunks ON ${inRange("number")}`;

/** For a single number, a separate statement costs less. */
const LOCATE_ONE = `SELECT oid, ${INTEGERS.join(", ")} FROM object_chunks WHERE number = ?`;

type LocatedRow = { oid: ArrayBuffer } & Record<(typeof INTEGERS)[number], number>;

/** The requested objects and their delta chains down to the undeltified bases. */
const CHAINS = `${WITH_ROWS}, chain(number) AS (
    SELECT number FROM row CROSS JOIN object_chunks ON ${inRange("number")}
    UNION SELECT base FROM chain JOIN object_chunks USING (number) WHERE base <> 0)
  SELECT number FROM chain`;

const DELTAS = `SELECT json_group_array(number), json_group_array(base) FROM
  (SELECT number, base FROM object_chunks WHERE number > ? AND base <> 0 ORDER BY number LIMIT ${PACKED_ROWS})`;

const CHUNKS_OF = `${WITH_ROWS} SELECT DISTINCT chunk FROM row CROSS JOIN object_chunks ON ${inRange("number")}`;

/** Commits, trees, blobs and tags. */
const ALL_TYPES = 4;

const PASSING = `${WITH_ROWS}
  SELECT json_group_array(number) FROM row CROSS JOIN object_chunks ON ${inRange("number")}
  WHERE type IN (SELECT value FROM json_each(?3)) AND (type <> 3 OR size < ?4)`;

/** The objects of the repository and their locations: table `object_chunks`. */
export class ObjectIndex {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The highest number ever assigned; 0: none. Numbers of pruned objects are not reused. */
  lastNumber(): ObjectNumber {
    return this.#sql
      .exec<{ last: number }>(
        `SELECT max(ifnull((SELECT max(number) FROM object_chunks), 0), ifnull((SELECT last FROM pruned), 0)) AS last`,
      )
      .one().last;
  }

  /** The numbers of pruned objects. */
  pruned(): NumberSet {
    const [row] = this.#sql.exec<{ numbers: ArrayBuffer }>("SELECT numbers FROM pruned").toArray();
    return row === undefined ? NumberSet.EMPTY : NumberSet.decode(new Uint8Array(row.numbers));
  }

  /** The numbers of all objects. */
  present(): NumberSet {
    return NumberSet.range(1, this.lastNumber() + 1).difference(this.pruned());
  }

  /** Inserts rows: 20 ms per 10,000.
   * @throws when a number or an oid exists already; must run in a transaction */
  insertMany(rows: ObjectColumns): void {
    const columns = INTEGERS.map((name) => rows[name]);
    for (const [from, to] of slices(rows.number.length)) {
      const cells = new Uint8Array((to - from) * ROW_BYTES);
      for (let i = from, at = 0; i < to; i++, at += ROW_BYTES) {
        for (let o = 0; o < OID_BYTES; o++) cells[at + o] = rows.oid[i * OID_BYTES + o]!;
        writeIntegers(cells, at + OID_BYTES, columns, i);
      }
      this.#sql.exec(INSERT, cells, to - from);
    }
  }

  /** Updates the locations of rewritten objects: 50 ms per 10,000. Must run in a transaction. */
  move(rows: MovedObjects): void {
    const columns = [rows.number, ...PLACE.map((name) => rows[name])];
    for (const [from, to] of slices(rows.number.length)) {
      const cells = new Uint8Array((to - from) * MOVED_ROW_BYTES);
      for (let i = from; i < to; i++) writeIntegers(cells, (i - from) * MOVED_ROW_BYTES, columns, i);
      this.#sql.exec(MOVE, cells, to - from);
    }
  }

  /** Looks up packed oids: 16 ms per 10,000. An empty index answers at once. */
  lookupMany(oids: Uint8Array): Lookup {
    const count = oids.length / OID_BYTES;
    const found: Lookup = {
      number: new Uint32Array(count),
      type: new Uint8Array(count),
      size: new Uint32Array(count),
      introducer: new Uint32Array(count),
    };
    if (count <= FEW) {
      for (let i = 0; i < count; i++) {
        const row = this.find(oids.subarray(i * OID_BYTES, (i + 1) * OID_BYTES));
        if (row === null) continue;
        found.number[i] = row.number;
        found.type[i] = row.type;
        found.size[i] = row.size;
        found.introducer[i] = row.introducer;
      }
      return found;
    }
    if (this.lastNumber() === 0) return found;
    for (let from = 0; from < count; from += PACKED_ROWS) {
      const to = Math.min(from + PACKED_ROWS, count);
      const [columns] = [...this.#sql.exec(LOOK_UP, oids.subarray(from * OID_BYTES, to * OID_BYTES), to - from).raw()];
      const [slots, numbers, types, sizes, introducers] = columns!.map(readIntegers);
      slots!.forEach((slot, k) => {
        found.number[from + slot] = numbers![k]!;
        found.type[from + slot] = types![k]!;
        found.size[from + slot] = sizes![k]!;
        found.introducer[from + slot] = introducers![k]!;
      });
    }
    return found;
  }

  /** Reads the rows of these numbers, ascending: 7 ms per 10,000.
   * @throws GitError "storage-failed" when one is missing */
  locate(numbers: NumberSet): ObjectColumns {
    const count = numbers.size;
    const rows = newObjectColumns(count);
    if (count === 1) {
      const [row] = this.#sql.exec<LocatedRow>(LOCATE_ONE, numbers.runs[0]!).toArray();
      if (row === undefined) throw damaged("has not the object");
      rows.oid.set(new Uint8Array(row.oid));
      for (const name of INTEGERS) rows[name][0] = row[name];
      return rows;
    }
    let at = 0;
    for (const ranges of packRanges(numbers.runs)) {
      const [columns] = [...this.#sql.exec(LOCATE, ranges.cells, ranges.rows).raw()];
      const oids = readBytes(columns![0]);
      if (at + oids.length / OID_BYTES > count) throw damaged("has more rows than numbers");
      rows.oid.set(oids, at * OID_BYTES);
      INTEGERS.forEach((name, k) => rows[name].set(readIntegers(columns![k + 1]), at));
      at += oids.length / OID_BYTES;
    }
    if (at !== count) throw damaged(`has only ${at} of ${count} objects`);
    return rows;
  }

  /** Adds all objects on the delta chains of these objects. */
  withBases(numbers: NumberSet): NumberSet {
    const found = new Set<number>();
    for (const ranges of packRanges(numbers.runs)) {
      for (const [number] of this.#sql.exec(CHAINS, ranges.cells, ranges.rows).raw()) found.add(number as number);
    }
    return NumberSet.fromUnsorted(found);
  }

  /** Those of the objects that have one of the types, without blobs of `blobLimitBytes` or more. */
  passing(numbers: NumberSet, types: ReadonlySet<number>, blobLimitBytes: number): NumberSet {
    if (types.size === ALL_TYPES && blobLimitBytes === Infinity) return numbers;
    const found: number[] = [];
    for (const ranges of packRanges(numbers.runs)) {
      const limit = Math.min(blobLimitBytes, Number.MAX_SAFE_INTEGER);
      const [row] = [...this.#sql.exec(PASSING, ranges.cells, ranges.rows, JSON.stringify([...types]), limit).raw()];
      for (const number of readIntegers(row![0])) found.push(number);
    }
    return NumberSet.fromSorted(found);
  }

  /** The other objects that are stored as deltas on one of these. Reads every delta's row. */
  dependents(bases: NumberSet): NumberSet {
    const found: number[] = [];
    for (let last = 0; bases.size > 0;) {
      const [row] = [...this.#sql.exec(DELTAS, last).raw()];
      const [numbers, baseNumbers] = row!.map(readIntegers);
      numbers!.forEach((number, i) => {
        if (bases.has(baseNumbers![i]!) && !bases.has(number)) found.push(number);
      });
      if (numbers!.length < PACKED_ROWS) break;
      last = numbers!.at(-1)!;
    }
    return NumberSet.fromSorted(found);
  }

  /** The objects in a chunk.
   * @param first lowest possible number, `last` the highest */
  inChunk(chunk: ChunkId, first: ObjectNumber, last: ObjectNumber): NumberSet {
    const query = "SELECT number FROM object_chunks WHERE number BETWEEN ? AND ? AND chunk = ? ORDER BY number";
    const rows = this.#sql.exec(query, first, last, chunk).raw();
    return NumberSet.fromSorted(Iterator.from(rows).map(([number]) => number as number));
  }

  /** The ids of the chunks that contain objects. */
  chunksOf(numbers: NumberSet): Set<ChunkId> {
    const found = new Set<ChunkId>();
    for (const ranges of packRanges(numbers.runs)) {
      for (const [chunk] of this.#sql.exec(CHUNKS_OF, ranges.cells, ranges.rows).raw()) found.add(chunk as number);
    }
    return found;
  }

  /** Reads the row of one oid. */
  find(oid: Oid): ObjectRow | null {
    const [row] = this.#sql
      .exec<Record<(typeof INTEGERS)[number], number>>(
        `SELECT ${INTEGERS.join(", ")} FROM object_chunks WHERE oid = ?`,
        oid,
      )
      .toArray();
    return row === undefined ? null : { oid, ...row };
  }

  /** The numbers of objects whose ids begin with a prefix, at most 1,000.
   * @param prefix hex digits */
  withPrefix(prefix: string): ObjectNumber[] {
    const from = Uint8Array.fromHex(prefix.padEnd(2 * OID_BYTES, "0"));
    const to = Uint8Array.fromHex(prefix.padEnd(2 * OID_BYTES, "f"));
    const rows = this.#sql
      .exec("SELECT number FROM object_chunks WHERE oid BETWEEN ? AND ? LIMIT 1000", from, to)
      .raw();
    return Array.from(rows, ([number]) => number as number);
  }

  /** Whether any object has no introducer. */
  hasUnintroduced(): boolean {
    return this.#sql.exec("SELECT 1 FROM object_chunks WHERE introducer = 0 LIMIT 1").toArray().length > 0;
  }

  /** The objects without an introducer. */
  unintroduced(): NumberSet {
    const rows = this.#sql.exec("SELECT number FROM object_chunks WHERE introducer = 0 ORDER BY number").raw();
    return NumberSet.fromSorted(Iterator.from(rows).map(([number]) => number as number));
  }

  /** Sets the introducer of objects that had none. */
  setIntroducer(objects: NumberSet, introducer: ObjectNumber): void {
    for (let r = 0; r < objects.runs.length; r += 2) {
      this.#sql.exec(
        "UPDATE object_chunks SET introducer = ? WHERE number >= ? AND number < ?",
        introducer,
        objects.runs[r]!,
        objects.runs[r + 1]!,
      );
    }
  }
}

/** Number of rows up to which single statements are faster than one for all. */
const FEW = 3;

/** Divides rows among statements: start and end of each slice. */
function* slices(count: number): Generator<readonly [from: number, to: number]> {
  for (let from = 0; from < count; from += PACKED_ROWS) yield [from, Math.min(from + PACKED_ROWS, count)];
}

function damaged(reason: string): GitError {
  return new GitError("storage-failed", { key: "object_chunks", reason });
}
