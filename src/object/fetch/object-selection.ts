import type { PositionSet, CommitGraph } from "../store/graph/commit-graph.ts";
import type { GraphPosition } from "../../base/numbers/kinds.ts";
import { TREE } from "../../base/format/object.ts";
import { Bitset } from "../../base/numbers/bitset.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { ObjectIndex } from "../store/index/object-index.ts";
import type { Reachability } from "../store/graph/reachability.ts";
import type { ObjectReader } from "../objects/object-reader.ts";
import { needsPaths, type PackFilter } from "./pack-filter.ts";
import { type FindHad, walkSparse, walkTrees } from "../objects/tree-walk.ts";

/** What a client wants and has. */
interface SelectionRequest {
  /** Nodes that it will have with their trees: all that the wants reach, down to the shallow
   * boundary. */
  readonly wanted: PositionSet;
  /** Nodes that it has with their trees. */
  readonly had: PositionSet;
  /** Those of them at its shallow boundary. */
  readonly hadBorder: PositionSet;
  /** Wanted trees and blobs that are not nodes of the graph. */
  readonly ungraphed: NumberSet;
  /** Objects that it names, and tags and commits that named tags point to: no filter removes
   * them. */
  readonly given: NumberSet;
  /** Positions of the tags among them that point to a tree or a blob. */
  readonly tags: readonly GraphPosition[];
  readonly filter: PackFilter;
}

/** What to send, and what the client has. */
interface Selection {
  readonly objects: NumberSet;
  /** Finds the objects that the client certainly has: bases for a thin pack. */
  readonly findHad: FindHad;
}

/** Selects the objects of a pack. If neither side is shallow, and no filter depends on paths, it
 * reads no trees. */
export class ObjectSelection {
  readonly #graph: CommitGraph;
  readonly #objects: ObjectIndex;
  readonly #reachability: Reachability;
  readonly #reader: ObjectReader;

  constructor(stores: { graph: CommitGraph; objects: ObjectIndex; reachability: Reachability }, reader: ObjectReader) {
    this.#graph = stores.graph;
    this.#objects = stores.objects;
    this.#reachability = stores.reachability;
    this.#reader = reader;
  }

  /** @throws GitError "storage-failed" when a tree cannot be read */
  async select(request: SelectionRequest): Promise<Selection> {
    const { wanted, had, ungraphed, filter } = request;
    const sent = wanted.difference(had);
    if (sent.count() === 0 && ungraphed.size === 0) return { objects: NumberSet.EMPTY, findHad: () => NumberSet.EMPTY };
    const hadCut = this.#isClosed(had) ? null : await this.#findCutObjects(request, sent);
    const find: FindHad =
      hadCut === null
        ? (objects) => (had.count() === 0 ? NumberSet.EMPTY : this.#reachability.within(objects, had))
        : (objects) => objects.intersection(hadCut);
    const fromNodes =
      this.#isClosed(wanted) && !needsPaths(filter)
        ? this.#selectClosed(wanted, had, hadCut)
        : await this.#walk(sent, find, filter);
    const given = request.given.union(this.#findTagged(request.tags, sent));
    // In named trees, depth counts from their entries, as in git.
    const below = { ...filter, treeDepth: filter.treeDepth + 1 };
    const named = needsPaths(filter) ? given : ungraphed;
    const fromNamed = await this.#walkRoots(named, find, below);
    // A client that asks for a tree or a blob lacks it, whatever its haves reach: a partial clone
    // has commits without them. It may also lack what such a tree names.
    const files = this.#filesAmong(given);
    const fromLacked = await this.#walkRoots(find(files), () => NumberSet.EMPTY, below);
    const all = fromNodes.union(fromNamed).union(fromLacked);
    const passing = (numbers: NumberSet): NumberSet =>
      this.#objects.passing(numbers, filter.types, filter.blobLimitBytes);
    return {
      objects: passing(all)
        .union(given.difference(find(given)))
        .union(files),
      // The client may lack objects that a filter removed by path.
      findHad: (bases) => (needsPaths(filter) ? NumberSet.EMPTY : passing(find(bases))),
    };
  }

  /** Blobs and trees that tags point to. They count as named, except for the root trees of commits
   * that are sent, as in git.
   * @see git's list-objects.c: NOT_USER_GIVEN */
  #findTagged(tags: readonly GraphPosition[], sent: PositionSet): NumberSet {
    if (tags.length === 0) return NumberSet.EMPTY;
    const those = new Bitset<GraphPosition>(this.#graph.length);
    for (const position of tags) those.add(position);
    return this.#rootsOf(those).difference(this.#rootsOf(sent.difference(those)));
  }

  /** Trees and blobs: objects that are not in the graph, or are graph nodes of their own. */
  #filesAmong(objects: NumberSet): NumberSet {
    return NumberSet.fromSorted(
      objects.toArray().filter((number) => {
        const position = this.#graph.position(number);
        return position < 0 || this.#graph.tree(position) === number;
      }),
    );
  }

  #isClosed(nodes: PositionSet): boolean {
    return this.#graph.ancestors(nodes).count() === nodes.count();
  }

