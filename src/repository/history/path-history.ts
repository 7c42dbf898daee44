import type { CommitGraph } from "../../store/graph/commit-graph.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { LookAhead } from "./look-ahead.ts";
import { ABSENT, type EntryCode, PathEntries } from "./path-entries.ts";
import type { WorkBudget } from "../pacing/work-budget.ts";

/** Commits that `known` looks at. */
const KNOWN_COMMITS = 1_024;

/** Where a commit leads on to, and whether it changes what lies at a path. */
export interface PathStep {
  readonly leadsTo: Iterable<number>;
  readonly isChange: boolean;
}

/** What lies at a path, commit by commit. */
export class PathHistory {
  readonly #graph: CommitGraph;
  readonly #entries: PathEntries;
  readonly #firstParent: boolean;
  readonly #budget: WorkBudget;
  readonly #lookAhead: LookAhead;

  /** @param path byte string
   * @param firstParent whether of a merge's parents only the first is looked at */
  constructor(repository: OpenRepository, path: string, firstParent: boolean, budget: WorkBudget) {
    this.#graph = repository.tables.graph;
    this.#entries = new PathEntries(repository, path);
    this.#firstParent = firstParent;
    this.#budget = budget;
    this.#lookAhead = new LookAhead(this.#graph);
  }

  /** What a commit has there, once it or a child of it was prepared. */
  at(position: number): EntryCode {
    return this.#find(position)!;
  }

  /** What a prepared commit does there: where a parent has the same, history goes on at the first such parent only.
   * @see try_to_simplify_commit() in git's revision.c */
  step(position: number): PathStep {
    return this.#tryStep(position)!;
  }

  /** Reads the trees that are needed to judge a commit, and those that will be for the commits that are likely to come next.
   * @param starts where the walk stands, the commit among them
   * @throws GitError "storage-failed" */
  async prepare(position: number, starts: () => Iterable<number>): Promise<void> {
    if (this.#tryStep(position) !== null) return;
    // A merge has most often brought nothing to the path: then history goes on at its first parent.
    const guess = (at: number) => this.#tryStep(at)?.leadsTo ?? this.#parents(at).subarray(0, 1);
    const upcoming = [position, ...this.#lookAhead.next(starts(), guess)];
    const commits = upcoming.flatMap((at) => [at, ...this.#parents(at)]);
    const trees = commits.map((at) => this.#graph.tree(at));
    await this.#entries.load(trees, this.#budget);
  }

  /** What lies there in the commits that come next, as far as trees were read: each once.
   * @param starts where the walk stands */
  known(starts: Iterable<number>): EntryCode[] {
    const commits = new LookAhead(this.#graph, KNOWN_COMMITS).next(starts, (at) => this.#tryStep(at)?.leadsTo ?? []);
    return [...new Set(commits.map((at) => this.#find(at) ?? ABSENT))];
  }

  /** @returns null when trees are to be read first */
  #tryStep(position: number): PathStep | null {
    const parents = this.#parents(position);
    const own = this.#find(position);
    if (own === undefined) return null;
    for (const parent of parents) {
      const code = this.#find(parent);
      if (code === undefined) return null;
      if (code === own) return { leadsTo: [parent], isChange: false };
    }
    return { leadsTo: parents, isChange: parents.length > 0 || own !== ABSENT };
  }

  #find(position: number): EntryCode | undefined {
    return this.#entries.find(this.#graph.tree(position));
  }

  #parents(position: number): Uint32Array {
    const parents = this.#graph.parents(position);
    return this.#firstParent ? parents.subarray(0, 1) : parents;
  }
}
