import { expect, test } from "vitest";
import { openNodes, readAllNodes, type StoredNode } from "../../../../src/object/store/index/node-pages.ts";
import { APPENDED_BYTES, PAGE_BYTES } from "../../../../src/object/store/index/record-pages.ts";
import { NumberSet } from "../../../../src/base/numbers/number-set.ts";
import { createRepository } from "../../../../src/object/store/sql/schema.ts";
import { Random } from "../../../harness/random.ts";
import { NodeSql } from "../../sqlite.ts";
import { describeSome } from "../../../harness/sweep.ts";

function open(): NodeSql {
  const sql = new NodeSql();
  createRepository(sql, { key: "key", createdMs: 1, fsck: "default" });
  return sql;
}

function makeNode(random: Random, number: number): StoredNode {
  const parents = random.below(9) === 0 ? random.below(5) : 1;
  return {
    number,
    parents: Array.from({ length: parents }, () => 1 + random.below(number + 100)),
    tree: random.below(10) === 0 ? 0 : 1 + random.below(2 * number),
    generation: 1 + random.below(100_000),
    time: random.pick([0, 1_700_000_000 + random.below(9_999), 2 ** 40, 2 ** 63]),
    introduced: random.bytes(random.below(30)),
  };
}

const list = (sql: NodeSql): StoredNode[] => [...openNodes(sql).read(NumberSet.range(1, 2 ** 31))];
const pages = (sql: NodeSql): number[] =>
  sql
    .exec<{ bytes: number }>("SELECT length(nodes) AS bytes FROM commits ORDER BY first")
    .toArray()
    .map(({ bytes }) => bytes);

describeSome(1, [1, 2, 3], "seed %i", (seed) => {
  test("nodes come back, however many are written at once, in whatever order, and some removed", () => {
    const random = new Random(seed);
    const sql = open();
    const nodes = new Map<number, StoredNode>();
    let last = 0;
    for (let push = 0; push < 60; push++) {
      const added: StoredNode[] = [];
      for (let i = random.pick([1, 1, 2, 40, 900]); i > 0; i--)
        added.push(makeNode(random, (last += 1 + random.below(3))));
      // A ref may point directly at an object that has been there for long.
      const early = 1 + random.below(last);
      if (!nodes.has(early) && added.every(({ number }) => number !== early)) added.push(makeNode(random, early));
      for (const node of added) nodes.set(node.number, node);
      openNodes(sql).write(added.toSorted((a, b) => a.number - b.number));
      if (push % 20 !== 19) continue;
      const removed = NumberSet.fromUnsorted([...nodes.keys()].filter(() => random.below(3) === 0));
      openNodes(sql).remove(removed);
      for (const number of removed.toArray()) nodes.delete(number);
    }
    const expected = [...nodes.values()].sort((a, b) => a.number - b.number);
    expect(list(sql)).toEqual(expected);
    const columns = readAllNodes(sql);
    expect(columns).toHaveLength(expected.length);
    expect([...columns.numbers.subarray(0, expected.length)]).toEqual(expected.map(({ number }) => number));
    expect([...columns.times.subarray(0, expected.length)]).toEqual(expected.map(({ time }) => time));
    expected.forEach(({ tree, generation, parents }, i) => {
      const own = columns.parents.subarray(columns.parentStarts[i], columns.parentStarts[i + 1]);
      expect([columns.trees[i], columns.generations[i], [...own]]).toEqual([tree, generation, parents]);
    });
    const some = NumberSet.fromUnsorted([...nodes.keys()].filter(() => random.below(50) === 0));
    expect([...openNodes(sql).read(some)]).toEqual(expected.filter(({ number }) => some.has(number)));
    expect(pages(sql).every((bytes) => bytes <= PAGE_BYTES)).toBe(true);
  });
});

test("100,000 commits, pushed one by one, are few rows", { tags: "sweep" }, () => {
  const sql = open();
  for (let number = 1; number <= 100_000; number++) {
    const introduced = NumberSet.of(number).encode();
    openNodes(sql).write([
      {
        number,
        parents: number === 1 ? [] : [number - 1],
        tree: number,
        generation: number,
        time: 1_700_000_000,
        introduced,
      },
    ]);
  }
  expect(pages(sql).length).toBeLessThan(40);
  expect(Math.max(...pages(sql))).toBeLessThanOrEqual(APPENDED_BYTES);
  expect(readAllNodes(sql)).toHaveLength(100_000);
});

test("pages grow further when much is added at a time", { tags: "sweep" }, () => {
  const sql = open();
  const random = new Random(1);
  const nodes = Array.from({ length: 50_000 }, (_, i) => makeNode(random, i + 1));
  for (let from = 0; from < nodes.length; from += 2_500) openNodes(sql).write(nodes.slice(from, from + 2_500));
  expect(list(sql)).toEqual(nodes);
  const sizes = pages(sql);
  expect(Math.max(...sizes)).toBeGreaterThan(PAGE_BYTES / 2);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(PAGE_BYTES);
});

test("a node that fills a row has a page of its own, and one that does not fit is refused", { tags: "sweep" }, () => {
  const sql = open();
  const node = (number: number, bytes: number): StoredNode => ({
    number,
    parents: [],
    tree: 1,
    generation: 1,
    time: 1,
    introduced: new Uint8Array(bytes),
  });
  const nodes = [node(1, 3), node(2, 1_900_000), node(3, 3)];
  openNodes(sql).write(nodes);
  expect(list(sql)).toEqual(nodes);
  expect(() => openNodes(sql).write([node(4, 2_000_000)])).toThrow(
    "a commit's set of new objects exceeds the limit of 2000000",
  );
  const many = { ...node(4, 1), parents: Array.from({ length: 500_000 }, () => 1) };
  expect(() => openNodes(sql).write([many])).toThrow("a commit's parents exceeds the limit of 2000000");
});

test("pages that are cut or say another count are an error", () => {
  const sql = open();
  openNodes(sql).write(Array.from({ length: 50 }, (_, i) => makeNode(new Random(i), i + 1)));
  const [{ nodes }] = sql.exec<{ nodes: ArrayBuffer }>("SELECT nodes FROM commits").toArray() as [
    { nodes: ArrayBuffer },
  ];
  for (let length = 0; length < nodes.byteLength; length += 5) {
    sql.exec("UPDATE commits SET nodes = ?", new Uint8Array(nodes.slice(0, length)));
    expect(() => readAllNodes(sql)).toThrow("storage failed at commits");
  }
});
