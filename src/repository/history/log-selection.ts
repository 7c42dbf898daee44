import type { CommitGraph } from "../../store/commit-graph.ts";
import { readCommits } from "../commit-record.ts";
import type { OpenRepository } from "../open-repository.ts";
import { HistoryWalk, type WalkPlace } from "./history-walk.ts";
import { ABSENT, PathEntries } from "./path-entries.ts";
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

/** Commits that are read ahead at first, and at the most: twice as many each time. */
const FIRST_BATCH = 64;
const MAX_BATCH = 2_048;

/** Chooses the commits of a history one by one, in the order in which `git log` shows them, with the same commits left out.
 * @see git-log(1), "History Simplification", default mode */
export class LogSelection {
  readonly #repository: OpenRepository;
  readonly #graph: CommitGraph;
  readonly #filter: LogFilter;
  readonly #walk: HistoryWalk;
  readonly #budget: WorkBudget;
  readonly #entries: PathEntries | null;
  /** Whether its author fits, of each commit that was looked at. */
  readonly #fits = new Map<number, boolean>();
  #batch = FIRST_BATCH;

  constructor(repository: OpenRepository, filter: LogFilter, place: WalkPlace, budget: WorkBudget) {
    this.#repository = repository;
    // Positions hold for this graph, even if the tables are loaded anew meanwhile.
    this.#graph = repository.tables.graph;
    this.#filter = filter;
    this.#walk = new HistoryWalk(this.#graph, place);
    this.#budget = budget;
    this.#entries = filter.path === null ? null : new PathEntries(repository, filter.path);
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
    const place = this.#walk.place();
    const { graph } = this.#repository.tables;
    const { since } = this.#filter;
    const leads = place.open.some((number) => since === null || graph.time(graph.position(number)) >= since);
    return leads ? place : null;
  }

  /** Walks on over a commit.
   * @returns whether it is wanted */
  async #pass(position: number): Promise<boolean> {
    const { since, until, author } = this.#filter;
    const time = this.#graph.time(position);
    if (since !== null && time < since) return false;
    await this.#prepare(position);
    const { leadsTo, isChange } = this.#simplify(position)!;
    this.#walk.meet(leadsTo);
    if (!isChange || (until !== null && time > until)) return false;
    return author === null || this.#fits.get(position)!;
  }

  /** Whether a commit changes what lies at the path, and where it leads on to: where a parent has the same there, only to the
   * first such parent. Null: trees must be read first.
   * @see try_to_simplify_commit() in git's revision.c */
  #simplify(position: number): { leadsTo: Iterable<number>; isChange: boolean } | null {
    const parents = this.#parents(position);
    if (this.#entries === null) return { leadsTo: parents, isChange: true };
    const own = this.#entries.find(this.#graph.tree(position));
    if (own === undefined) return null;
    for (const parent of parents) {
      const code = this.#entries.find(this.#graph.tree(parent));
      if (code === undefined) return null;
      if (code === own) return { leadsTo: [parent], isChange: false };
    }
    return { leadsTo: parents, isChange: parents.length > 0 || own !== ABSENT };
  }

  #parents(position: number): Uint32Array {
    const parents = this.#graph.parents(position);
    return this.#filter.firstParent ? parents.subarray(0, 1) : parents;
  }

  /** Reads what is needed to judge a commit, and what those will need that are likely to come next. */
  async #prepare(position: number): Promise<void> {
    const isReady = this.#filter.author === null || this.#fits.has(position);
    if (isReady && this.#simplify(position) !== null) return;
    const guess = (at: number) => this.#simplify(at)?.leadsTo ?? this.#parents(at).subarray(0, 1);
    const upcoming = this.#walk.upcoming(position, this.#batch, guess);
    this.#batch = Math.min(2 * this.#batch, MAX_BATCH);
    if (this.#entries !== null) {
      const commits = upcoming.flatMap((at) => [at, ...this.#parents(at)]);
      await this.#entries.load(
        commits.map((at) => this.#graph.tree(at)),
        this.#budget,
      );
    }
    await this.#readAuthors(upcoming.filter((at) => !this.#fits.has(at)));
  }

  async #readAuthors(positions: readonly number[]): Promise<void> {
    const { author } = this.#filter;
    if (author === null) return;
    const numbers = positions.map((position) => this.#graph.number(position));
    for await (const [number, commit] of readCommits(this.#repository, numbers)) {
      const isWanted = `${commit.author.name} <${commit.author.email}>`.includes(author);
      this.#fits.set(this.#graph.position(number), isWanted);
      await this.#budget.step();
    }
  }
}
