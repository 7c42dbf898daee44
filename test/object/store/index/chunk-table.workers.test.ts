import { expect, test } from "vitest";
import type { NewChunk } from "../../../../src/object/store/index/chunk-row.ts";
import { ChunkTable } from "../../../../src/object/store/index/chunk-table.ts";
import { BLOB_MAX_BYTES, CountedSql, newSqlCounters } from "../../../../src/object/store/sql/sql.ts";
import type { SqlCounters } from "../../../../src/contract/log-events.ts";
import { newObjectColumns } from "../../../../src/object/store/index/object-columns.ts";
import { ObjectIndex } from "../../../../src/object/store/index/object-index.ts";
import { withDatabase } from "../database.ts";

const chunk = (over: Partial<NewChunk> = {}): NewChunk => ({
  key: null,
  bytes: new Uint8Array([1, 2, 3]),
  size: over.bytes?.length ?? 3,
  checksum: new Uint8Array(20).fill(5),
  push: 1,
  packOffset: 12,
  firstNumber: 1,
  lastNumber: 3,
  whole: true,
  ofsFloor: 0,
  baseFloor: 0,
  objects: null,
  ...over,
});

test("chunks come back as they went in, in order, with ids that count up", () =>
  withDatabase((sql) => {
    const chunks = new ChunkTable(sql, new ObjectIndex(sql));
    expect(chunks.nextId()).toBe(1);
    expect(chunks.allInOrder()).toEqual([]);
    const inBucket = chunk({ key: "k/1", bytes: null, size: 2_000_000, whole: false, ofsFloor: 2, baseFloor: 1 });
    chunks.insert([chunk(), inBucket]);
    chunks.insert([chunk({ push: 2, firstNumber: 4, lastNumber: 9 })]);
    const { bytes: _, objects: __, ...row } = inBucket;
    expect(chunks.byIds([2])).toEqual([{ id: 2, start: 0, ...row }]);
    expect(chunks.allInOrder().map(({ id, push }) => [id, push])).toEqual([
      [1, 1],
      [2, 1],
      [3, 2],
    ]);
    expect(chunks.byIds([3, 1, 3]).map(({ id }) => id)).toEqual([1, 3]);
    expect(chunks.byIds([])).toEqual([]);
    expect(chunks.nextId()).toBe(4);
    expect(() => chunks.byIds([1, 4])).toThrow("has 1 of 2 chunks");
  }));

test("hot chunks are sealed, and keep everything else", () =>
  withDatabase((sql, transactor) => {
    const chunks = new ChunkTable(sql, new ObjectIndex(sql));
    const hot = [chunk({ bytes: new Uint8Array([1, 2]) }), chunk({ bytes: new Uint8Array([3, 4, 5]) })];
    chunks.insert([...hot, chunk({ key: "k/1", bytes: null, size: 9 })]);
    expect(chunks.hot()).toMatchObject({ sizeBytes: 5 });
    expect(chunks.hotBytesOf(2)).toEqual(new Uint8Array([3, 4, 5]));
    expect(chunks.hotBytesOf(3)).toBeNull();
    const before = chunks.byIds([1, 2]);
    chunks.seal("k/sealed", [
      { id: 1, start: 0 },
      { id: 2, start: 2 },
    ]);
    expect(chunks.byIds([1, 2])).toEqual(before.map((row, i) => ({ ...row, key: "k/sealed", start: i * 2 })));
    expect(chunks.hot()).toEqual({ sizeBytes: 0, mergedBytes: 0, unmerged: 0 });
    expect(chunks.hotBytesOf(2)).toBeNull();
    expect(chunks.keys()).toEqual(new Set(["k/1", "k/sealed"]));
    chunks.insert([chunk()]);
    const sealAbsent = () =>
      chunks.seal("k/again", [
        { id: 4, start: 0 },
        { id: 5, start: 3 },
      ]);
    expect(() => transactor.transactionSync(sealAbsent)).toThrow("chunk 5 is missing");
    expect(chunks.hotBytesOf(4)).not.toBeNull();
  }));

