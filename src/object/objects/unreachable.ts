import type { PositionSet } from "../store/graph/commit-graph.ts";
import type { GraphPosition, ObjectNumber } from "../../base/numbers/kinds.ts";
import { TREE } from "../../base/format/object.ts";
import { Bitset } from "../../base/numbers/bitset.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { Tables } from "../store/tables.ts";

/** Nodes and objects that may be removed. */
export interface Unreachable {
  /** Numbers of graph nodes. Their descendants are included, so that the parents of each remaining
   * node remain. */
  readonly nodes: NumberSet;
  readonly objects: NumberSet;
  /** Remaining objects that lose their first introducer, with its successor; 0: no other node
   * reaches the object. */
  readonly orphaned: readonly { object: ObjectNumber; introducer: ObjectNumber }[];
  /** Whether one run cannot remove everything. */
  readonly isPart: boolean;
}

/** Nodes and objects that must not be removed yet: the number from which objects are recent, the
 * nodes that refs or recent pushes reach, and recent unreferenced trees and blobs. */
export interface Kept {
  readonly recentFrom: ObjectNumber;
  readonly nodes: PositionSet;
  readonly recentObjects: NumberSet;
}

/** Start of the recent pushes, for `findKept`: the grace period, and the start of the oldest upload
 * session, whose objects no ref reaches until it ends. */
export function recentSince({ uploads }: Tables, nowMs: number, graceMs: number): number {
  return Math.min(nowMs - graceMs, uploads.oldestStartMs() ?? Infinity);
}

/** Finds everything that must stay: objects that refs reach, the old and new values of refs in
 * pushes since `cutoffMs`, and the objects of these pushes. */
export function findKept({ refs, pushes, objects, graph }: Tables, cutoffMs: number): Kept {
  const recent = pushes.since(cutoffMs);
  const recentFrom = objects.lastNumber() + 1 - recent.objects;
  const positions: GraphPosition[] = [];
  for (const oids of [refs.all().oids, recent.oids]) {
    for (const number of objects.lookupMany(oids).number) if (number !== 0) positions.push(graph.position(number));
  }
  for (let position = 0; position < graph.length; position++) {
    if (graph.number(position) >= recentFrom) positions.push(position);
  }
  const nodes = graph.ancestors(positions);
  const recentNumbers = NumberSet.range(recentFrom, objects.lastNumber() + 1);
  return { recentFrom, nodes, recentObjects: objects.unintroduced().intersection(recentNumbers) };
}

/** Finds the trees among `recentObjects`: only a walk finds the objects that they reach. */
export function recentTrees({ objects }: Tables, { recentObjects }: Kept): NumberSet {
  const { number, type } = objects.locate(recentObjects);
  return NumberSet.fromSorted(number.filter((_, i) => type[i] === TREE));
}

/** Finds the nodes and objects that one run can remove: the newest of the removable nodes, and the
 * objects that only they introduced.
 * @param walked the objects that recent trees reach
 * @param most limit of the objects, unless a single node introduced more */
export function findUnreachable(tables: Tables, kept: Kept, walked: NumberSet, most: number): Unreachable {
  const { graph, objects, reachability } = tables;
  const all = new Bitset<GraphPosition>(graph.length);
  all.addRange(0, graph.length);
  const dead = [...all.difference(kept.nodes)].toReversed();
  let chosen = new Bitset<GraphPosition>(graph.length);
  let count = dead.length;
  let introduced = NumberSet.EMPTY;
  for (; ; count = Math.ceil(count / 2)) {
    chosen = new Bitset<GraphPosition>(graph.length);
    for (const position of dead.slice(0, count)) chosen.add(position);
    introduced = reachability.introducedBy(chosen);
    if (introduced.size <= most || count <= 1) break;
  }
  const stays = (introducer: ObjectNumber): boolean => !chosen.has(graph.position(introducer));
  const successors = new Map<ObjectNumber, ObjectNumber>();
  for (const [object, nodes] of reachability.severalIntroducers(introduced)) {
    const successor = nodes.find(stays);
    if (successor !== undefined) successors.set(object, successor);
  }
  for (const object of introduced.intersection(walked).toArray())
    if (!successors.has(object)) successors.set(object, 0);
  const staying = NumberSet.fromUnsorted(successors.keys());
  const { number, introducer } = objects.locate(staying);
  const orphaned = Array.from(number, (object, i) => ({ object, former: introducer[i]! }))
    .filter(({ former }) => !stays(former))
    .map(({ object }) => ({ object, introducer: successors.get(object)! }));
  const oldObjects = objects.unintroduced().difference(kept.recentObjects).difference(walked);
  return {
    nodes: graph.numbers(chosen),
    objects: introduced.difference(staying).union(oldObjects),
    orphaned,
    isPart: count < dead.length,
  };
}
