import { Bitset } from "../../store/numbers/bitset.ts";
import type { CommitGraph } from "../../store/graph/commit-graph.ts";
import { DateQueue } from "./date-queue.ts";

/** Where a walk stands: all that another one needs to go on in its place. Object numbers, which stay what they are. */
export interface WalkPlace {
  /** Commits that are met and not walked, in the order of the queue. */
  readonly open: readonly number[];
  /** Commits that were walked although some that are not walked lead to them: where clocks were wrong, or stood still. */
  readonly walked: readonly number[];
}

/** Walks a history as `git log` does: of the commits met, the newest comes next, and its parents are met then.
 * @see get_revision_1() in git's revision.c */
export class HistoryWalk {
  readonly #graph: CommitGraph;
  readonly #queue: DateQueue;
  readonly #met: Bitset;

  /** @param place its numbers are of commits in the graph */
  constructor(graph: CommitGraph, { open, walked }: WalkPlace) {
    this.#graph = graph;
    this.#queue = new DateQueue(graph);
    this.#met = new Bitset(graph.length);
    for (const number of walked) this.#met.add(graph.position(number));
    this.meet(open.map((number) => graph.position(number)));
  }

  /** Takes the next commit; undefined: all are walked. What it leads on to is to be told to `meet`. */
  next(): number | undefined {
    return this.#queue.pop();
  }

  /** Puts those commits into the queue that were not met before. */
  meet(positions: Iterable<number>): void {
    for (const position of positions) {
      if (this.#met.has(position)) continue;
      this.#met.add(position);
      this.#queue.push(position);
    }
  }

  /** Commits that are met and not walked, the next one first. */
  get open(): number[] {
    return this.#queue.positions();
  }

  /** Where the walk stands. */
  place(): WalkPlace {
    const { open } = this;
    const isOpen = new Bitset(this.#met.length);
    for (const position of open) isOpen.add(position);
    // Of what was walked only that matters which a walk would come to again.
    const walked = this.#met.difference(isOpen);
    const ahead = this.#graph.ancestors(open, walked);
    const again = Array.from(walked).filter((position) => ahead.has(position));
    return { open: this.#toNumbers(open), walked: this.#toNumbers(again) };
  }

  #toNumbers(positions: readonly number[]): number[] {
    return positions.map((position) => this.#graph.number(position));
  }
}
