import { GitError } from "../../../base/format/errors.ts";
import type { ObjectNumber } from "../../../base/numbers/kinds.ts";

/** A node to append. */
export interface NewNode {
  /** Object number. */
  readonly number: ObjectNumber;
  /** Object numbers: a commit's parents in order; a tag's target if it is a commit or tag, else
   * none. */
  readonly parents: readonly ObjectNumber[];
  /** Number of the root tree, or of a tag's target tree; 0: none. */
  readonly tree: ObjectNumber;
  /** Commit or tag time, seconds. */
  readonly time: number;
}

/** Sorts the nodes of one push by Kahn's algorithm, ignoring parents outside of the push. Depth
 * first: one line of history is finished before the next begins, and the heaviest of the lines
 * that begin at a node comes last. So a walk in this order has few lines open at a time. Yields
 * now and then. */
export function* sortParentsFirst(nodes: readonly NewNode[]): Generator<void, NewNode[]> {
  const indexes = new Map(nodes.map((node, i) => [node.number, i]));
  yield;
  const waitsFor = new Uint32Array(nodes.length);
  const children: number[][] = nodes.map(() => []);
  nodes.forEach((node, i) => {
    for (const parent of node.parents) {
      const at = indexes.get(parent);
      if (at === undefined) continue;
      children[at]!.push(i);
      waitsFor[i]! += 1;
    }
  });
  yield;
  const some = walkFromRoots(children, waitsFor);
  yield;
  if (some.length < nodes.length) {
    const sorted = new Set(some);
    throw inconsistent(nodes.find((_, i) => !sorted.has(i))!.number, "is its own ancestor");
  }
  /** Number of nodes that follow each node; a merge's are shared among its parents. */
  const weights = new Float64Array(nodes.length).fill(1);
  for (const i of some.toReversed()) {
    for (const child of children[i]!) weights[i]! += weights[child]! / waitsFor[child]!;
    // The last child is visited first.
    if (children[i]!.length > 1) children[i]!.sort((a, b) => weights[b]! - weights[a]!);
  }
  yield;
  return walkFromRoots(children, waitsFor).map((i) => nodes[i]!);
}

/** Sorts nodes so that each follows all nodes that it waits for; nodes of a cycle are left out.
 * @param waitsFor for each node, the number of nodes that it waits for */
function walkFromRoots(children: readonly (readonly number[])[], waitsFor: Uint32Array): number[] {
  const left = waitsFor.slice();
  const sorted: number[] = [];
  const ready = children.map((_, i) => i).filter((i) => left[i] === 0);
  for (let i = ready.pop(); i !== undefined; i = ready.pop()) {
    sorted.push(i);
    for (const child of children[i]!) {
      left[child]! -= 1;
      if (left[child] === 0) ready.push(child);
    }
  }
  return sorted;
}

/** Makes the error for an impossible node. */
export function inconsistent(number: ObjectNumber, reason: string): GitError {
  return new GitError("storage-failed", { key: "commits", reason: `node ${number} ${reason}` });
}
