import type { PositionSet, CommitGraph } from "../store/graph/commit-graph.ts";
import type { GraphPosition, ObjectNumber } from "../../base/numbers/kinds.ts";
import { Bitset } from "../../base/numbers/bitset.ts";
import { DateQueue } from "./date-queue.ts";
import type { WalkOrder, WalkPlace } from "../../contract/history.ts";

/** Walks a history as `git log` does, or as it does with `--date-order`: the newest of the commits
 * met is visited next, and its parents are met then.
 * @see get_revision_1() in git's revision.c */
export class HistoryWalk {
  readonly #graph: CommitGraph;
  readonly #queue: DateQueue;
  readonly #met: PositionSet;

  /** @param place its numbers must be of commits in the graph */
  constructor(graph: CommitGraph, { open, walked }: WalkPlace, order: WalkOrder = "dates") {
    this.#graph = graph;
    this.#queue = new DateQueue(graph, order);
    this.#met = new Bitset<GraphPosition>(graph.length);
    for (const number of walked) this.#met.add(graph.position(number));
    this.meet(open.map((number) => graph.position(number)));
  }

  /** Takes the next commit; undefined: all are visited. The caller passes its parents to `meet`. */
  next(): GraphPosition | undefined {
    return this.#queue.pop();
  }

  /** Queues the commits that were not met before. */
  meet(positions: Iterable<GraphPosition>): void {
    for (const position of positions) this.meetOne(position);
  }

  /** Queues a commit that was not met before; −1: none. */
  meetOne(position: GraphPosition): void {
    if (position < 0 || this.#met.has(position)) return;
    this.#met.add(position);
    this.#queue.push(position);
  }

  /** Commits met but not yet visited, the next one first. */
  get open(): GraphPosition[] {
    return this.#queue.positions();
  }

  /** The current state of the walk. */
  place(): WalkPlace {
    const { open } = this;
    const isOpen = new Bitset<GraphPosition>(this.#met.length);
    for (const position of open) isOpen.add(position);
    // Only those visited commits matter that the walk would reach again.
    const walked = this.#met.difference(isOpen);
    const ahead = this.#graph.ancestors(open, walked);
    const again = Array.from(walked).filter((position) => ahead.has(position));
    return { open: this.#toNumbers(open), walked: this.#toNumbers(again) };
  }

  #toNumbers(positions: readonly GraphPosition[]): ObjectNumber[] {
    return positions.map((position) => this.#graph.number(position));
  }
}
