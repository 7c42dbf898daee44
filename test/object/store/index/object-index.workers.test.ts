import { describe, expect, test } from "vitest";
import { OID_BYTES } from "../../../../src/base/format/oid.ts";
import { NumberSet } from "../../../../src/base/numbers/number-set.ts";
import {
  type MovedObjects,
  newObjectColumns,
  type ObjectColumns,
  sliceRows,
} from "../../../../src/object/store/index/object-columns.ts";
import { ObjectIndex } from "../../../../src/object/store/index/object-index.ts";
import { CountedSql } from "../../../../src/object/store/sql/sql.ts";
import { withDatabase } from "../database.ts";
import { Random } from "../../../harness/random.ts";

/** Rows with random ids; the integers take all widths up to those of their columns. */
function randomRows(random: Random, firstNumber: number, count: number): ObjectColumns {
  const rows = newObjectColumns(count);
  rows.oid.set(random.bytes(count * OID_BYTES));
  for (let i = 0; i < count; i++) {
    rows.number[i] = firstNumber + i;
    rows.chunk[i] = 1 + random.below(9);
    rows.offset[i] = random.below(2 ** (1 + random.below(32)));
    rows.length[i] = random.below(2 ** (1 + random.below(53)));
    rows.type[i] = 1 + random.below(4);
    rows.size[i] = random.below(2 ** (1 + random.below(53)));
    rows.base[i] = random.below(3) > 0 ? 0 : 1 + random.below(firstNumber + i);
    rows.distance[i] = rows.base[i] === 0 ? 0 : random.below(2 ** (1 + random.below(53)));
    rows.introducer[i] = random.below(20) === 0 ? 0 : firstNumber + random.below(count);
  }
  return rows;
}

function oidOf(rows: ObjectColumns, i: number): Uint8Array {
  return rows.oid.slice(i * OID_BYTES, (i + 1) * OID_BYTES);
}

test("an empty index finds nothing, in three statements", () =>
  withDatabase((sql) => {
    const counters = { statements: 0, rowsRead: 0, rowsWritten: 0 };
    const index = new ObjectIndex(new CountedSql(sql, counters));
    const found = index.lookupMany(new Random(1).bytes(30_000 * OID_BYTES));
    expect(found.number.every((number) => number === 0)).toBe(true);
    expect(found.number).toHaveLength(30_000);
    // Whether rows are staged, and pages of each kind.
    expect(counters.statements).toBe(3);
    expect(index.lookupMany(new Uint8Array(0)).number).toHaveLength(0);
    expect(index.locate(NumberSet.EMPTY).number).toHaveLength(0);
    expect(index.lastNumber()).toBe(0);
    expect(index.find(new Uint8Array(OID_BYTES))).toBeNull();
    expect(index.hasUnintroduced()).toBe(false);
  }));

// Sizes around the number of rows of one statement.
describe.each([0, 1, 2, 9_999, 10_000, 10_001])("%i objects", (count) => {
  test("come back as they went in", () =>
    withDatabase((sql, transactor) => {
      const index = new ObjectIndex(sql);
      const rows = randomRows(new Random(count), 1, count);
      transactor.transactionSync(() => index.insertMany(rows));
      expect(index.lastNumber()).toBe(count);
      expect(index.locate(NumberSet.range(1, count + 1))).toEqual(rows);
      const found = index.lookupMany(rows.oid);
      expect(found.number).toEqual(rows.number);
      expect(Uint32Array.from(found.type)).toEqual(rows.type);
      expect(found.introducer).toEqual(rows.introducer);
      const missing = Array.from(rows.number).filter((_, i) => rows.introducer[i] === 0);
      expect([...index.unintroduced().toArray()]).toEqual(missing);
      expect(index.hasUnintroduced()).toBe(missing.length > 0);
    }));
});

test("look-ups keep the order asked for, with gaps and repeats", () =>
  withDatabase((sql) => {
    const index = new ObjectIndex(sql);
    const random = new Random(5);
    const rows = randomRows(random, 1, 12_000);
    index.insertMany(rows);
    const asked = Array.from({ length: 30_000 }, () => random.below(15_000));
    const oids = new Uint8Array(asked.length * OID_BYTES);
    asked.forEach((i, k) => oids.set(i < 12_000 ? oidOf(rows, i) : random.bytes(OID_BYTES), k * OID_BYTES));
    expect([...index.lookupMany(oids).number]).toEqual(asked.map((i) => (i < 12_000 ? i + 1 : 0)));
  }));

