import { Bitset } from "../../store/numbers/bitset.ts";
import type { CommitGraph } from "../../store/graph/commit-graph.ts";

/** Follows tags of tags to what they lead to in the end. A tag may be one of a tag, and so on without end: each is passed once,
 * however many lead to it. */
export class TagPeeling {
  readonly #graph: CommitGraph;
  readonly #ends = new Map<number, number>();
  /** Positions of the tags of commits and of tags that were come by. */
  readonly passed: Bitset;

  constructor(graph: CommitGraph) {
    this.#graph = graph;
    this.passed = new Bitset(graph.length);
  }

  /** The node that one leads to: a commit, or the last tag where that is of a tree or a blob; itself, if it is no tag.
   * @param position of a node, as is the answer */
  endOf(position: number): number {
    const way: number[] = [];
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
