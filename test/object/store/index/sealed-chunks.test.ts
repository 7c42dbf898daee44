// The rows of chunks in R2: pages of them, encoded and in the table.
import { describe, expect, test } from "vitest";
import { ChunkPage, encodeChunkPage } from "../../../../src/object/store/index/chunk-page.ts";
import type { SealedRow } from "../../../../src/object/store/index/chunk-row.ts";
import { PAGE_CHUNKS, SealedChunks } from "../../../../src/object/store/index/sealed-chunks.ts";
import { createRepository } from "../../../../src/object/store/sql/schema.ts";
import { BLOB_MAX_BYTES } from "../../../../src/object/store/sql/sql.ts";
import { Random } from "../../../harness/random.ts";
import { NodeSql } from "../../sqlite.ts";
import { describeSome } from "../../../harness/sweep.ts";

const REPOSITORY = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6";

/** A row with values of any width. */
function makeWild(random: Random, id: number): SealedRow {
  const number = 1 + random.below(2 ** 31);
  const floor = (): number => random.pick([0, 1 + random.below(number), number, number + random.below(2 ** 31)]);
  return {
    id,
    key: random.pick([
      "",
      "k/1",
      "k/10",
      `${REPOSITORY}/chunks/${random.below(3)}`,
      "k\xff".repeat(1 + random.below(300)),
    ]),
    start: random.pick([0, random.below(2 ** 32), 2 ** 52]),
    size: random.pick([1, random.below(2 ** 32), 2 ** 36]),
    checksum: random.bytes(20),
    push: random.pick([1, random.below(2 ** 31)]),
    packOffset: random.pick([0, 12, 2 ** 52]),
    firstNumber: number,
    // A row may say what cannot be: checks find that, and it must not take others with it.
    lastNumber: random.pick([number + random.below(2 ** 31), random.below(number)]),
    whole: random.below(2) === 0,
    ofsFloor: floor(),
    baseFloor: floor(),
  };
}

/** Rows of one push of chunks of 2 MB. */
function makePush(random: Random, firstId: number, count: number): SealedRow[] {
  return Array.from({ length: count }, (_, i) => ({
    id: firstId + i,
    key: `${REPOSITORY}/chunks/6ba7b810-9dad-11d1-80b4-00c04fd430c8/${i}`,
    start: 0,
    size: 1_999_000 + random.below(1_000),
    checksum: random.bytes(20),
    push: 900,
    packOffset: 12 + i * 2_000_000,
    firstNumber: (firstId + i) * 200,
    lastNumber: (firstId + i) * 200 + 199,
    whole: true,
    ofsFloor: (firstId + i) * 200 + random.below(100),
    baseFloor: Math.max(1, (firstId + i) * 200 - random.below(1_000)),
  }));
}

function open(): { sql: NodeSql; chunks: SealedChunks } {
  const sql = new NodeSql();
  createRepository(sql, { key: "key", createdMs: 1, fsck: "default" });
  return { sql, chunks: new SealedChunks(sql) };
}

const sizes = (sql: NodeSql): number[] =>
  sql
    .exec<{ bytes: number }>("SELECT length(chunks) AS bytes FROM sealed_chunks ORDER BY first")
    .toArray()
    .map(({ bytes }) => bytes);

describe("a page", () => {
  test.each([1, 2, 500])("of %i rows of any width comes back", (count) => {
    const random = new Random(count);
    const rows = Array.from({ length: count }, (_, i) => makeWild(random, 3 + i * 7));
    const page = new ChunkPage(2, encodeChunkPage(rows));
    expect([...page.rows()]).toEqual(rows.map((row) => [row.id, row]));
    expect([page.first, page.last]).toEqual([2, rows.at(-1)!.id]);
    expect(page.sizeBytes).toBe(rows.reduce((sum, { size }) => sum + size, 0));
  });

  test("takes 45 bytes for a chunk of a large push", () => {
    const rows = makePush(new Random(1), 40_000, PAGE_CHUNKS);
    expect(encodeChunkPage(rows).length / PAGE_CHUNKS).toBeLessThan(45);
  });

  test("that is cut is an error, wherever it ends", () => {
    const bytes = encodeChunkPage(makePush(new Random(1), 5, 20));
    for (let length = 0; length < bytes.length; length++) {
      expect(() => new ChunkPage(0, bytes.slice(0, length)).rows()).toThrow("storage failed at sealed_chunks");
    }
  });

  test("fits a row with the longest keys", () => {
    const rows = makePush(new Random(1), 5, PAGE_CHUNKS);
    // Nothing in common.
    const long = rows.map((row) => ({ ...row, key: String.fromCharCode(row.id % 256) + "k".repeat(1_023) }));
    expect(encodeChunkPage(long).length).toBeLessThan(BLOB_MAX_BYTES);
  });
});

