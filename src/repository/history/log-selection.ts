import type { CommitGraph } from "../../store/commit-graph.ts";
import type { OpenRepository } from "../open-repository.ts";
import { AuthorFilter } from "./author-filter.ts";
import { HistoryWalk, type WalkPlace } from "./history-walk.ts";
import { PathHistory, type PathStep } from "./path-history.ts";
import type { WorkBudget } from "./work-budget.ts";

/** Which commits of a history are wanted. */
export interface LogFilter {
  /** Byte string: only commits that change what lies there. */
  readonly path: string | null;
  /** Seconds since 1970. A commit older than this leads no further either. */
  readonly since: number | null;
  /** Seconds since 1970. */
  readonly until: number | null;
  /** Text that is part of the author's `name <email>`. */
  readonly author: string | null;
  /** Whether of a merge's parents only the first is looked at. */
  readonly firstParent: boolean;
}

/** Chooses the commits of a history one by one, in the order in which `git log` shows them, with the same commits left out.
 * @see git-log(1), "History Simplification", default mode */
export class LogSelection {
  readonly #graph: CommitGraph;
  readonly #filter: LogFilter;
  readonly #walk: HistoryWalk;
  readonly #budget: WorkBudget;
  readonly #path: PathHistory | null;
  readonly #author: AuthorFilter | null;

  constructor(repository: OpenRepository, filter: LogFilter, place: WalkPlace, budget: WorkBudget) {
    // Positions hold for this graph, even if the tables are loaded anew meanwhile.
    this.#graph = repository.tables.graph;
    this.#filter = filter;
    this.#walk = new HistoryWalk(this.#graph, place);
    this.#budget = budget;
    const { path, author, firstParent } = filter;
    this.#path = path === null ? null : new PathHistory(repository, path, firstParent, budget);
    this.#author = author === null ? null : new AuthorFilter(repository, author, budget);
  }

  /** Goes on until so many commits are chosen, the history is over, or the time.
   * @returns object numbers */
  async choose(limit: number): Promise<number[]> {
    const chosen: number[] = [];
    do {
      const position = this.#walk.next();
      if (position === undefined) break;
      if (await this.#pass(position)) chosen.push(this.#graph.number(position));
    } while (chosen.length < limit && !this.#budget.isSpent);
    return chosen;
  }

  /** Where to go on; null: there is nothing left. */
  place(): WalkPlace | null {
    const { since } = this.#filter;
    const leadsOn = this.#walk.open.some((position) => since === null || this.#graph.time(position) >= since);
    return leadsOn ? this.#walk.place() : null;
  }

  /** Walks on over a commit.
   * @returns whether it is wanted */
  async #pass(position: number): Promise<boolean> {
    const { since, until } = this.#filter;
    const time = this.#graph.time(position);
    if (since !== null && time < since) return false;
    const { leadsTo, isChange } = await this.#step(position);
    this.#walk.meet(leadsTo);
    if (!isChange || (until !== null && time > until)) return false;
    return this.#author === null || this.#author.fits(position, () => this.#walk.open);
  }

  async #step(position: number): Promise<PathStep> {
    if (this.#path !== null) {
      await this.#path.prepare(position, () => [position, ...this.#walk.open]);
      return this.#path.step(position);
    }
    const parents = this.#graph.parents(position);
    return { leadsTo: this.#filter.firstParent ? parents.subarray(0, 1) : parents, isChange: true };
  }
}
