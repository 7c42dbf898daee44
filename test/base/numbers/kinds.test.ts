import { expect, test } from "vitest";
import type { PackEntry, PackNode } from "../../../src/base/codec/pack-index.ts";
import type { Column } from "../../../src/base/format/kinds.ts";
import type { PushedObjects } from "../../../src/object/push/pushed-objects.ts";
import { CommitGraph, type PositionSet } from "../../../src/object/store/graph/commit-graph.ts";
import type { Reachability } from "../../../src/object/store/graph/reachability.ts";
import type { ChunkTable } from "../../../src/object/store/index/chunk-table.ts";
import type { ObjectIndex } from "../../../src/object/store/index/object-index.ts";
import type { EntryWord, TreeTable } from "../../../src/object/store/index/tree-table.ts";
import { Bitset } from "../../../src/base/numbers/bitset.ts";
import type { ChunkId, GraphPosition, ObjectNumber } from "../../../src/base/numbers/kinds.ts";
import { NumberSet } from "../../../src/base/numbers/number-set.ts";

/** `tsc` refuses each line, and would report the comment above a line that it accepts. The function
 * never runs. */
export const MIXED_UP = (
  stores: {
    graph: CommitGraph;
    objects: ObjectIndex;
    chunks: ChunkTable;
    trees: TreeTable;
    reachability: Reachability;
    pushed: PushedObjects;
  },
  number: ObjectNumber,
  position: GraphPosition,
  chunk: ChunkId,
  packNode: PackNode,
  packEntry: PackEntry,
  word: EntryWord,
): unknown[] => {
  const { graph, objects, chunks, trees, reachability, pushed } = stores;
  return [
    // @ts-expect-error -- a position is no object number
    graph.position(position),
    // @ts-expect-error -- an object number is no position
    graph.number(number),
    // @ts-expect-error -- parents are looked up by position
    graph.parents(number),
    // @ts-expect-error -- nor is the tree of a node
    graph.tree(graph.number(position)),
    // @ts-expect-error -- parents are positions, not numbers
    graph.position(graph.parents(position)[0]!),
    // @ts-expect-error -- the walk goes by positions
    graph.ancestors([number]),
    // @ts-expect-error -- a set of object numbers has no positions in it
    reachability.introducedBy(new Bitset<ObjectNumber>(1)),
    // @ts-expect-error -- a set of positions is none of object numbers
    NumberSet.fromUnsorted(graph.ancestors([position])),
    // @ts-expect-error -- objects are located by number
    objects.locate(NumberSet.of(position)),
    // @ts-expect-error -- a chunk is no object
    objects.locate(NumberSet.of(chunk)),
    // @ts-expect-error -- an object is in a chunk, and is none
    chunks.byIds([number]),
    // @ts-expect-error -- a column of object numbers is no list of chunks
    chunks.byIds(objects.locate(NumberSet.EMPTY).number),
    // @ts-expect-error -- an entry of a tree is twice the number of its object
    NumberSet.of(word),
    // @ts-expect-error -- what a tree reaches is a list of words
    NumberSet.fromUnsorted(trees.find(NumberSet.EMPTY).get(number)!),
    // @ts-expect-error -- a node of the pack is no node of the graph
    graph.number(packNode),
    // @ts-expect-error -- an entry of the pack has a node, and is none
    pushed.oid(packEntry),
    // @ts-expect-error -- fresh objects are listed by entry
    pushed.isFresh(pushed.fresh[0]!),
    // @ts-expect-error -- a fresh object's number is not its node
    pushed.freshOid(pushed.references(packNode)[0]!),
  ];
};

/** The right kind is accepted, and plain numbers need no cast. */
test("numbers of a kind are numbers", () => {
  const graph = new CommitGraph();
  graph.append([
    { number: 5, parents: [], tree: 2, time: 1 },
    { number: 9, parents: [5], tree: 7, time: 2 },
  ]);
  const reached: PositionSet = graph.ancestors([graph.position(9)]);
  const numbers: Column<ObjectNumber> = graph.numbers(reached).toArray();
  expect([...numbers]).toEqual([5, 9]);
  expect(graph.number(graph.parents(graph.position(9))[0]!)).toBe(5);
});
