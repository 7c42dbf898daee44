import { expect, test } from "vitest";
import { ChunkTable, type NewChunk } from "../../src/store/chunk-table.ts";
import { BLOB_MAX_BYTES } from "../../src/store/packed-rows.ts";
import { withDatabase } from "./database.ts";

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
  ...over,
});

test("chunks come back as they went in, in order, with ids that count up", () =>
  withDatabase((sql) => {
    const chunks = new ChunkTable(sql);
    expect(chunks.nextId()).toBe(1);
    expect(chunks.allInOrder()).toEqual([]);
    const inBucket = chunk({ key: "k/1", bytes: null, size: 2_000_000, whole: false, ofsFloor: 2, baseFloor: 1 });
    chunks.insert([chunk(), inBucket]);
    chunks.insert([chunk({ push: 2, firstNumber: 4, lastNumber: 9 })]);
    const { bytes: _, ...row } = inBucket;
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

test("hot chunks are sealed once, and keep everything else", () =>
  withDatabase((sql, transactor) => {
    const chunks = new ChunkTable(sql);
    const hot = [chunk({ bytes: new Uint8Array([1, 2]) }), chunk({ bytes: new Uint8Array([3, 4, 5]) })];
    chunks.insert([...hot, chunk({ key: "k/1", bytes: null, size: 9 })]);
    expect(chunks.hotBytes()).toBe(5);
    expect(chunks.hotChunks().map(({ id }) => id)).toEqual([1, 2]);
    expect(chunks.hotBytesOf(2)).toEqual(new Uint8Array([3, 4, 5]));
    expect(chunks.hotBytesOf(3)).toBeNull();
    const before = chunks.byIds([1, 2]);
    chunks.seal("k/sealed", [
      { id: 1, start: 0 },
      { id: 2, start: 2 },
    ]);
    expect(chunks.byIds([1, 2])).toEqual(before.map((row, i) => ({ ...row, key: "k/sealed", start: i * 2 })));
    expect(chunks.hotBytes()).toBe(0);
    expect(chunks.hotBytesOf(2)).toBeNull();
    expect(chunks.keys()).toEqual(new Set(["k/1", "k/sealed"]));
    chunks.insert([chunk()]);
    const sealTwice = () =>
      chunks.seal("k/again", [
        { id: 4, start: 0 },
        { id: 1, start: 3 },
      ]);
    expect(() => transactor.transactionSync(sealTwice)).toThrow("chunk 1 is not hot");
    expect(chunks.hotChunks().map(({ id }) => id)).toEqual([4]);
  }));

test("inline bytes have a limit, which the local runtime would not enforce", () =>
  withDatabase((sql) => {
    const chunks = new ChunkTable(sql);
    chunks.insert([chunk({ bytes: new Uint8Array(BLOB_MAX_BYTES) })]);
    expect(chunks.hotBytesOf(1)).toHaveLength(BLOB_MAX_BYTES);
    const insert = () => chunks.insert([chunk({ bytes: new Uint8Array(BLOB_MAX_BYTES + 1) })]);
    expect(insert).toThrow("an inline chunk exceeds the limit of 2000000");
  }));

test("a missing chunk and cut bytes are errors", () =>
  withDatabase((sql) => {
    const chunks = new ChunkTable(sql);
    chunks.insert([chunk({ size: 4 }), chunk({ bytes: null })]);
    for (const id of [1, 2, 3]) expect(() => chunks.hotBytesOf(id)).toThrow(`chunk ${id} has no bytes`);
  }));
