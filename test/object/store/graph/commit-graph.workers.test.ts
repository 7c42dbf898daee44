import { describe, expect, test } from "vitest";
import { CommitGraph } from "../../../../src/object/store/graph/commit-graph.ts";
import type { NewNode } from "../../../../src/object/store/graph/parents-first.ts";
import { NumberSet } from "../../../../src/base/numbers/number-set.ts";
import { CountedSql, newSqlCounters } from "../../../../src/object/store/sql/sql.ts";
import { withDatabase } from "../database.ts";
import { Random } from "../../../harness/random.ts";

/** A history of several pushes: each node's parents are in its own push or in earlier ones. Numbers
 * are in random order inside a push, so that a parent's may be higher than its child's. */
function randomPushes(random: Random, pushes: number, nodesPerPush: number): NewNode[][] {
  const known: number[] = [];
  return Array.from({ length: pushes }, (_, push) => {
    const first = push * nodesPerPush * 3 + 1;
    const numbers = random.shuffled(Array.from({ length: nodesPerPush }, (_, i) => first + 3 * i));
    const nodes = numbers.map((number) => {
      const parents = new Set<number>();
      for (let p = random.below(4); p > 0 && known.length > 0; p--) {
        // Mostly recent parents: long chains with a few merges, as in real histories.
        const back = random.below(2) > 0 ? random.below(3) : random.below(known.length);
        parents.add(known[Math.max(0, known.length - 1 - back)]!);
      }
      known.push(number);
      return { number, parents: [...parents], tree: number + 1, time: 1_700_000_000 + random.below(1000) };
    });
    return random.shuffled(nodes);
  });
}

/** Reflexive closures, by definition. */
function closures(nodes: readonly NewNode[]): Map<number, Set<number>> {
  const byNumber = new Map(nodes.map((node) => [node.number, node]));
  return new Map(
    nodes.map((node) => {
      const reached = new Set<number>();
      const pending = [node.number];
      for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
        if (reached.has(next)) continue;
        reached.add(next);
        pending.push(...byNumber.get(next)!.parents);
      }
      return [node.number, reached];
    }),
  );
}

const sorted = (numbers: Iterable<number>): number[] => [...numbers].sort((a, b) => a - b);

/** Compares every answer of the graph with brute force. */
function expectExact(graph: CommitGraph, nodes: readonly NewNode[], random: Random): void {
  const reach = closures(nodes);
  expect(graph.length).toBe(nodes.length);
  for (const node of nodes) {
    const position = graph.position(node.number);
    expect(graph.number(position)).toBe(node.number);
    expect(graph.tree(position)).toBe(node.tree);
    expect(graph.time(position)).toBe(node.time);
    const parents = [...graph.parents(position)];
    expect(parents.map((parent) => graph.number(parent))).toEqual(node.parents);
    expect(graph.generation(position)).toBe(1 + Math.max(0, ...parents.map((parent) => graph.generation(parent))));
    expect(parents.every((parent) => parent < position)).toBe(true);
    const ancestors = [...graph.ancestors([position])].map((ancestor) => graph.number(ancestor));
    expect(sorted(ancestors)).toEqual(sorted(reach.get(node.number)!));
  }
  for (let k = 0; k < 300; k++) {
    const [a, b] = [nodes[random.below(nodes.length)]!, nodes[random.below(nodes.length)]!];
    const isAncestor = graph.isAncestor(graph.position(a.number), graph.position(b.number));
    expect(isAncestor).toBe(reach.get(b.number)!.has(a.number));
  }
  const several = Array.from({ length: 3 }, () => nodes[random.below(nodes.length)]!.number);
  const union = new Set(several.flatMap((number) => [...reach.get(number)!]));
  const ancestors = graph.ancestors(several.map((number) => graph.position(number)));
  expect(sorted([...ancestors].map((position) => graph.number(position)))).toEqual(sorted(union));
  expect(graph.position(2 ** 32 - 5)).toBe(-1);
}