  #selectClosed(wanted: PositionSet, had: PositionSet, hadCut: NumberSet | null): NumberSet {
    if (hadCut === null) return this.#reachability.between(wanted, had);
    return this.#reachability.between(wanted, new Bitset<GraphPosition>(0)).difference(hadCut);
  }

  /** The nodes, and what their trees reach. */
  async #walk(nodes: PositionSet, find: FindHad, filter: PackFilter): Promise<NumberSet> {
    const numbers = this.#graph.numbers(nodes);
    const found = await this.#walkRoots(this.#rootsOf(nodes), find, filter);
    return numbers.union(found);
  }

  /** @param roots trees, and blobs that are wanted themselves */
  async #walkRoots(roots: NumberSet, find: FindHad, { treeDepth, sparse }: PackFilter): Promise<NumberSet> {
    if (roots.size === 0) return NumberSet.EMPTY;
    const { number, type } = this.#objects.locate(roots);
    const trees = NumberSet.fromSorted(number.filter((_, i) => type[i] === TREE));
    const others = treeDepth === 0 ? NumberSet.EMPTY : roots.difference(trees);
    const end = this.#objects.lastNumber() + 1;
    const found =
      sparse.length > 0
        ? await walkSparse(this.#reader, trees, find, treeDepth, sparse)
        : await walkTrees(this.#reader, trees, find, treeDepth, end);
    return found.union(others.difference(find(others)));
  }

  /** The objects that a client with a shallow history has. Exact except for reappearing objects: a
   * file from below the boundary that a later commit restored counts only if the newest commits, or
   * those next to the sent ones, have it too. */
  async #findCutObjects({ had, hadBorder }: SelectionRequest, sent: PositionSet): Promise<NumberSet> {
    const ends = new Bitset<GraphPosition>(this.#graph.length);
    const hasChild = new Bitset<GraphPosition>(this.#graph.length);
    for (const position of sent) {
      for (const parent of this.#graph.parents(position)) if (had.has(parent)) ends.add(parent);
    }
    for (const position of had) {
      if (hadBorder.has(position)) ends.add(position);
      else for (const parent of this.#graph.parents(position)) hasChild.add(parent);
    }
    for (const position of had) if (!hasChild.has(position)) ends.add(position);
    const roots = this.#rootsOf(ends);
    const end = this.#objects.lastNumber() + 1;
    const trees = await walkTrees(this.#reader, roots, () => NumberSet.EMPTY, Infinity, end);
    return trees.union(this.#reachability.introducedBy(had)).union(this.#graph.numbers(had));
  }

  /** Root trees of nodes; of a tag, the tree or blob that it leads to. */
  #rootsOf(nodes: PositionSet): NumberSet {
    const roots = Uint32Array.from(nodes, (position) => this.#graph.tree(position)).filter((tree) => tree !== 0);
    return NumberSet.fromSorted(roots.sort());
  }
}
