import type { Column } from "../../base/format/kinds.ts";
import type { GraphPosition } from "../../base/numbers/kinds.ts";
import { hashPath } from "../../base/format/path-filter.ts";
import type { CommitGraph } from "../store/graph/commit-graph.ts";
import type { PathFilterTable } from "../store/graph/path-filter-table.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { LookAhead } from "./look-ahead.ts";
import { ABSENT, type EntryCode, PathEntries } from "./path-entries.ts";
import type { WorkBudget } from "../../base/pacing/work-budget.ts";

/** Commits that `known` visits. */
const KNOWN_COMMITS = 1_024;

/** How far the commit is looked for whose trees tell another one's entry: as long as reading a tree
 * takes. */
const TELLER_COMMITS = 500;

/** Which commits follow a commit in the walk, and whether it changes the entry at a path. */
export interface PathStep {
  readonly parentsToWalk: Iterable<number>;
  readonly isChange: boolean;
}

/** The entry at a path, commit by commit. */
export class PathHistory {
  readonly #graph: CommitGraph;
  readonly #filters: PathFilterTable;
  readonly #hashes: Uint32Array;
  readonly #entries: PathEntries;
  readonly #firstParent: boolean;
  readonly #budget: WorkBudget;
  readonly #lookAhead: LookAhead;
  /** By position: the commit whose trees tell its entry; −1: it has none. */
  readonly #tellers = new Map<GraphPosition, GraphPosition>();

  /** @param path byte string
   * @param firstParent whether only the first parent of a merge is followed */
  constructor(repository: OpenRepository, path: string, firstParent: boolean, budget: WorkBudget) {
    this.#graph = repository.tables.graph;
    this.#filters = repository.tables.pathFilters;
    this.#hashes = hashPath(path);
    this.#entries = new PathEntries(repository, path);
    this.#firstParent = firstParent;
    this.#budget = budget;
    this.#lookAhead = new LookAhead(this.#graph);
  }

  /** The entry of a commit that was prepared, or whose child was. */
  at(position: GraphPosition): EntryCode {
    return this.#find(position)!;
  }

  /** Whether a commit's filter tells that it has the same as its first parent; a root: nothing.
   * Then history continues at the first parent alone, and no tree needs to be read. */
  isSkipped(position: GraphPosition): boolean {
    return this.#filters.rulesOut(position, this.#hashes);
  }

  /** How a prepared commit changes the path. If a parent has the same entry, history continues only
   * at the first such parent.
   * @see try_to_simplify_commit() in git's revision.c */
  step(position: GraphPosition): PathStep {
    return this.#tryStep(position)!;
  }

  /** Reads the trees needed for a commit, and those needed for the commits likely to come next.
   * @param starts the current positions of the walk, the commit among them
   * @throws GitError "storage-failed" */
  async prepare(position: GraphPosition, starts: () => Iterable<GraphPosition>): Promise<void> {
    if (this.#tryStep(position) !== null) return;
    // Most merges bring no change to the path. Then history continues at the first parent.
    const guess = (at: number) => this.#tryStep(at)?.parentsToWalk ?? this.#parents(at).subarray(0, 1);
    const upcoming = [position, ...this.#lookAhead.next(starts(), guess, (at) => this.isSkipped(at))];
    const tellers = upcoming.flatMap((at) => [at, ...this.#parents(at)]).map((at) => this.#teller(at));
    const trees = tellers.filter((at) => at >= 0).map((at) => this.#graph.tree(at));
    await this.#entries.load(trees, this.#budget);
  }

  /** The entries of the commits that come next, as far as their trees were read: each once.
   * @param starts the current positions of the walk */
  known(starts: Iterable<GraphPosition>): EntryCode[] {
    const commits = new LookAhead(this.#graph, KNOWN_COMMITS).next(
      starts,
      (at) => this.#tryStep(at)?.parentsToWalk ?? [],
      (at) => this.isSkipped(at),
    );
    return [...new Set(commits.map((at) => this.#find(at) ?? ABSENT))];
  }

  /** @returns null when trees must be read first */
  #tryStep(position: GraphPosition): PathStep | null {
    const parents = this.#parents(position);
    if (this.isSkipped(position)) return { parentsToWalk: parents.subarray(0, 1), isChange: false };
    const own = this.#find(position);
    if (own === undefined) return null;
    for (const parent of parents) {
      const code = this.#find(parent);
      if (code === undefined) return null;
      if (code === own) return { parentsToWalk: [parent], isChange: false };
    }
    return { parentsToWalk: parents, isChange: parents.length > 0 || own !== ABSENT };
  }

  #find(position: GraphPosition): EntryCode | undefined {
    const teller = this.#teller(position);
    return teller < 0 ? ABSENT : this.#entries.find(this.#graph.tree(teller));
  }

  /** The commit whose trees tell the entry of another one: the next in its line of first parents
   * that may have changed it, since that one's trees are read anyway; if it is far, the commit
   * itself. */
  #teller(position: GraphPosition): GraphPosition {
    const known = this.#tellers.get(position);
    if (known !== undefined) return known;
    let teller = position;
    let left = TELLER_COMMITS;
    while (left > 0 && teller >= 0 && this.isSkipped(teller)) {
      teller = this.#graph.firstParent(teller);
      left -= 1;
    }
    if (left === 0) teller = position;
    this.#tellers.set(position, teller);
    return teller;
  }

  #parents(position: GraphPosition): Column<GraphPosition> {
    const parents = this.#graph.parents(position);
    return this.#firstParent ? parents.subarray(0, 1) : parents;
  }
}