describe.each([1, 2, 3, 4, 5, 6])("a random history, seed %i", (seed) => {
  test("answers as brute force does, before and after it was stored", () =>
    withDatabase((sql) => {
      const random = new Random(seed);
      const pushes = randomPushes(random, 5, 10 * seed);
      const graph = CommitGraph.load(sql);
      for (const push of pushes) {
        const before = graph.length;
        graph.append(push);
        graph.write(
          sql,
          before,
          push.map(() => NumberSet.EMPTY),
        );
      }
      expectExact(graph, pushes.flat(), random);
      expectExact(CommitGraph.load(sql), pushes.flat(), random);
    }));

  test("answers so when some of it was read, and some appended since", () =>
    withDatabase((sql) => {
      const random = new Random(seed);
      const pushes = randomPushes(random, 5, 10 * seed);
      // What is read are nodes and all their ancestors: other numbers lie between theirs.
      const reach = closures(pushes.flat());
      const kept = new Set([0, 1, 2].flatMap((push) => [...reach.get(random.pick(pushes[push]!).number)!]));
      const read = pushes.flat().filter(({ number }) => kept.has(number));
      const first = new CommitGraph();
      first.append(read);
      first.write(
        sql,
        0,
        read.map(() => NumberSet.EMPTY),
      );
      const graph = CommitGraph.load(sql);
      const rest = pushes.flat().filter((node) => !read.includes(node));
      graph.append(rest);
      expectExact(graph, pushes.flat(), random);
      const copy = graph.copy();
      graph.truncate(read.length);
      expectExact(graph, read, random);
      for (const { number } of rest) expect(graph.position(number)).toBe(-1);
      expectExact(copy, pushes.flat(), random);
      graph.adopt(copy);
      expectExact(graph, pushes.flat(), random);
    }));

  test("takes nodes back", () =>
    withDatabase((sql) => {
      const random = new Random(seed);
      const pushes = randomPushes(random, 4, 30);
      const graph = CommitGraph.load(sql);
      for (const push of pushes.slice(0, 3)) graph.append(push);
      const length = graph.length;
      graph.append(pushes[3]!);
      graph.truncate(length);
      for (const { number } of pushes[3]!) expect(graph.position(number)).toBe(-1);
      expectExact(graph, pushes.slice(0, 3).flat(), random);
      graph.append(pushes[3]!);
      expectExact(graph, pushes.flat(), random);
      graph.truncate(0);
      expect(graph.length).toBe(0);
      expect([...graph.ancestors([])]).toEqual([]);
    }));
});

const node = (number: number, ...parents: number[]): NewNode => ({ number, parents, tree: 0, time: 0 });

test("an old object can become a node, and have a lower number than the nodes before", () =>
  withDatabase((sql) => {
    const graph = CommitGraph.load(sql);
    graph.append([node(10), node(20, 10)]);
    graph.append([node(5)]);
    graph.append([node(30, 20, 5)]);
    expect([...graph.ancestors([graph.position(30)])].map((p) => graph.number(p))).toEqual([10, 20, 5, 30]);
    graph.write(
      sql,
      0,
      [1, 2, 3, 4].map(() => NumberSet.EMPTY),
    );
    expect(CommitGraph.load(sql).isAncestor(0, 3)).toBe(true);
  }));

test.each([
  ["an unknown parent", [node(1), node(2, 9)], "parent 9"],
  ["a node twice", [node(1), node(7)], "in the graph already"],
  ["a cycle", [node(1), node(2, 3), node(3, 2)], "its own ancestor"],
])("refuses %s and stays as it was", (_, nodes, reason) =>
  withDatabase((sql) => {
    const graph = CommitGraph.load(sql);
    graph.append([node(7)]);
    expect(() => graph.append(nodes)).toThrow(reason);
    expect(graph.length).toBe(1);
    expect(graph.position(1)).toBe(-1);
    expect(graph.position(7)).toBe(0);
  }),
);

test("an octopus keeps its 300 parents in order", () =>
  withDatabase((sql) => {
    const graph = CommitGraph.load(sql);
    const roots = Array.from({ length: 300 }, (_, i) => node(i + 1));
    const parents = new Random(1).shuffled(roots.map(({ number }) => number));
    graph.append([node(1000, ...parents), ...roots]);
    graph.write(
      sql,
      0,
      Array.from({ length: 301 }, () => NumberSet.EMPTY),
    );
    for (const each of [graph, CommitGraph.load(sql)]) {
      expect([...each.parents(each.position(1000))].map((p) => each.number(p))).toEqual(parents);
    }
  }));

test("100,000 commits in a row: 4 MB, a row for thousands of them, and no recursion", { tags: "sweep" }, () =>
  withDatabase((sql, transactor) => {
    const graph = CommitGraph.load(sql);
    const nodes = Array.from({ length: 100_000 }, (_, i) => node(100_000 - i, ...(i < 99_999 ? [99_999 - i] : [])));
    graph.append(nodes);
    expect(graph.byteLength).toBeLessThanOrEqual(4 * 1024 * 1024);
    transactor.transactionSync(() =>
      graph.write(
        sql,
        0,
        nodes.map(({ number }) => NumberSet.of(number)),
      ),
    );
    const counters = newSqlCounters();
    const loaded = CommitGraph.load(new CountedSql(sql, counters));
    expect(counters.rowsRead).toBeLessThanOrEqual(30);
    expect(loaded.byteLength).toBeLessThanOrEqual(4 * 1024 * 1024);
    expect(loaded.generation(99_999)).toBe(100_000);
    expect(loaded.ancestors([99_999]).count()).toBe(100_000);
    expect(loaded.isAncestor(0, 99_999)).toBe(true);
  }),
);
