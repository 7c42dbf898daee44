import { encodeText } from "../../format/byte-string.ts";
import { GitError } from "../../format/errors.ts";
import { NumberSet } from "../../store/number-set.ts";
import { type CommitRecord, readCommits } from "../commit-record.ts";
import type { OpenRepository } from "../open-repository.ts";
import { resolveCommit } from "../revision.ts";
import type { WalkPlace } from "./history-walk.ts";
import { type LogFilter, LogSelection } from "./log-selection.ts";
import { WorkBudget } from "./work-budget.ts";

/** A page that took so long ends early: the next one goes on there. */
const PAGE_MS = 2_000;

/** What is asked of a history. Texts are text, not byte strings. */
export interface LogQuery extends LogFilter {
  /** Where the first page begins: a revision. */
  readonly ref: string;
  /** Where this page begins, null: at `ref`. */
  readonly place: WalkPlace | null;
  readonly limit: number;
}

/** A page of a history. */
export interface LogPage {
  readonly commits: CommitRecord[];
  /** Where the next one begins; null: this is the last. */
  readonly next: WalkPlace | null;
}

/** Lists commits in the order of `git log`.
 * @throws GitError as `resolveCommit`, "invalid" when `place` names what no ref leads to */
export async function log(repository: OpenRepository, query: LogQuery): Promise<LogPage> {
  const path = query.path === null ? null : encodeText(query.path);
  const start = query.place ?? { open: [(await resolveCommit(repository, encodeText(query.ref))).number], walked: [] };
  checkPlace(repository, start);
  const selection = new LogSelection(repository, { ...query, path }, start, new WorkBudget(PAGE_MS));
  const numbers = await selection.choose(query.limit);
  const commits = new Map<number, CommitRecord>();
  for await (const [number, commit] of readCommits(repository, numbers)) commits.set(number, commit);
  return { commits: numbers.map((number) => commits.get(number)!), next: selection.place() };
}

/** A place came from a client, and refs may have moved since it was told. */
function checkPlace({ tables, advertised }: OpenRepository, { open, walked }: WalkPlace): void {
  const { graph, objects } = tables;
  const numbers = [...open, ...walked];
  const isThere = numbers.every((number) => advertised.reachable.has(graph.position(number)));
  const invalid = () => new GitError("invalid", { what: "cursor", field: "cursor", reason: "no ref leads there now" });
  if (!isThere) throw invalid();
  const { type } = objects.locate(NumberSet.fromSorted(Uint32Array.from(numbers).sort()));
  if (type.some((one) => one !== 1)) throw invalid();
}
