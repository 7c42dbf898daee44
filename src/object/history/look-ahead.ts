import type { GraphPosition } from "../../base/numbers/kinds.ts";
import type { CommitGraph } from "../store/graph/commit-graph.ts";
import { Bitset } from "../../base/numbers/bitset.ts";
import { DateQueue } from "./date-queue.ts";

/** Commits that are read ahead, at first and at most. The number doubles each time. */
const FIRST_BATCH = 64;
const MAX_BATCH = 2_048;

/** Commits that are visited for each that is read: one takes as long as a hundred of the others. */
const VISITS_PER_READ = 100;

/** Predicts the commits that a walk will visit next, so that they are read in one batch. A walk
 * that ends soon reads little ahead. */
export class LookAhead {
  readonly #graph: CommitGraph;
  #count: number;

  /** @param count how many commits at first */
  constructor(graph: CommitGraph, count = FIRST_BATCH) {
    this.#graph = graph;
    this.#count = count;
  }

  /** The next commits, newest first; twice as many at the next call.
   * @param starts the current positions of the walk
   * @param guess the commits that probably follow a commit
   * @param isPassed whether a commit needs no reading: it is left out */
  next(
    starts: Iterable<GraphPosition>,
    guess: (position: GraphPosition) => Iterable<GraphPosition>,
    isPassed: (position: GraphPosition) => boolean = () => false,
  ): GraphPosition[] {
    const queue = new DateQueue(this.#graph);
    const met = new Bitset<GraphPosition>(this.#graph.length);
    const meet = (position: GraphPosition): void => {
      if (met.has(position)) return;
      met.add(position);
      queue.push(position);
    };
    for (const start of starts) meet(start);
    const upcoming: GraphPosition[] = [];
    for (let visits = this.#count * VISITS_PER_READ; visits > 0; visits--) {
      const position = queue.pop();
      if (position === undefined) break;
      if (isPassed(position)) {
        const parent = this.#graph.firstParent(position);
        if (parent >= 0) meet(parent);
        continue;
      }
      upcoming.push(position);
      if (upcoming.length === this.#count) break;
      for (const parent of guess(position)) meet(parent);
    }
    this.#count = Math.min(2 * this.#count, MAX_BATCH);
    return upcoming;
  }
}
