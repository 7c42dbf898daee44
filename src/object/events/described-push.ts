import { decodeText } from "../../base/format/byte-string.ts";
import { fromHex, OID_BYTES, toHex } from "../../base/format/oid.ts";
import { COMMIT } from "../../base/format/object.ts";
import type { GraphPosition, ObjectNumber } from "../../base/numbers/kinds.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { Push, PushedRef } from "../store/refs/push-log.ts";
import { aheadBehind } from "../history/ahead-behind.ts";
import { newestBetween } from "../history/compare.ts";
import type { CommitRecord } from "../../contract/commits.ts";
import { readCommits } from "../objects/commit-record.ts";
import { ListBudget } from "../objects/list-budget.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { TagPeeling } from "../objects/tag-peeling.ts";
import { HEADS } from "../../base/format/ref-name.ts";

/** Maximum number of a push's commits that its event includes. */
const MAX_TOLD_COMMITS = 20;

/** Maximum number of a push's refs whose history its event examines. */
const MAX_WALKED_REFS = 10;

/** A ref that a push moved. */
export interface MovedRef {
  readonly name: string;
  /** Hex; null: absent. */
  readonly old: string | null;
  readonly new: string | null;
  /** Whether commits were discarded; null: not examined, or no longer known. */
  readonly forced: boolean | null;
  /** The commits that a branch has gained, the newest first, as many as the event includes; null:
   * not examined, or no longer stored. */
  readonly commits: readonly CommitRecord[] | null;
  /** Number of commits that a branch has gained; null: not examined, or no longer known. */
  readonly commitCount: number | null;
  /** The commit that the ref leads to now; null: the ref is gone, or leads to no commit. Present
   * only on request. */
  readonly head?: CommitRecord | null;
}

/** The ref changes of a push. */
export interface DescribedPush {
  /** At most 100. */
  readonly refs: readonly MovedRef[];
  /** Number of the push's refs before them; absent: none. */
  readonly refsFrom?: number;
  /** Number of refs that moved. */
  readonly refCount: number;
}

/** Describes a push by the current state: commits that are no longer reachable are left out.
 * @param refsFrom number of the push's refs before the given ones
 * @param budget of the list that contains the push
 * @param withHeads whether to include the commit of each ref */
export async function describePush(
  repository: OpenRepository,
  { refs, refCount, refsFrom = 0 }: Pick<Push, "refs" | "refCount"> & { readonly refsFrom?: number },
  budget = new ListBudget(),
  withHeads = false,
): Promise<DescribedPush> {
  const moved: MovedRef[] = [];
  const heads = withHeads ? await readRefHeads(repository, refs, budget) : null;
  let told = 0;
  for (const [i, ref] of refs.entries()) {
    const [name, old, to] = ref;
    const described =
      i < MAX_WALKED_REFS
        ? await describeRef(repository, ref, MAX_TOLD_COMMITS - told, budget)
        : { forced: null, commits: null, commitCount: null };
    told += described.commits?.length ?? 0;
    budget.noteText(name.length + 4 * OID_BYTES);
    const head = heads === null ? {} : { head: heads[i]! };
    moved.push({ name: decodeText(name), old, new: to, ...described, ...head });
  }
  return { refs: moved, refCount, ...(refsFrom > 0 && { refsFrom }) };
}

/** Reads the commits that refs lead to. */
async function readRefHeads(
  repository: OpenRepository,
  refs: readonly PushedRef[],
  budget: ListBudget,
): Promise<(CommitRecord | null)[]> {
  const { graph, objects } = repository.tables;
  const peeling = new TagPeeling(graph);
  const positions = refs.map(([, , to]) => positionOf(repository, to));
  const tips = positions.filter((position) => position !== null).map((position) => graph.number(position));
  const reachable = repository.reachableAmong(NumberSet.fromUnsorted(tips));
  const numbers = positions.map((position): ObjectNumber | null => {
    if (position === null || !reachable.has(graph.number(position))) return null;
    return graph.number(peeling.endOf(position));
  });
  const nodes = NumberSet.fromUnsorted(numbers.filter((number) => number !== null));
  const { number, type } = objects.locate(nodes);
  const commits = Array.from(number).filter((_, i) => type[i] === COMMIT);
  const read = new Map(await Array.fromAsync(readCommits(repository, commits, budget)));
  return numbers.map((one) => (one === null ? null : (read.get(one) ?? null)));
}

/** Describes one ref of a push.
 * @param limit maximum number of commits */
async function describeRef(
  repository: OpenRepository,
  [name, old, to]: PushedRef,
  limit: number,
  budget: ListBudget,
): Promise<Pick<MovedRef, "forced" | "commits" | "commitCount">> {
  const before = positionOf(repository, old);
  const after = positionOf(repository, to);
  const isMove = old !== null && to !== null;
  const { graph } = repository.tables;
  // A commit that was pruned since was not reachable, so it was discarded.
  const forced = !isMove ? false : after === null ? null : before === null || !graph.isAncestor(before, after);
  if (to === null || !name.startsWith(HEADS)) return { forced, commits: [], commitCount: 0 };
  if (after === null || !repository.isReachable(graph.number(after)))
    return { forced, commits: null, commitCount: null };
  const bases = before === null ? defaultTip(repository, name) : [before];
  const [base] = bases;
  const commitCount =
    base === undefined ? graph.ancestors([after]).count() : aheadBehind(graph, base, [after])[0]!.ahead;
  return { forced, commits: await newestBetween(repository, bases, after, limit, budget), commitCount };
}

/** Finds an object's position in the graph; null: it has none. */
function positionOf({ tables: { graph, objects } }: OpenRepository, hex: string | null): GraphPosition | null {
  const row = hex === null ? null : objects.find(fromHex(hex));
  const position = row === null ? -1 : graph.position(row.number);
  return position === -1 ? null : (position as GraphPosition);
}

/** Returns the tip of the default branch, unless the branch is the default one. */
function defaultTip(repository: OpenRepository, name: string): GraphPosition[] {
  const { refs } = repository.tables;
  const head = refs.head();
  const oid = head === null || head === name ? null : (refs.get(head)?.oid ?? null);
  const position = positionOf(repository, oid && toHex(oid));
  return position === null ? [] : [position];
}