test("scattered numbers are located, in ascending order", () =>
  withDatabase((sql) => {
    const index = new ObjectIndex(sql);
    const random = new Random(6);
    const rows = randomRows(random, 1, 25_000);
    index.insertMany(rows);
    const wanted = [...rows.number].filter(() => random.below(3) > 0);
    const located = index.locate(NumberSet.fromSorted(wanted));
    expect([...located.number]).toEqual(wanted);
    expect(located.size).toEqual(Float64Array.from(wanted, (number) => rows.size[number - 1]!));
    expect(located.oid.subarray(-OID_BYTES)).toEqual(oidOf(rows, wanted.at(-1)! - 1));
  }));

test("chains of any length are followed to their roots in one query", () =>
  withDatabase((sql) => {
    const index = new ObjectIndex(sql);
    const rows = randomRows(new Random(8), 1, 12_000);
    // Up to 6,000 one long chain; after it, every object is a delta on an even number below it.
    rows.number.forEach((number, i) => {
      rows.base[i] = number <= 6_000 ? number - 1 : number % 2 === 0 ? 0 : number - 1;
    });
    index.insertMany(rows);
    expect([...index.withBases(NumberSet.fromSorted([5_000, 6_002, 6_005])).toArray()]).toEqual([
      ...Array.from({ length: 5_000 }, (_, i) => i + 1),
      6_002,
      6_004,
      6_005,
    ]);
    expect(index.withBases(NumberSet.EMPTY).size).toBe(0);
  }));

test("one row is found by its id", () =>
  withDatabase((sql) => {
    const index = new ObjectIndex(sql);
    const rows = randomRows(new Random(7), 1, 10);
    index.insertMany(rows);
    expect(index.find(oidOf(rows, 3))).toMatchObject({ number: 4, size: rows.size[3], introducer: rows.introducer[3] });
    expect(index.find(new Uint8Array(OID_BYTES))).toBeNull();
  }));

test("a number that is not there is an error, not a shorter answer", () =>
  withDatabase((sql) => {
    const index = new ObjectIndex(sql);
    index.insertMany(randomRows(new Random(8), 1, 10));
    expect(() => index.locate(NumberSet.range(5, 12))).toThrow("has only 6 of 7 objects");
  }));

test("an id or number can be there only once, and a failed transaction leaves nothing", () =>
  withDatabase((sql, transactor) => {
    const index = new ObjectIndex(sql);
    const rows = randomRows(new Random(9), 1, 100);
    index.insertMany(rows);
    const again = randomRows(new Random(10), 101, 50);
    again.oid.set(oidOf(rows, 0), 49 * OID_BYTES);
    expect(() => transactor.transactionSync(() => index.insertMany(again))).toThrow(
      "has the object of number 150 already",
    );
    index.forget();
    expect(() => index.insertMany(sliceRows(rows, 3, 4))).toThrow("has object number 4 already");
    expect(index.lastNumber()).toBe(100);
  }));

// Sizes around the number of rows of one statement.
test.each([1, 10_001])("%i objects move to other chunks", (count) =>
  withDatabase((sql, transactor) => {
    const index = new ObjectIndex(sql);
    const rows = randomRows(new Random(13), 1, count + 2);
    transactor.transactionSync(() => index.insertMany(rows));
    const places = randomRows(new Random(14), 1, count + 2);
    const { chunk, offset, length, base, distance } = places;
    const move = { number: rows.number, chunk, offset, length, base, distance };
    const moved = Object.fromEntries(
      Object.entries(move).map(([name, column]) => [name, column.subarray(1, count + 1)]),
    );
    transactor.transactionSync(() => index.move(moved as unknown as MovedObjects));
    const located = index.locate(NumberSet.range(1, count + 3));
    for (const name of ["chunk", "offset", "length", "base", "distance"] as const) {
      rows[name].set(places[name].subarray(1, count + 1), 1);
    }
    expect(located).toEqual(rows);
  }),
);

test("objects get their introducer later", () =>
  withDatabase((sql) => {
    const index = new ObjectIndex(sql);
    const rows = newObjectColumns(6);
    rows.oid.set(new Random(11).bytes(6 * OID_BYTES));
    rows.number.set([1, 2, 3, 4, 5, 6]);
    index.insertMany(rows);
    index.setIntroducers(new Map([1, 2, 5].map((number) => [number, 6])));
    expect([...index.locate(NumberSet.range(1, 7)).introducer]).toEqual([6, 6, 0, 0, 6, 0]);
    expect([...index.unintroduced().toArray()]).toEqual([3, 4, 6]);
  }));

test("100,000 objects", { tags: "sweep" }, () =>
  withDatabase((sql, transactor) => {
    const index = new ObjectIndex(sql);
    const rows = randomRows(new Random(12), 1, 100_000);
    transactor.transactionSync(() => index.insertMany(rows));
    expect(index.lookupMany(rows.oid).number).toEqual(rows.number);
    expect(index.locate(NumberSet.range(1, 100_001))).toEqual(rows);
  }),
);
