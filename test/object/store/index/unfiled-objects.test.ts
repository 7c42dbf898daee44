// The index of small pushes, beside their chunks.
import { expect, test } from "vitest";
import { OID_BYTES } from "../../../../src/base/format/oid.ts";
import type { NewChunk } from "../../../../src/object/store/index/chunk-row.ts";
import { ChunkTable } from "../../../../src/object/store/index/chunk-table.ts";
import { newObjectColumns, type ObjectColumns, sliceRows } from "../../../../src/object/store/index/object-columns.ts";
import { ObjectIndex } from "../../../../src/object/store/index/object-index.ts";
import { encodeObjectPage } from "../../../../src/object/store/index/object-page.ts";
import { NumberSet } from "../../../../src/base/numbers/number-set.ts";
import { createRepository } from "../../../../src/object/store/sql/schema.ts";
import { Random } from "../../../harness/random.ts";
import { NodeSql } from "../../sqlite.ts";

/** Objects 1 to 30, ten in each of the chunks 1 to 3. Those of the second are filed. */
function makeIndex(): { sql: NodeSql; objects: ObjectIndex; chunks: ChunkTable; rows: ObjectColumns } {
  const sql = new NodeSql();
  createRepository(sql, { key: "key", createdMs: 1, fsck: "default" });
  const objects = new ObjectIndex(sql);
  const chunks = new ChunkTable(sql, objects);
  const rows = newObjectColumns(30);
  rows.oid.set(new Random(1).bytes(30 * OID_BYTES));
  for (let i = 0; i < 30; i++) {
    rows.number[i] = i + 1;
    rows.chunk[i] = 1 + Math.floor(i / 10);
    rows.offset[i] = (i % 10) * 5;
    rows.length[i] = 5;
    rows.type[i] = 3;
    rows.introducer[i] = i === 24 ? 0 : 1;
  }
  const bytes = new Uint8Array(50);
  for (let c = 0; c < 3; c++) {
    const own = sliceRows(rows, c * 10, c * 10 + 10);
    const chunk: NewChunk = {
      key: null,
      bytes,
      size: 50,
      checksum: new Uint8Array(20),
      push: 1,
      packOffset: 12,
      firstNumber: c * 10 + 1,
      lastNumber: c * 10 + 10,
      whole: true,
      ofsFloor: 0,
      baseFloor: 0,
      objects: c === 1 ? null : encodeObjectPage(own),
    };
    chunks.insert([chunk]);
    if (c === 1) objects.insertMany(own);
  }
  return { sql, objects, chunks, rows };
}

const all = NumberSet.range(1, 31);
const count = (sql: NodeSql, query: string): number => sql.exec<{ count: number }>(query).one().count;

test("rows are found wherever they lie, also by another that opens them", () => {
  const { sql, objects, rows } = makeIndex();
  expect(count(sql, "SELECT count(*) AS count FROM object_chunks")).toBe(1);
  for (const index of [objects, new ObjectIndex(sql)]) {
    expect(index.locate(all)).toEqual(rows);
    expect(index.lookupMany(rows.oid).number).toEqual(rows.number);
    expect(index.lastNumber()).toBe(30);
    expect([...index.unintroduced().toArray()]).toEqual([25]);
    expect(index.chunksOf(NumberSet.fromSorted([10, 11, 21]))).toEqual(new Set([1, 2, 3]));
  }
});

test("rows that move are filed, and the chunk that keeps some keeps their rows", () => {
  const { sql, objects, chunks, rows } = makeIndex();
  chunks.insert([{ ...chunks.byIds([1])[0]!, bytes: new Uint8Array(65), size: 65, objects: null }]);
  const moved = NumberSet.fromSorted([...Array.from({ length: 10 }, (_, i) => i + 1), 21, 22, 23]);
  const { number, length, base, distance } = objects.locate(moved);
  const offset = number.map((_, i) => i * 5);
  objects.move({ number, chunk: number.map(() => 4), offset, length, base, distance });
  chunks.release([1, 3]);
  for (let i = 0, at = 0; i < 30; i++) {
    if (!moved.has(i + 1)) continue;
    rows.chunk[i] = 4;
    rows.offset[i] = 5 * at++;
  }
  expect(chunks.allInOrder().map(({ id, whole }) => [id, whole])).toEqual([
    [4, true],
    [2, true],
    [3, false],
  ]);
  expect(count(sql, "SELECT count(*) AS count FROM hot_chunks WHERE objects IS NOT NULL")).toBe(1);
  for (const index of [objects, new ObjectIndex(sql)]) {
    expect(index.locate(all)).toEqual(rows);
    expect(index.lookupMany(rows.oid).number).toEqual(rows.number);
    expect(index.inChunk(3, 21, 30)).toEqual(NumberSet.range(24, 31));
  }
});

test("a chunk that has the index of its objects is not sealed", () => {
  const { chunks } = makeIndex();
  expect(() => chunks.seal("key/1", [{ id: 1, start: 0 }])).toThrow("chunk 1 has the index of its objects");
  expect(chunks.byIds([1])).toMatchObject([{ key: null }]);
});

test("introducers are set, and objects removed, wherever they lie", () => {
  const { sql, objects, rows } = makeIndex();
  objects.setIntroducers(new Map([5, 15, 25].map((number) => [number, 7])));
  objects.remove(NumberSet.fromSorted([6, 16, 26, 30]));
  for (const index of [objects, new ObjectIndex(sql)]) {
    expect(index.hasUnintroduced()).toBe(false);
    expect([...index.locate(NumberSet.fromSorted([4, 5, 15, 25])).introducer]).toEqual([1, 7, 7, 7]);
    expect(index.present().size).toBe(26);
    expect(index.lastNumber()).toBe(30);
    expect(() => index.locate(NumberSet.of(26))).toThrow("has only 0 of 1 objects");
    expect(index.find(rows.oid.slice(29 * OID_BYTES))).toBeNull();
    expect(index.find(rows.oid.slice(15 * OID_BYTES, 16 * OID_BYTES))).toBeNull();
  }
});

test("what a transaction that is rolled back had written is forgotten", () => {
  const { sql, objects, chunks, rows } = makeIndex();
  const stored = chunks.allInOrder();
  const added = { ...stored[0]!, firstNumber: 31, lastNumber: 33, objects: null };
  sql.exec("BEGIN");
  objects.remove(NumberSet.fromSorted([6, 16]));
  objects.setIntroducers(new Map([[25, 7]]));
  chunks.release([1, 2]);
  chunks.insert([
    { ...added, bytes: new Uint8Array(50) },
    { ...added, key: "key/1", bytes: null },
  ]);
  chunks.seal("key/2", [{ id: 2, start: 0 }]);
  expect(chunks.keys().size).toBe(2);
  sql.exec("ROLLBACK");
  objects.forget();
  chunks.forget();
  expect(objects.locate(all)).toEqual(rows);
  expect(objects.present()).toEqual(all);
  expect(chunks.allInOrder()).toEqual(stored);
  expect([chunks.nextId(), chunks.totalBytes(), chunks.keys().size]).toEqual([4, 150, 0]);
});
