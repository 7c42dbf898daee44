import { COMMIT } from "../../base/format/object.ts";
import type { GraphPosition } from "../../base/numbers/kinds.ts";
import type { CommitGraph } from "../store/graph/commit-graph.ts";
import type { Lookup } from "../store/index/object-columns.ts";
import type { Negotiation, PackCondition } from "../../contract/fetch.ts";

/** In `firstHave`: none of the haves is among a node's ancestors. */
const NEVER = 0xffff_ffff;

/** Compares the wants with the client's haves. A have that the repository lacks is ignored.
 * @param wants positions of the wanted commits, tags peeled; other objects say nothing about common
 * history
 * @param haves the looked-up haves, in the client's order
 * @see git's upload-pack.c: got_oid(), ok_to_give_up() */
export function negotiate(graph: CommitGraph, wants: readonly GraphPosition[], haves: Lookup): Negotiation {
  const common = Uint8Array.from(haves.number, (number) => (number === 0 ? 0 : 1));
  let last = common.indexOf(1);
  if (last < 0) return { common, readyAfter: 0 };
  const firstHave = findFirstHaves(graph, wants, haves);
  for (const want of wants) last = Math.max(last, firstHave[want]!);
  return { common, readyAfter: last === NEVER ? 0 : last + 1 };
}

/** For each ancestor of the wants: the first have that is among its own ancestors, or whose parent
 * is. */
function findFirstHaves(graph: CommitGraph, wants: readonly GraphPosition[], haves: Lookup): Uint32Array {
  const first = new Uint32Array(graph.length).fill(NEVER);
  const note = (position: GraphPosition, have: number): void => {
    first[position] = Math.min(first[position]!, have);
  };
  haves.number.forEach((number, have) => {
    const position = number === 0 ? -1 : graph.position(number);
    if (position < 0) return;
    note(position, have);
    if (haves.type[have] === COMMIT) graph.parents(position).forEach((parent) => note(parent, have));
  });
  // Positions ascend from parents to children, so each node's parents are complete.
  for (const position of graph.ancestors(wants)) {
    graph.parents(position).forEach((parent) => note(position, first[parent]!));
  }
  return first;
}

/** Whether this response includes the pack. */
export function sendsPack({ common, readyAfter }: Negotiation, packWhen: PackCondition): boolean {
  switch (packWhen) {
    case "done":
      return true;
    case "ready":
      return readyAfter > 0;
    case "ready-line":
      // Due at a have that the server lacks once it is ready, or at the round's end if it lacks
      // none.
      return readyAfter > 0 && (common.indexOf(0, readyAfter) >= 0 || !common.includes(0));
    case "never":
      return false;
  }
}
