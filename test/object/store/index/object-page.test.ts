import { describe, expect, test } from "vitest";
import { OID_BYTES } from "../../../../src/base/format/oid.ts";
import {
  newObjectColumns,
  type ObjectColumns,
  rowAt,
  sliceRows,
} from "../../../../src/object/store/index/object-columns.ts";
import { encodeObjectPage, ObjectPage } from "../../../../src/object/store/index/object-page.ts";
import { Random } from "../../../harness/random.ts";

/** A size, length or distance: of any width up to what is exact. */
function wide(random: Random): number {
  return random.below(2 ** 32) * 2 ** random.below(22) + random.below(2);
}

/** Rows as a push makes them; `wild` ones have values of any width, and gaps between numbers. */
function makeRows(seed: number, count: number, wild: boolean): ObjectColumns {
  const random = new Random(seed);
  const rows = newObjectColumns(count);
  rows.oid.set(random.bytes(count * OID_BYTES));
  let number = 0;
  let offset = 0;
  for (let i = 0; i < count; i++) {
    number += wild ? 1 + random.below(3) : 1;
    rows.number[i] = number;
    rows.chunk[i] = wild ? random.below(2 ** 32) : 7;
    rows.length[i] = wild ? wide(random) : 20 + random.below(400);
    rows.offset[i] = wild ? random.below(2 ** 32) : offset;
    offset += rows.length[i]!;
    rows.type[i] = 1 + random.below(4);
    rows.size[i] = wild ? wide(random) : random.below(5_000);
    rows.base[i] = random.below(2) === 0 ? 0 : wild ? random.below(2 ** 32) : Math.max(1, number - random.below(90));
    rows.distance[i] = random.below(2) === 0 ? 0 : wild ? wide(random) : 1 + random.below(9_000);
    rows.introducer[i] = random.below(9) === 0 ? 0 : wild ? random.below(2 ** 32) : 1 + Math.floor(i / 8);
  }
  return rows;
}

// Sizes around those of a block.
describe.each([0, 1, 31, 32, 33, 64, 5_000])("%i rows", (count) => {
  test.each([false, true])("come back, all, by ranges and one by one (wild: %s)", (wild) => {
    const rows = makeRows(count, count, wild);
    const bytes = encodeObjectPage(rows);
    expect(new ObjectPage(bytes).all()).toEqual(rows);
    const page = new ObjectPage(bytes);
    for (let from = 0; from < count; from += 1 + Math.floor(count / 7)) {
      const end = Math.min(count, from + 40);
      expect(page.rows(from, end)).toEqual(sliceRows(rows, from, end));
      const number = rows.number[from]!;
      expect(page.numbers.indexOf(number)).toBe(from);
      expect(page.row(from)).toMatchObject(rowAt(rows, from));
      expect(page.hasOid(from, rows.oid, from * OID_BYTES)).toBe(true);
      expect(page.hasOid(from, rows.oid, ((from + 1) % count) * OID_BYTES)).toBe(count === 1);
    }
  });
});

test("the largest values of every column come back, and fit", () => {
  const rows = newObjectColumns(40);
  for (let i = 0; i < 40; i++) {
    rows.number[i] = 2 ** 32 - 100 + 2 * i;
    rows.type[i] = 4;
    for (const name of ["chunk", "offset"] as const) rows[name][i] = 2 ** 32 - 1 - i;
    for (const name of ["length", "size", "distance"] as const) rows[name][i] = Number.MAX_SAFE_INTEGER - i;
    for (const name of ["base", "introducer"] as const) rows[name][i] = 1 + i;
  }
  expect(new ObjectPage(encodeObjectPage(rows)).all()).toEqual(rows);
});

test("an object takes a third of what its row took", () => {
  const bytes = encodeObjectPage(makeRows(1, 10_000, false));
  expect(bytes.length / 10_000).toBeLessThan(34);
});

test("bytes that are cut or changed are an error, never other rows without one at their end", () => {
  const bytes = encodeObjectPage(makeRows(3, 200, false));
  for (let length = 0; length < bytes.length; length += 7) {
    expect(() => new ObjectPage(bytes.slice(0, length)).all()).toThrow("storage failed at object_chunks");
  }
});
