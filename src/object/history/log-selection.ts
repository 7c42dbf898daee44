import type { GraphPosition, ObjectNumber } from "../../base/numbers/kinds.ts";
import type { CommitGraph } from "../store/graph/commit-graph.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { CommitFilter } from "./commit-filter.ts";
import { FollowedFile } from "./followed-file.ts";
import { HistoryWalk } from "./history-walk.ts";
import { PathHistory, type PathStep } from "./path-history.ts";
import type { WorkBudget } from "../../base/pacing/work-budget.ts";
import type { LogFilter, LogPlace } from "../../contract/history.ts";

/** Commits passed without reading anything, in the time of one of `WorkBudget`'s steps. */
const SKIPS_PER_STEP = 64;

/** A chosen commit. */
interface ChosenCommit {
  /** Object number. */
  readonly number: ObjectNumber;
  /** Byte string: the name of a followed file in this commit; null: none is followed. */
  readonly path: string | null;
}

/** Selects the commits of a history one by one, in the order of `git log`, omitting the same
 * commits.
 * @see git-log(1), "History Simplification", default mode */
export class LogSelection {
  readonly #graph: CommitGraph;
  readonly #filter: LogFilter;
  readonly #walk: HistoryWalk;
  readonly #budget: WorkBudget;
  readonly #path: PathHistory | null;
  readonly #texts: CommitFilter | null;
  readonly #file: FollowedFile | null;

  constructor(repository: OpenRepository, filter: LogFilter, place: LogPlace, budget: WorkBudget) {
    // Positions belong to this graph, even if the tables are reloaded meanwhile.
    this.#graph = repository.tables.graph;
    this.#filter = filter;
    this.#walk = new HistoryWalk(this.#graph, place, filter.order);
    this.#budget = budget;
    const { path, author, text, firstParent, follow } = filter;
    this.#path = path === null || follow ? null : new PathHistory(repository, path, firstParent, budget);
    this.#file =
      path === null || !follow ? null : new FollowedFile(repository, place.path ?? path, firstParent, budget);
    this.#texts = author === null && text === null ? null : new CommitFilter(repository, filter, budget);
  }

  /** Continues until `limit` commits are selected, or the history or the time ends.
   * @throws GitError "storage-failed" */
  async choose(limit: number): Promise<ChosenCommit[]> {
    const chosen: ChosenCommit[] = [];
    do {
      const position = await this.#next();
      if (position === undefined) break;
      const path = this.#file?.path ?? null;
      if (await this.#pass(position)) chosen.push({ number: this.#graph.number(position), path });
    } while (chosen.length < limit && !this.#budget.isSpent);
    return chosen;
  }

  /** Where to continue; null: nothing is left. */
  place(): LogPlace | null {
    const { since } = this.#filter;
    const leadsOn = this.#walk.open.some((position) => since === null || this.#graph.time(position) >= since);
    return leadsOn ? { ...this.#walk.place(), path: this.#file?.path ?? null } : null;
  }

  /** Takes the next commit that cannot be skipped; undefined: none is left, or the time is over. */
  async #next(): Promise<GraphPosition | undefined> {
    for (let visits = 1; ; visits++) {
      const position = this.#walk.next();
      if (position === undefined || !this.#skip(position)) return position;
      if (visits % SKIPS_PER_STEP !== 0) continue;
      await this.#budget.step();
      if (this.#budget.isSpent) return undefined;
    }
  }

  /** Visits a commit if that takes no reading: its filter tells that it does not change the path.
   * @returns whether it did */
  #skip(position: GraphPosition): boolean {
    const { since } = this.#filter;
    const changes = this.#path ?? this.#file;
    if (changes === null || !changes.isSkipped(position)) return false;
    if (since !== null && this.#graph.time(position) < since) return true;
    const isSimplified = this.#path !== null || this.#filter.firstParent;
    if (isSimplified) this.#walk.meetOne(this.#graph.firstParent(position));
    else this.#walk.meet(this.#graph.parents(position));
    return true;
  }

  /** Visits a commit.
   * @returns whether it is wanted */
  async #pass(position: GraphPosition): Promise<boolean> {
    const { since, until } = this.#filter;
    const time = this.#graph.time(position);
    if (since !== null && time < since) return false;
    const { parentsToWalk, isChange } = await this.#step(position);
    this.#walk.meet(parentsToWalk);
    if (!isChange || (until !== null && time > until)) return false;
    const starts = () => [position, ...this.#walk.open];
    if (this.#texts !== null && !(await this.#texts.fits(position, starts))) return false;
    // As in git, a commit excluded by the other conditions cannot rename the file.
    return this.#file === null || this.#file.isChangedBy(position, starts);
  }

  async #step(position: GraphPosition): Promise<PathStep> {
    if (this.#path !== null) {
      await this.#path.prepare(position, () => [position, ...this.#walk.open]);
      return this.#path.step(position);
    }
    const parents = this.#graph.parents(position);
    return { parentsToWalk: this.#filter.firstParent ? parents.subarray(0, 1) : parents, isChange: true };
  }
}
