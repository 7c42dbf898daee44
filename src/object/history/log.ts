import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { GitError } from "../../base/format/errors.ts";
import { CALL_STEPS } from "../../base/format/limits.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { CommitRecord } from "../../contract/commits.ts";
import { readCommits } from "../objects/commit-record.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { resolveCommit } from "../objects/revision.ts";
import type { WalkPlace, LogPlace, LogQuery, LogPage } from "../../contract/history.ts";
import { LogSelection } from "./log-selection.ts";
import { WorkBudget } from "../../base/pacing/work-budget.ts";

/** Lists commits in the order of `git log`.
 * @throws GitError as `resolveCommit`, "invalid" when `place` names a commit that no ref reaches */
export async function log(repository: OpenRepository, query: LogQuery): Promise<LogPage> {
  const start = query.place ?? (await startAt(repository, query.ref));
  checkPlace(repository, start);
  const selection = new LogSelection(repository, query, start, new WorkBudget(CALL_STEPS));
  const chosen = await selection.choose(query.limit);
  const commits = new Map<ObjectNumber, CommitRecord>();
  const numbers = chosen.map(({ number }) => number);
  for await (const [number, commit] of readCommits(repository, numbers)) commits.set(number, commit);
  return {
    commits: chosen.map(({ number, path }) => ({ ...commits.get(number)!, path })),
    next: selection.place(),
  };
}

async function startAt(repository: OpenRepository, ref: string): Promise<LogPlace> {
  return { open: [(await resolveCommit(repository, ref)).number], walked: [], path: null };
}

/** A place comes from a client, and refs may have moved since it was issued. */
function checkPlace({ tables, advertised }: OpenRepository, { open, walked }: WalkPlace): void {
  const { graph, objects } = tables;
  const numbers = [...open, ...walked];
  const isThere = numbers.every((number) => advertised.reachable.has(graph.position(number)));
  const invalid = () =>
    new GitError("invalid", { what: "cursor", field: "cursor", reason: "no ref reaches it any more" });
  if (!isThere) throw invalid();
  const { type } = objects.locate(NumberSet.fromUnsorted(numbers));
  if (type.some((one) => one !== 1)) throw invalid();
}
