import { NumberSet } from "../../store/numbers/number-set.ts";
import type { Tables } from "../../store/tables.ts";
import { findUnreachable } from "../objects/unreachable.ts";

/** Removes all objects and nodes that some refs do not reach, as if they had never been there; must
 * run in a transaction. Those that others are deltas on are hidden. The graph in memory is not
 * changed: reopen the tables.
 * @param oids packed: what the refs point at */
export function keepOnly(tables: Tables, oids: Uint8Array): void {
  const { graph, objects, chunks, reachability } = tables;
  const tips = objects.lookupMany(oids).number;
  const kept = {
    recentFrom: objects.lastNumber() + 1,
    nodes: graph.ancestors(Array.from(tips, (number) => graph.position(number))),
    recentObjects: NumberSet.EMPTY,
  };
  const unreachable = findUnreachable(tables, kept, NumberSet.EMPTY, Infinity);
  const unwanted = unreachable.objects.union(objects.hidden());
  if (unwanted.size === 0 && unreachable.nodes.size === 0) return;
  const dependents = objects.dependents(unwanted);
  const bases = objects.withBases(dependents.difference(unwanted)).intersection(unwanted);
  const removed = unwanted.difference(bases);
  const former = objects.chunksOf(removed);
  reachability.promote(unreachable.orphaned);
  tables.remove(removed, unreachable.nodes);
  objects.hide(bases);
  chunks.release(former);
}
