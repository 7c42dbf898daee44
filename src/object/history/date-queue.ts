import type { GraphPosition } from "../../base/numbers/kinds.ts";
import type { CommitGraph } from "../store/graph/commit-graph.ts";
import type { WalkOrder } from "../../contract/history.ts";

/** The queue of a walk, the next commit first.
 * @see git's prio-queue.c, and commit_list_insert_by_date() */
export class DateQueue {
  readonly #timeOf: (position: GraphPosition) => number;
  readonly #isChildrenFirst: boolean;
  /** A binary heap: each entry precedes its children, at 2i + 1 and 2i + 2. */
  readonly #heap: { readonly position: GraphPosition; readonly order: number }[] = [];
  #pushed = 0;

  constructor(graph: CommitGraph, order: WalkOrder = "dates") {
    this.#isChildrenFirst = order === "children first";
    const newest = this.#isChildrenFirst ? newestReached(graph) : null;
    this.#timeOf = newest === null ? (position) => graph.time(position) : (position) => newest[position]!;
  }

  /** The number of queued commits. */
  get size(): number {
    return this.#heap.length;
  }

  /** Queued positions, the newest first. */
  positions(): GraphPosition[] {
    return this.#heap.toSorted((a, b) => (this.#isBefore(a, b) ? -1 : 1)).map(({ position }) => position);
  }

  /** Adds a position. One that is already queued would come out twice. */
  push(position: GraphPosition): void {
    const entry = { position, order: this.#pushed++ };
    let at = this.#heap.length;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (!this.#isBefore(entry, this.#heap[parent]!)) break;
      this.#heap[at] = this.#heap[parent]!;
      at = parent;
    }
    this.#heap[at] = entry;
  }

  /** Removes and returns the next position; undefined: the queue is empty. */
  pop(): GraphPosition | undefined {
    const first = this.#heap[0];
    const last = this.#heap.pop();
    if (last === undefined || first === last) return first?.position;
    const { length } = this.#heap;
    let at = 0;
    for (let child = 1; child < length; child = 2 * at + 1) {
      if (child + 1 < length && this.#isBefore(this.#heap[child + 1]!, this.#heap[child]!)) child += 1;
      if (!this.#isBefore(this.#heap[child]!, last)) break;
      this.#heap[at] = this.#heap[child]!;
      at = child;
    }
    this.#heap[at] = last;
    return first!.position;
  }

  #isBefore(a: { position: GraphPosition; order: number }, b: { position: GraphPosition; order: number }): boolean {
    const newer = this.#timeOf(a.position) - this.#timeOf(b.position);
    if (newer !== 0) return newer > 0;
    // Parents have lower positions.
    return this.#isChildrenFirst ? a.position > b.position : a.order < b.order;
  }
}

/** The time of the newest commit that each one reaches, itself included; by position. */
function newestReached(graph: CommitGraph): Float64Array {
  const newest = new Float64Array(graph.length);
  for (let position = 0; position < newest.length; position++) {
    let time = graph.time(position);
    for (const parent of graph.parents(position)) if (newest[parent]! > time) time = newest[parent]!;
    newest[position] = time;
  }
  return newest;
}
