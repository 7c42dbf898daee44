// What a push brings to the commit graph, and what it finds there.
import { COMMIT, TAG, TREE } from "../../base/format/object.ts";
import { OID_BYTES } from "../../base/format/oid.ts";
import type { CommitGraph } from "../store/graph/commit-graph.ts";
import type { NewNode } from "../store/graph/parents-first.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { Tables } from "../store/tables.ts";
import type { RefCommand } from "../../contract/push.ts";
import type { StoredObject, StoredObjects } from "./introduce.ts";
import type { PushedObjects } from "./pushed-objects.ts";
import type { ReturnedTrees } from "./returned-trees.ts";

/** The commands of a push, and the objects that came with them. */
interface PushedRefs {
  readonly commands: readonly RefCommand[];
  readonly pushed: PushedObjects;
}

/** The object that a command's new value names. */
export interface Target {
  readonly number: ObjectNumber;
  readonly type: number;
}

/** The object that each command's new value names; null: it is missing, or incomplete. */
export function findTargets({ objects }: Pick<Tables, "objects">, { commands, pushed }: PushedRefs): (Target | null)[] {
  const oids = new Uint8Array(commands.length * OID_BYTES);
  commands.forEach((command, i) => oids.set(command.new, i * OID_BYTES));
  const stored = objects.lookupMany(oids);
  const packNodes = pushed.findPackNodes(oids);
  return commands.map((_, i) => {
    if (stored.number[i] !== 0) return { number: stored.number[i]!, type: stored.type[i]! };
    const packNode = packNodes[i]!;
    return packNode < 0 || pushed.index.number(packNode) === 0
      ? null
      : { number: pushed.index.number(packNode), type: pushed.type(packNode) };
  });
}

/** Objects that are looked at in a step: a millisecond. */
const OBJECTS_PER_STEP = 1_024;

/** Fresh commits and tags, and trees and blobs that a ref will point to directly. */
export function* newNodes(
  graph: CommitGraph,
  pushed: PushedObjects,
  targets: readonly (Target | null)[],
): Generator<void, NewNode[]> {
  const nodes: NewNode[] = [];
  const { index } = pushed;
  for (let i = 0; i < pushed.freshCount; i++) {
    if (i % OBJECTS_PER_STEP === 0) yield;
    const entry = index.fresh(i);
    const type = index.kind(entry);
    if (type !== COMMIT && type !== TAG) continue;
    const packNode = index.nodeOf(entry);
    const named = pushed.references(packNode);
    const [first, ...rest] = named.map((target) => index.number(target));
    const targetType = pushed.type(named[0]!);
    const isTagOfNode = type === TAG && (targetType === COMMIT || targetType === TAG);
    nodes.push({
      number: index.number(packNode),
      parents: isTagOfNode ? [first!] : rest,
      tree: isTagOfNode ? 0 : first!,
      time: pushed.time(packNode),
    });
  }
  const direct = new Set<ObjectNumber>();
  for (const target of targets) {
    if (target === null || target.type === COMMIT || target.type === TAG) continue;
    if (graph.position(target.number) < 0) direct.add(target.number);
  }
  for (const number of direct) nodes.push({ number, parents: [], tree: number, time: 0 });
  return nodes;
}

/** What is known of the stored objects that a push mentions, and what more it asks.
 * @param returned stored trees that have been read */
export function storedObjects(
  { objects, reachability }: Pick<Tables, "objects" | "reachability">,
  pushed: PushedObjects,
  returned: ReturnedTrees,
): StoredObjects {
  const known = new Map<ObjectNumber, StoredObject>();
  const add = (number: ObjectNumber, introducer: ObjectNumber, type: number): void => {
    known.set(number, { introducers: introducer === 0 ? [] : [introducer], isTree: type === TREE });
  };
  const addSeveral = (some: Iterable<ObjectNumber>): void => {
    const several = reachability.severalIntroducers(NumberSet.fromUnsorted(some));
    for (const [number, introducers] of several) known.set(number, { introducers, isTree: known.get(number)!.isTree });
  };
  const { numbers, introducers, types } = pushed.stored;
  numbers.forEach((number, i) => add(number, introducers[i]!, types[i]!));
  addSeveral(numbers);
  return {
    get: (number) => {
      if (!known.has(number)) {
        const { introducer, type } = objects.locate(NumberSet.of(number));
        add(number, introducer[0]!, type[0]!);
        addSeveral([number]);
      }
      return known.get(number)!;
    },
    entries: (tree) => returned.entries(tree),
  };
}