test("a push of many chunks writes one row for them, and so does each that follows", () =>
  withDatabase((sql) => {
    const counters = newSqlCounters();
    const counted = new CountedSql(sql, counters);
    const chunks = new ChunkTable(counted, new ObjectIndex(counted));
    const rowsOf = (work: () => void): SqlCounters => {
      const before = { ...counters };
      work();
      const names = Object.keys(before) as (keyof SqlCounters)[];
      for (const name of names) before[name] = counters[name] - before[name];
      return before;
    };
    const pushed = Array.from({ length: 100 }, (_, i) => chunk({ key: `k/${i}`, bytes: null }));
    expect(rowsOf(() => chunks.insert(pushed))).toMatchObject({ rowsWritten: 1 });
    expect(rowsOf(() => chunks.insert(pushed.slice(0, 1)))).toMatchObject({ rowsWritten: 1 });
    expect(rowsOf(() => chunks.insert([chunk(), chunk()]))).toMatchObject({ rowsWritten: 2 });
    const sealed = [102, 103].map((id, i) => ({ id, start: i * 3 }));
    expect(rowsOf(() => chunks.seal("k/sealed", sealed)).rowsWritten).toBe(3);
    const moved = [1, 50].map((id, i) => ({ id, start: i * 3 }));
    expect(rowsOf(() => chunks.seal("k/moved", moved))).toMatchObject({ rowsWritten: 1 });
    chunks.insert([chunk()]);
    const opened = new ChunkTable(counted, new ObjectIndex(counted));
    const ask = (): unknown[] => [
      opened.allInOrder(),
      opened.totalBytes(),
      opened.hot(),
      opened.keys(),
      opened.nextId(),
    ];
    expect(rowsOf(ask)).toMatchObject({ rowsRead: 2, rowsWritten: 0 });
    expect(rowsOf(ask)).toEqual({ statements: 0, rowsRead: 0, rowsWritten: 0 });
    expect(ask()).toEqual([chunks.allInOrder(), chunks.totalBytes(), chunks.hot(), chunks.keys(), chunks.nextId()]);
  }));

test("which chunks wait to be merged, and which to be sealed, is told by kind and size", () =>
  withDatabase((sql) => {
    const chunks = new ChunkTable(sql, new ObjectIndex(sql));
    chunks.insert([
      chunk({ bytes: new Uint8Array(30), packOffset: 12, firstNumber: 21, lastNumber: 22 }),
      chunk({ bytes: new Uint8Array(20), packOffset: 0, firstNumber: 11, lastNumber: 20 }),
      chunk({ bytes: new Uint8Array(10), packOffset: 12, firstNumber: 1, lastNumber: 10 }),
      chunk({ key: "key/large", bytes: null, size: 60, packOffset: 12, firstNumber: 23, lastNumber: 30 }),
      chunk({ key: "key/large", bytes: null, size: 50, packOffset: 72, firstNumber: 31, lastNumber: 33 }),
      chunk({ key: "key/small", bytes: null, size: 40, packOffset: 12, firstNumber: 34, lastNumber: 34 }),
      chunk({ key: "other/small", bytes: null, size: 30, packOffset: 0, firstNumber: 35, lastNumber: 35 }),
    ]);
    // What another repository has written, it seals.
    expect(chunks.sharedBytes()).toBe(30);
    expect(chunks.hot()).toEqual({ sizeBytes: 60, mergedBytes: 20, unmerged: 2 });
    expect(chunks.unmerged(9).map(({ id }) => id)).toEqual([3, 1]);
    expect(chunks.unmerged(1).map(({ id }) => id)).toEqual([3]);
    expect(chunks.objectsBelow(100)).toEqual({ count: 1, sizeBytes: 40 });
    expect(chunks.sealable(100).map(({ id }) => id)).toEqual([2, 6]);
    expect(chunks.allInOrder().map(({ id }) => id)).toEqual([3, 2, 1, 4, 5, 6, 7]);
    expect(["key/large", "key/small", "key/none"].map((key) => chunks.hasKey(key))).toEqual([true, true, false]);
  }));

test("chunks are removed when no object lies in them, and are no longer whole when some do", () =>
  withDatabase((sql) => {
    const objects = new ObjectIndex(sql);
    const chunks = new ChunkTable(sql, objects);
    chunks.insert([
      chunk({ firstNumber: 1, lastNumber: 2 }),
      chunk({ firstNumber: 3, lastNumber: 3 }),
      chunk({ firstNumber: 4, lastNumber: 4 }),
    ]);
    const rows = newObjectColumns(3);
    rows.number.set([1, 2, 4]);
    rows.chunk.set([9, 1, 3]);
    rows.oid.set([1]);
    rows.oid.set([2], 20);
    rows.oid.set([3], 40);
    objects.insertMany(rows);
    chunks.release([1, 2]);
    expect(chunks.allInOrder().map(({ id, whole }) => [id, whole])).toEqual([
      [1, false],
      [3, true],
    ]);
  }));

test("inline bytes have a limit, which the local runtime would not enforce", () =>
  withDatabase((sql) => {
    const chunks = new ChunkTable(sql, new ObjectIndex(sql));
    chunks.insert([chunk({ bytes: new Uint8Array(BLOB_MAX_BYTES) })]);
    expect(chunks.hotBytesOf(1)).toHaveLength(BLOB_MAX_BYTES);
    const insert = () => chunks.insert([chunk({ bytes: new Uint8Array(BLOB_MAX_BYTES + 1) })]);
    expect(insert).toThrow("an inline chunk exceeds the limit of 2000000");
  }));

test("a missing chunk and cut bytes are errors", () =>
  withDatabase((sql) => {
    const chunks = new ChunkTable(sql, new ObjectIndex(sql));
    chunks.insert([{ ...chunk(), size: 4 }, chunk()]);
    sql.exec("DELETE FROM hot_chunks WHERE id = 2");
    for (const id of [1, 2, 3]) expect(() => chunks.hotBytesOf(id)).toThrow(`chunk ${id} has no bytes`);
  }));
