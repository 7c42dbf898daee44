import type { GraphPosition } from "../../store/numbers/kinds.ts";
import type { CommitGraph } from "../../store/graph/commit-graph.ts";
import { DateQueue } from "./date-queue.ts";

/** Commits that are read ahead, at first and at most. The number doubles each time. */
const FIRST_BATCH = 64;
const MAX_BATCH = 2_048;

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
   * @param guess the commits that probably follow a commit */
  next(starts: Iterable<GraphPosition>, guess: (position: GraphPosition) => Iterable<GraphPosition>): GraphPosition[] {
    const queue = new DateQueue(this.#graph);
    const met = new Set<GraphPosition>();
    const meet = (positions: Iterable<GraphPosition>): void => {
      for (const position of positions) {
        if (met.has(position)) continue;
        met.add(position);
        queue.push(position);
      }
    };
    meet(starts);
    const upcoming: GraphPosition[] = [];
    for (let position = queue.pop(); position !== undefined; position = queue.pop()) {
      upcoming.push(position);
      if (upcoming.length === this.#count) break;
      meet(guess(position));
    }
    this.#count = Math.min(2 * this.#count, MAX_BATCH);
    return upcoming;
  }
}
