import { describe, expect, test } from "vitest";
import { OID_BYTES } from "../../../../src/base/format/oid.ts";
import { CommitGraph } from "../../../../src/object/store/graph/commit-graph.ts";
import type { NewNode } from "../../../../src/object/store/graph/parents-first.ts";
import { NumberSet } from "../../../../src/base/numbers/number-set.ts";
import { newObjectColumns } from "../../../../src/object/store/index/object-columns.ts";
import { ObjectIndex } from "../../../../src/object/store/index/object-index.ts";
import { Reachability } from "../../../../src/object/store/graph/reachability.ts";
import type { Sql } from "../../../../src/object/store/sql/sql.ts";
import { withDatabase } from "../database.ts";
import { Random } from "../../../harness/random.ts";

interface History {
  readonly graph: CommitGraph;
  readonly reachability: Reachability;
  /** Every object that a commit reaches, with itself, by definition. */
  readonly closures: Map<number, Set<number>>;
  readonly commits: number[];
}

const sorted = (numbers: Iterable<number>): number[] => [...numbers].sort((a, b) => a - b);

/** Commits with snapshots of random objects, which come and go: many are introduced more than once.
 * Some objects belong to no commit. */
function makeHistory(sql: Sql, random: Random, commitCount: number, objectCount: number): History {
  const objects = new ObjectIndex(sql);
  const graph = CommitGraph.load(sql);
  const reachability = new Reachability(sql, objects, graph);
  const nodes: NewNode[] = [];
  const closures = new Map<number, Set<number>>();
  const introducers = new Map<number, number[]>();
  const introduced = new Map<number, number[]>();
  for (let i = 0; i < commitCount; i++) {
    const number = objectCount + 1 + i;
    const parents = new Set<number>();
    for (let p = random.below(3); p > 0 && i > 0; p--) parents.add(nodes[Math.max(0, i - 1 - random.below(8))]!.number);
    nodes.push({ number, parents: [...parents], tree: 0, time: i });
    const inherited = new Set([...parents].flatMap((parent) => [...closures.get(parent)!]));
    const own = [number, ...Array.from({ length: random.below(30) }, () => 1 + random.below(objectCount - 5))];
    const fresh = sorted(new Set(own.filter((object) => !inherited.has(object))));
    closures.set(number, new Set([...inherited, ...own]));
    introduced.set(number, fresh);
    for (const object of fresh) introducers.set(object, [...(introducers.get(object) ?? []), number]);
  }
  const rows = newObjectColumns(objectCount + commitCount);
  rows.oid.set(random.bytes(rows.number.length * OID_BYTES));
  rows.number.forEach((_, i) => {
    rows.number[i] = i + 1;
    rows.introducer[i] = introducers.get(i + 1)?.[0] ?? 0;
  });
  objects.insertMany(rows);
  graph.append(nodes);
  graph.write(
    sql,
    0,
    nodes.map((_, p) => NumberSet.fromSorted(introduced.get(graph.number(p))!)),
  );
  for (const { number } of nodes) {
    const again = introduced.get(number)!.filter((object) => introducers.get(object)![0] !== number);
    reachability.reintroduce(again.map((object) => ({ object, introducer: number })));
  }
  return { graph, reachability, closures, commits: nodes.map(({ number }) => number) };
}

describe.each([1, 2, 3, 4, 5, 6, 7, 8])("a random history, seed %i", (seed) => {
  test("what lies between two sets of commits is exact", () =>
    withDatabase((sql) => {
      const random = new Random(seed);
      const { graph, reachability, closures, commits } = makeHistory(sql, random, 20 * seed, 60 * seed);
      const pick = (count: number): number[] =>
        Array.from({ length: count }, () => commits[random.below(commits.length)]!);
      const closure = (of: readonly number[]) => graph.ancestors(of.map((number) => graph.position(number)));
      const reached = (of: readonly number[]) => new Set(of.flatMap((number) => [...closures.get(number)!]));
      const cases: [number[], number[]][] = [
        [commits, []],
        [[], commits],
        [commits, commits],
      ];
      for (let k = 0; k < 60; k++) cases.push([pick(1 + random.below(4)), pick(random.below(3))]);
      for (const [wants, haves] of cases) {
        const had = reached(haves);
        const expected = sorted(reached(wants)).filter((object) => !had.has(object));
        expect([...reachability.between(closure(wants), closure(haves)).toArray()]).toEqual(expected);
        const some = Array.from({ length: 60 * seed }, (_, i) => i + 1).filter(() => random.below(2) > 0);
        const within = reachability.within(NumberSet.fromSorted(some), closure(haves));
        expect([...within.toArray()]).toEqual(some.filter((object) => had.has(object)));
      }
    }));
});

test("nothing is reachable in an empty repository", () =>
  withDatabase((sql) => {
    const graph = CommitGraph.load(sql);
    const reachability = new Reachability(sql, new ObjectIndex(sql), graph);
    expect(reachability.between(graph.ancestors([]), graph.ancestors([])).size).toBe(0);
  }));
