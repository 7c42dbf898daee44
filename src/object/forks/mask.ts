import { Bitset } from "../../base/numbers/bitset.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { GraphPosition } from "../../base/numbers/kinds.ts";
import type { PositionSet } from "../store/graph/commit-graph.ts";
import type { Tables } from "../store/tables.ts";
import { findUnreachable, type Unreachable } from "../objects/unreachable.ts";

/** Removes all objects and nodes that some refs do not reach, as if they had never been there; must
 * run in a transaction. Those that others are deltas on are hidden. The graph in memory is not
 * changed: reopen the tables.
 * @param oids packed: what the refs point at */
export function keepOnly(tables: Tables, oids: Uint8Array): void {
  const unreachable = findUnreachable(tables, reachedBy(tables, oids, NumberSet.EMPTY), NumberSet.EMPTY, Infinity);
  remove(tables, unreachable, unreachable.objects.union(tables.objects.hidden()));
}

/** Like `keepOnly`, of what was entered last: all else stays.
 * @param entered numbers of objects
 * @returns whether anything was removed */
export function removeUnused(tables: Tables, oids: Uint8Array, entered: NumberSet): boolean {
  const { graph, objects } = tables;
  const kept = reachedBy(tables, oids, objects.unintroduced());
  const stays: PositionSet = new Bitset<GraphPosition>(graph.length);
  for (let position = 0; position < graph.length; position++) {
    if (kept.nodes.has(position) || !entered.has(graph.number(position))) stays.add(position);
  }
  const unreachable = findUnreachable(tables, { ...kept, nodes: stays }, NumberSet.EMPTY, Infinity);
  const others = unreachable.objects.difference(entered).toArray();
  const orphaned = [...unreachable.orphaned, ...Array.from(others, (object) => ({ object, introducer: 0 }))];
  return remove(
    tables,
    { ...unreachable, orphaned },
    unreachable.objects.union(objects.hidden()).intersection(entered),
  );
}

function reachedBy({ graph, objects }: Tables, oids: Uint8Array, recentObjects: NumberSet) {
  const tips = objects.lookupMany(oids).number;
  const nodes = graph.ancestors(Array.from(tips, (number) => graph.position(number)));
  return { recentFrom: objects.lastNumber() + 1, nodes, recentObjects };
}

/** @returns whether there was anything to remove */
function remove(tables: Tables, { nodes, orphaned }: Unreachable, unwanted: NumberSet): boolean {
  const { objects, chunks, reachability } = tables;
  if (unwanted.size === 0 && nodes.size === 0) return false;
  const dependents = objects.dependents(unwanted);
  const bases = objects.withBases(dependents.difference(unwanted)).intersection(unwanted);
  const removed = unwanted.difference(bases);
  // Those of a push that came while the tables were copied are not there.
  const former = [...objects.chunksOf(removed)].filter((chunk) => chunks.find(chunk) !== null);
  reachability.promote(orphaned);
  tables.remove(removed, nodes);
  tables.hide(bases);
  chunks.release(former);
  return true;
}
