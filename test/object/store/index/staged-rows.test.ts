// Rows of a large push that are written before they count.
import { expect, test } from "vitest";
import { OID_BYTES } from "../../../../src/base/format/oid.ts";
import { newObjectColumns, type ObjectColumns, sliceRows } from "../../../../src/object/store/index/object-columns.ts";
import { ObjectIndex } from "../../../../src/object/store/index/object-index.ts";
import type { PreparedObjects } from "../../../../src/object/store/index/prepared-objects.ts";
import { NumberSet, finishAtOnce } from "../../../../src/base/numbers/number-set.ts";
import { createRepository } from "../../../../src/object/store/sql/schema.ts";
import { Random } from "../../../harness/random.ts";
import { NodeSql } from "../../sqlite.ts";

/** The first are stored; the others are staged: they take several pages of each kind. */
const STORED = 10_000;
const ALL = 90_000;

const rows = newObjectColumns(ALL);
rows.oid.set(new Random(1).bytes(ALL * OID_BYTES));
for (let i = 0; i < ALL; i++) {
  const place = { number: i + 1, chunk: 1, offset: 100 * i, length: 100, type: 3, size: 150, introducer: 1 };
  for (const [name, value] of Object.entries(place)) rows[name as keyof typeof place][i] = value;
}
const more = sliceRows(rows, STORED, ALL);

function makeIndex(): { sql: NodeSql; objects: ObjectIndex; prepared: PreparedObjects } {
  const sql = new NodeSql();
  createRepository(sql, { key: "key", createdMs: 1, fsck: "default" });
  const objects = new ObjectIndex(sql);
  objects.insertMany(sliceRows(rows, 0, STORED));
  return { sql, objects, prepared: finishAtOnce(objects.prepare(more)) };
}

const count = (sql: NodeSql, table: string): number =>
  sql.exec<{ count: number }>(`SELECT count(*) AS count FROM ${table}`).one().count;

/** Those that an index finds, by number and by id. */
function found(objects: ObjectIndex): { byNumber: ObjectColumns; byId: number } {
  const byNumber = objects.locateExisting(NumberSet.range(1, ALL + 1));
  return { byNumber, byId: objects.lookupMany(rows.oid).number.filter((number) => number !== 0).length };
}

const BEFORE = { byNumber: sliceRows(rows, 0, STORED), byId: STORED };
const AFTER = { byNumber: rows, byId: ALL };

test("staged rows are not found until they are inserted, also not by another that opens the index", () => {
  const { sql, objects, prepared } = makeIndex();
  const staged = finishAtOnce(objects.stage(prepared));
  expect([count(sql, "object_chunks"), count(sql, "object_ids")]).toEqual([4, 3]);
  for (const index of [objects, new ObjectIndex(sql)]) {
    expect(found(index)).toEqual(BEFORE);
    expect(index.lastNumber()).toBe(STORED);
    expect(index.withPrefix(Buffer.from(more.oid.subarray(0, 20)).toString("hex"))).toEqual([]);
  }
  expect(objects.isStaged(staged)).toBe(true);
  const { rows: left } = staged;
  // The page that had room.
  expect([left.pages.length, left.staged.length]).toEqual([1, 3]);
  objects.insertPrepared(staged);
  for (const index of [objects, new ObjectIndex(sql)]) expect(found(index)).toEqual(AFTER);
  expect(count(sql, "staged")).toBe(0);
});

test("what a dead process had staged is removed", () => {
  const { sql, objects, prepared } = makeIndex();
  const steps = objects.stage(prepared);
  for (let step = 0; step < 3; step++) steps.next();
  expect(count(sql, "object_chunks")).toBeGreaterThan(1);
  const woken = new ObjectIndex(sql);
  woken.unstage();
  expect(["object_chunks", "object_ids", "staged"].map((table) => count(sql, table))).toEqual([1, 1, 0]);
  woken.insertMany(more);
  expect(found(woken)).toEqual(AFTER);
});

test("steps that are left before their end leave nothing", () => {
  const { sql, objects, prepared } = makeIndex();
  const steps = objects.stage(prepared);
  for (let step = 0; step < 4; step++) steps.next();
  steps.return(prepared);
  expect(["object_chunks", "object_ids", "staged"].map((table) => count(sql, table))).toEqual([1, 1, 0]);
  expect(found(objects)).toEqual(BEFORE);
});

test("what another writes or stages ends it", () => {
  const { sql, objects, prepared } = makeIndex();
  const first = finishAtOnce(objects.stage(prepared));
  const second = finishAtOnce(objects.stage(prepared));
  expect([first, second].map((one) => objects.isStaged(one))).toEqual([false, true]);
  // Only its own.
  objects.unstage(first.staged);
  expect(objects.isStaged(second)).toBe(true);
  // A transaction that is rolled back does not.
  objects.forget();
  expect([first, second].map((one) => objects.isStaged(one))).toEqual([false, true]);
  expect(found(objects)).toEqual(BEFORE);
  objects.insertMany(sliceRows(rows, STORED, STORED + 10));
  expect(["object_chunks", "object_ids", "staged"].map((table) => count(sql, table))).toEqual([1, 1, 0]);
  expect(found(objects).byId).toBe(STORED + 10);
});

test("what is one row is not staged", () => {
  const { sql, objects } = makeIndex();
  const few = finishAtOnce(objects.prepare(sliceRows(rows, STORED, STORED + 6_000)));
  expect(finishAtOnce(objects.stage(few))).toBe(few);
  expect(count(sql, "staged")).toBe(0);
});
