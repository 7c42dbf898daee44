import { expect, test } from "vitest";
import { CHANGES_ALL, hashPath, makePathFilter } from "../../../../src/base/format/path-filter.ts";
import { CommitGraph } from "../../../../src/object/store/graph/commit-graph.ts";
import {
  openPathFilters,
  PathFilterTable,
  type StoredFilter,
} from "../../../../src/object/store/graph/path-filter-table.ts";
import { openNodes } from "../../../../src/object/store/index/node-pages.ts";
import { NumberSet } from "../../../../src/base/numbers/number-set.ts";
import { createRepository } from "../../../../src/object/store/sql/schema.ts";
import { NodeSql } from "../../sqlite.ts";

/** A linear history, whose commits have every third number. */
function open(commits: number): NodeSql {
  const sql = new NodeSql();
  createRepository(sql, { key: "key", createdMs: 1, fsck: "default" });
  openNodes(sql).write(
    Array.from({ length: commits }, (_, i) => {
      const parents = i === 0 ? [] : [3 * i];
      return { number: 3 * i + 3, parents, tree: 1, generation: i + 1, time: 1, introduced: new Uint8Array() };
    }),
  );
  return sql;
}

const pathOf = (number: number): string => `dir/file-${number}`;

function makeFilter(number: number): StoredFilter {
  return { number, filter: makePathFilter(new Set(["dir", pathOf(number)])) };
}

/** Expects of every 97th commit that it may have changed its own file and no other. */
function expectAll(table: PathFilterTable, graph: CommitGraph): void {
  for (let p = 0; p < graph.length; p += 97) {
    const number = graph.number(p);
    const ruledOut = ["dir", pathOf(number), pathOf(number + 1)].map((path) => table.rulesOut(p, hashPath(path)));
    expect([number, table.has(p), ruledOut]).toEqual([number, true, [false, false, true]]);
  }
}

test("20,000 filters, added by hundreds, come back from few rows", () => {
  const sql = open(20_000);
  const graph = CommitGraph.load(sql);
  const table = new PathFilterTable(sql, graph);
  const numbers = [...table.missing()];
  expect([numbers.length, table.lastNumber(), table.has(5)]).toEqual([20_000, 0, false]);
  expect(table.rulesOut(5, hashPath("any"))).toBe(false);
  for (let from = 0; from < numbers.length; from += 400) table.add(numbers.slice(from, from + 400).map(makeFilter));
  expectAll(table, graph);
  const read = new PathFilterTable(sql, graph);
  expect([read.missing().length, read.lastNumber()]).toEqual([0, 60_000]);
  expectAll(read, graph);
  expect(sql.exec("SELECT first FROM path_filters").toArray().length).toBeLessThan(10);
});

test("filters that are removed are missing, and are added again among the others", () => {
  const sql = open(5_000);
  const graph = CommitGraph.load(sql);
  const table = new PathFilterTable(sql, graph);
  table.add([...table.missing()].map(makeFilter));
  const removed = NumberSet.fromUnsorted([3, 300, 303, 9_000, 15_000]);
  table.remove(removed);
  const read = new PathFilterTable(sql, graph);
  expect([...read.missing()]).toEqual([3, 300, 303, 9_000, 15_000]);
  expect([read.has(graph.position(300)), read.lastNumber()]).toEqual([false, 14_997]);
  read.add([...removed.toArray()].map(makeFilter));
  expectAll(read, graph);
  expect([...new PathFilterTable(sql, graph).missing()]).toEqual([]);
});

test("nodes that come after the filters were read have none, until they are added", () => {
  const sql = open(10);
  const graph = CommitGraph.load(sql);
  const table = new PathFilterTable(sql, graph);
  table.add([...table.missing()].map(makeFilter));
  expect(table.has(9)).toBe(true);
  graph.append([{ number: 40, parents: [30], tree: 1, time: 1 }]);
  expect([table.has(10), table.rulesOut(10, hashPath("any"))]).toEqual([false, false]);
  table.add([{ number: 40, filter: CHANGES_ALL }]);
  expect([table.has(10), table.rulesOut(10, hashPath("any")), table.rulesOut(9, hashPath("any"))]).toEqual([
    true,
    false,
    true,
  ]);
});

test("a page that is cut is told as such", () => {
  const sql = open(10);
  const graph = CommitGraph.load(sql);
  new PathFilterTable(sql, graph).add([makeFilter(3)]);
  sql.exec("UPDATE path_filters SET filters = substr(filters, 1, length(filters) - 1)");
  expect(() => new PathFilterTable(sql, graph).has(0)).toThrow("path_filters");
  expect(() => [...openPathFilters(sql).all()]).toThrow("a page is cut");
});