describeSome(1, [1, 2, 3], "seed %i", (seed) => {
  test("chunks come back, in whatever order they are written, changed and removed", { tags: "sweep" }, () => {
    const random = new Random(seed);
    const { sql, chunks } = open();
    const expected = new Map<number, SealedRow>();
    let last = 0;
    const pickSome = (part: number): number[] => [...expected.keys()].filter(() => random.below(part) === 0);
    for (let step = 0; step < 40; step++) {
      // Ids are left out: of chunks that are inline, and come later.
      const ids = new Set(pickSome(random.pick([2, 50, 1_000])));
      for (let i = random.pick([0, 1, 30, 700, 2_000]); i > 0; i--) ids.add((last += 1 + random.below(3)));
      for (let i = random.below(3); i > 0; i--) ids.add(1 + random.below(last + 1));
      const rows = [...ids].toSorted((a, b) => a - b).map((id) => makeWild(random, id));
      for (const row of rows) expected.set(row.id, row);
      chunks.put(rows);
      if (step % 6 === 5) {
        const gone = new Set([...pickSome(random.pick([1, 2, 100])), last + 5]);
        for (const id of gone) expected.delete(id);
        chunks.remove(gone);
      }
      if (step % 10 !== 9) continue;
      const all = [...expected.values()].sort((a, b) => a.id - b.id);
      for (const opened of [chunks, new SealedChunks(sql)]) {
        expect([...opened.all()]).toEqual(all);
        expect(opened.lastId()).toBe(all.at(-1)?.id ?? 0);
        expect(opened.sizeBytes()).toBe(all.reduce((sum, { size }) => sum + size, 0));
        const byKey = Map.groupBy(all, ({ key }) => key);
        const summed = [...byKey].map(([key, own]) => [key, own.reduce((sum, { size }) => sum + size, 0)]);
        expect(opened.bytesByKey()).toEqual(new Map(summed as [string, number][]));
        for (const id of [0, 1, 2, random.below(last + 2), last, last + 1]) {
          expect(opened.find(id)).toEqual(expected.get(id) ?? null);
          expect(opened.next(id)).toEqual(all.find((row) => row.id > id) ?? null);
        }
      }
    }
  });
});

test("a first push of 100 chunks writes one row, and 50,000 chunks are 49", { tags: "sweep" }, () => {
  const random = new Random(1);
  const { sql, chunks } = open();
  chunks.put(makePush(random, 1, 100));
  expect(sizes(sql)).toHaveLength(1);
  for (let id = 101; id < 50_000; id += 499) chunks.put(makePush(random, id, 499));
  expect(sizes(sql)).toHaveLength(49);
  expect(Math.max(...sizes(sql))).toBeLessThan(65_536);
});

test("a push moves no chunk to another page, and fills the last one first", { tags: "sweep" }, () => {
  const random = new Random(1);
  const { sql, chunks } = open();
  const pages = (): number[][] =>
    sql
      .exec<{ first: number; chunks: ArrayBuffer }>("SELECT first, chunks FROM sealed_chunks ORDER BY first")
      .toArray()
      .map((page) => [...new ChunkPage(page.first, new Uint8Array(page.chunks)).rows().keys()]);
  for (let id = 1; id < 8_000; id += 700) {
    const before = pages();
    chunks.put(makePush(random, id, 700));
    const after = pages();
    before.forEach((ids, i) => expect(after[i]!.slice(0, ids.length)).toEqual(ids));
    expect(after.slice(0, -1).every(({ length }) => length === PAGE_CHUNKS)).toBe(true);
  }
});

test("chunks that are sealed among those of full pages leave no page nearly empty", { tags: "sweep" }, () => {
  const { sql, chunks } = open();
  const random = new Random(1);
  const isLate = ({ id }: SealedRow): boolean => id % 3 === 0;
  const all = makePush(random, 1, 3 * PAGE_CHUNKS);
  chunks.put(all.filter((row) => !isLate(row)));
  for (const row of all.filter(isLate)) chunks.put([row]);
  expect(sizes(sql).length).toBeLessThan(7);
  expect([...chunks.all()]).toEqual(all);
});
