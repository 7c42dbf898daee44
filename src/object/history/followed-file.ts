import type { GraphPosition } from "../../base/numbers/kinds.ts";
import type { CommitGraph } from "../store/graph/commit-graph.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { findOriginal } from "./find-original.ts";
import { ABSENT, kindOfCode } from "./path-entries.ts";
import { PathHistory } from "./path-history.ts";
import type { WorkBudget } from "../../base/pacing/work-budget.ts";

/** What the search for a file's earlier name counts for. */
const SEARCH_STEPS = 500;

/** A file whose history is followed across renames and copies. As in git, it has one name at a
 * time: once the commit that added it under that name is visited, all commits visited later are
 * searched for the earlier name. */
export class FollowedFile {
  readonly #repository: OpenRepository;
  readonly #graph: CommitGraph;
  readonly #budget: WorkBudget;
  readonly #firstParent: boolean;
  #path: string;
  #history: PathHistory;

  /** @param path byte string
   * @param firstParent whether merges are compared with their first parents; else they are
   * skipped */
  constructor(repository: OpenRepository, path: string, firstParent: boolean, budget: WorkBudget) {
    this.#repository = repository;
    this.#graph = repository.tables.graph;
    this.#budget = budget;
    this.#firstParent = firstParent;
    this.#path = path;
    this.#history = this.#historyOf(path);
  }

  /** Byte string: the file's name at the current point of the walk. */
  get path(): string {
    return this.#path;
  }

  /** Whether a commit is known not to change the file, without reading anything. */
  isSkipped(position: GraphPosition): boolean {
    return this.#isUncompared(position) || this.#history.isSkipped(position);
  }

  /** Whether a commit changes the file. If the commit renamed it, `path` becomes the earlier name.
   * @param starts the current positions of the walk
   * @throws GitError "storage-failed"
   * @see log_tree_diff() in git's log-tree.c */
  async isChangedBy(position: GraphPosition, starts: () => Iterable<GraphPosition>): Promise<boolean> {
    if (this.isSkipped(position)) return false;
    await this.#history.prepare(position, starts);
    if (!this.#history.step(position).isChange) return false;
    const parent = this.#graph.firstParent(position);
    const came = parent >= 0 && this.#history.at(parent) === ABSENT;
    if (came && kindOfCode(this.#history.at(position)) !== "tree") {
      const [before, after] = [this.#graph.tree(parent), this.#graph.tree(position)];
      await this.#budget.step(SEARCH_STEPS);
      const original = await findOriginal(this.#repository, before, after, this.#path);
      if (original !== null) {
        this.#path = original;
        this.#history = this.#historyOf(original);
      }
    }
    return true;
  }

  #isUncompared(position: GraphPosition): boolean {
    return !this.#firstParent && this.#graph.parents(position).length > 1;
  }

  #historyOf(path: string): PathHistory {
    return new PathHistory(this.#repository, path, true, this.#budget);
  }
}
