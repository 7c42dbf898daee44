import type { GraphPosition } from "../../store/numbers/kinds.ts";
import type { CommitGraph } from "../../store/graph/commit-graph.ts";
import { readCommits } from "../objects/commit-record.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { LookAhead } from "./look-ahead.ts";
import type { WorkBudget } from "../pacing/work-budget.ts";

/** Selects commits by their author. */
export class AuthorFilter {
  readonly #repository: OpenRepository;
  readonly #graph: CommitGraph;
  readonly #author: string;
  readonly #budget: WorkBudget;
  readonly #lookAhead: LookAhead;
  /** The result for each commit that was read. */
  readonly #fits = new Map<GraphPosition, boolean>();

  /** @param author text that is part of the author's `name <email>`
   * @see git-log(1) --author, with --fixed-strings */
  constructor(repository: OpenRepository, author: string, budget: WorkBudget) {
    this.#repository = repository;
    this.#graph = repository.tables.graph;
    this.#author = author;
    this.#budget = budget;
    this.#lookAhead = new LookAhead(this.#graph);
  }

  /** Whether a commit is by the author. Reads it, together with those likely to come next.
   * @param starts the current positions of the walk, the commit among them
   * @throws GitError "storage-failed" */
  async fits(position: GraphPosition, starts: () => Iterable<GraphPosition>): Promise<boolean> {
    if (!this.#fits.has(position)) {
      const upcoming = this.#lookAhead.next(starts(), (at) => this.#graph.parents(at));
      await this.#read([...new Set([position, ...upcoming])].filter((at) => !this.#fits.has(at)));
    }
    return this.#fits.get(position)!;
  }

  async #read(positions: readonly GraphPosition[]): Promise<void> {
    const numbers = positions.map((position) => this.#graph.number(position));
    for await (const [number, { author }] of readCommits(this.#repository, numbers)) {
      this.#fits.set(this.#graph.position(number), `${author.name} <${author.email}>`.includes(this.#author));
      await this.#budget.step();
    }
  }
}
