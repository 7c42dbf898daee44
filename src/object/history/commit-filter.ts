import type { GraphPosition } from "../../base/numbers/kinds.ts";
import type { CommitGraph } from "../store/graph/commit-graph.ts";
import type { CommitRecord } from "../../contract/commits.ts";
import { describeHead, readHeads, sizeOf, UNBOUNDED } from "../objects/commit-record.ts";
import { ListBudget } from "../objects/list-budget.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { LookAhead } from "./look-ahead.ts";
import type { WorkBudget } from "../../base/pacing/work-budget.ts";
import type { WantedTexts } from "../../contract/history.ts";

/** Steps of `WorkBudget` that a commit costs, and bytes of it that are searched in one more. */
const STEPS_PER_COMMIT = 2;
const BYTES_PER_STEP = 8 * 1024;

/** A search reads nothing else, so that what it finds does not depend on other commits. */
const HEADS_ALONE = new ListBudget(0);

/** Selects commits by what is in them, in their first `MAX_HEAD_BYTES`. */
export class CommitFilter {
  readonly #repository: OpenRepository;
  readonly #graph: CommitGraph;
  readonly #wanted: WantedTexts;
  readonly #budget: WorkBudget;
  readonly #lookAhead: LookAhead;
  /** The result for each commit that was read. */
  readonly #fits = new Map<GraphPosition, boolean>();

  /** @see git-log(1) --author and --grep, with --fixed-strings, --all-match and
   * --regexp-ignore-case */
  constructor(repository: OpenRepository, wanted: WantedTexts, budget: WorkBudget) {
    this.#repository = repository;
    this.#graph = repository.tables.graph;
    const { author, text, ignoreCase } = wanted;
    this.#wanted = {
      author: author === null ? null : fold(author, ignoreCase),
      text: text === null ? null : fold(text, ignoreCase),
      ignoreCase,
    };
    this.#budget = budget;
    this.#lookAhead = new LookAhead(this.#graph);
  }

  /** Whether a commit is wanted. Reads it, together with those likely to come next.
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
    for await (const read of readHeads(this.#repository, numbers, HEADS_ALONE)) {
      const commit = describeHead(read, UNBOUNDED);
      this.#fits.set(this.#graph.position(read.number), this.#isWanted(commit));
      await this.#budget.step(STEPS_PER_COMMIT + Math.floor(sizeOf(commit) / BYTES_PER_STEP));
    }
  }

  #isWanted({ author: { name, email }, message }: CommitRecord): boolean {
    const { author, text, ignoreCase } = this.#wanted;
    if (author !== null && !fold(`${name} <${email}>`, ignoreCase).includes(author)) return false;
    return text === null || fold(message, ignoreCase).includes(text);
  }
}

function fold(text: string, ignoreCase: boolean): string {
  return ignoreCase ? text.toLowerCase() : text;
}
