import type { PositionSet, CommitGraph } from "../store/graph/commit-graph.ts";
import type { GraphPosition } from "../../base/numbers/kinds.ts";
import { Bitset } from "../../base/numbers/bitset.ts";

/** Follows tags of tags to their final target. Chains may be long: each tag is visited once,
 * however many point to it. */
export class TagPeeling {
  readonly #graph: CommitGraph;
  readonly #ends = new Map<GraphPosition, GraphPosition>();
  /** Positions of the visited tags of commits and of tags. */
  readonly passed: PositionSet;

  constructor(graph: CommitGraph) {
    this.#graph = graph;
    this.passed = new Bitset<GraphPosition>(graph.length);
  }

  /** Finds the node to which a node peels: a commit, or the last tag if its target is a tree or a
   * blob; itself, if it is not a tag.
   * @param position of a node, as is the result */
  endOf(position: GraphPosition): GraphPosition {
    const way: GraphPosition[] = [];
    let at = position;
    // Only tags of commits and of tags have parents and no tree.
    while (!this.#ends.has(at) && this.#graph.tree(at) === 0 && this.#graph.parents(at).length > 0) {
      way.push(at);
      at = this.#graph.parents(at)[0]!;
    }
    const end = this.#ends.get(at) ?? at;
    for (const tag of way) {
      this.#ends.set(tag, end);
      this.passed.add(tag);
    }
    return end;
  }
}
