import type { GraphPosition, ObjectNumber } from "../../base/numbers/kinds.ts";
import { toHex } from "../../base/format/oid.ts";
import type { CommitRecord } from "../../contract/commits.ts";
import { readCommits } from "../objects/commit-record.ts";
import { ListBudget } from "../objects/list-budget.ts";
import { aheadBehind } from "./ahead-behind.ts";
import { DateQueue } from "./date-queue.ts";
import { mergeBases } from "./merge-base.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { resolveCommit, revisionOf } from "../objects/revision.ts";
import type { Comparison } from "../../contract/history.ts";

/** Compares two commits' histories.
 * @param query byte strings, revisions
 * @throws GitError as `resolveCommit` */
export async function compare(repository: OpenRepository, query: { base: string; head: string }): Promise<Comparison> {
  const base = await resolveCommit(repository, query.base);
  const head = await resolveCommit(repository, query.head);
  const { graph } = repository.tables;
  const [basePosition, headPosition] = [graph.position(base.number), graph.position(head.number)];
  const [mergeBase] = mergeBases(graph, basePosition, [headPosition]);
  return {
    base: toHex(base.oid),
    head: toHex(head.oid),
    mergeBase: mergeBase === undefined ? null : toHex(revisionOf(repository, graph.number(mergeBase)).oid),
    ...aheadBehind(graph, basePosition, [headPosition])[0]!,
  };
}

/** Lists commits that head reaches and no base does, in the order of `git log head --not bases`.
 * @param query ids of commits in hex
 * @throws GitError "not-found" when no ref reaches one of them, "storage-failed" */
export async function commitsBetween(
  repository: OpenRepository,
  query: { bases: readonly string[]; head: string; limit: number },
): Promise<CommitRecord[]> {
  const bases: ObjectNumber[] = [];
  for (const base of query.bases) bases.push((await resolveCommit(repository, base)).number);
  const head = await resolveCommit(repository, query.head);
  const { graph } = repository.tables;
  const positions = bases.map((base) => graph.position(base));
  return newestBetween(repository, positions, graph.position(head.number), query.limit);
}

/** As `commitsBetween`, of positions in the graph.
 * @throws GitError "storage-failed" */
export async function newestBetween(
  repository: OpenRepository,
  bases: readonly GraphPosition[],
  head: GraphPosition,
  limit: number,
  budget = new ListBudget(),
): Promise<CommitRecord[]> {
  const { graph } = repository.tables;
  const seen = graph.ancestors(bases);
  const queue = new DateQueue(graph);
  const push = (position: GraphPosition): void => {
    if (seen.has(position)) return;
    seen.add(position);
    queue.push(position);
  };
  push(head);
  const numbers: ObjectNumber[] = [];
  while (numbers.length < limit && queue.size > 0) {
    const position = queue.pop()!;
    numbers.push(graph.number(position));
    for (const parent of graph.parents(position)) push(parent);
  }
  const records = new Map(await Array.fromAsync(readCommits(repository, numbers, budget)));
  return numbers.map((number) => records.get(number)!);
}
