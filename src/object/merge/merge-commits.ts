import type { GraphPosition } from "../../base/numbers/kinds.ts";
import { GitError } from "../../base/format/errors.ts";
import type { Oid } from "../../base/format/oid.ts";
import type { NewObjects } from "../push/new-objects.ts";
import { mergeBases } from "../history/merge-base.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { revisionOf } from "../objects/revision.ts";
import { MergeAttributes } from "./merge-attributes.ts";
import type { MergeLabels } from "./merge-content.ts";
import { MergeObjects } from "./merge-objects.ts";
import { type MergedTrees, mergeRoots, mergeTrees } from "./merge-trees.ts";

/** The most merges of merge bases within one merge. Each further base may need two, in histories
 * that cross repeatedly. */
const MAX_BASE_MERGES = 100;

/** Git's labels for a merge of merge bases, where markers become content. */
const BASE_LABELS: MergeLabels = { ours: "Temporary merge branch 1", theirs: "Temporary merge branch 2" };

/** Merges two commits with common history, with the result of `git merge-tree --write-tree`.
 * Several merge bases are merged first, and their conflicts stay in the text.
 * @param ours position in the graph
 * @param theirs position in the graph
 * @param labels byte strings
 * @param made receives the new objects
 * @throws GitError as `mergeTrees`, "conflict" when the commits have no common history */
export async function mergeCommits(
  repository: OpenRepository,
  ours: GraphPosition,
  theirs: GraphPosition,
  labels: MergeLabels,
  made: NewObjects,
): Promise<MergedTrees> {
  const history = new MergeBaseTrees(repository, made, ours);
  const base = await history.baseOf([ours], theirs, 0);
  if (base === null) {
    throw new GitError("conflict", { what: "merge", reason: "the commits have no history in common" });
  }
  return mergeTrees(repository, { base, ours: history.treeOf(ours), theirs: history.treeOf(theirs) }, labels, made);
}

/** Merges merge bases. */
class MergeBaseTrees {
  readonly #repository: OpenRepository;
  readonly #objects: MergeObjects;
  readonly #attributes: MergeAttributes;
  #merges = 0;

  /** @param ours position of the commit whose attributes apply to the merges of merge bases, too */
  constructor(repository: OpenRepository, made: NewObjects, ours: GraphPosition) {
    this.#repository = repository;
    this.#objects = new MergeObjects(repository, made);
    this.#attributes = new MergeAttributes(this.#objects, this.treeOf(ours));
  }

  /** The tree of a commit. */
  treeOf(position: GraphPosition): Oid {
    const { graph } = this.#repository.tables;
    return revisionOf(this.#repository, graph.tree(position)).oid;
  }

  /** The common base tree of two commits.
   * @param ours position of a commit, or of several: a merge of them
   * @returns null when they have no common history */
  async baseOf(ours: readonly GraphPosition[], theirs: GraphPosition, depth: number): Promise<Oid | null> {
    const { graph } = this.#repository.tables;
    // The oldest first, as git takes them.
    const bases = ours.length === 1 ? mergeBases(graph, ours[0]!, [theirs]) : mergeBases(graph, theirs, ours);
    const [first, ...others] = bases.toReversed();
    if (first === undefined) return null;
    const positions = [first];
    let tree = this.treeOf(first);
    for (const next of others) {
      if (++this.#merges > MAX_BASE_MERGES)
        throw new GitError("too-large", { what: "merge (merges of merge bases)", limit: MAX_BASE_MERGES });
      const base = await this.baseOf(positions, next, depth + 1);
      const merge = { objects: this.#objects, attributes: this.#attributes, labels: BASE_LABELS, depth: depth + 1 };
      const merged = await mergeRoots(merge, [base, tree, this.treeOf(next)]);
      tree = merged.tree;
      positions.push(next);
    }
    return tree;
  }
}
