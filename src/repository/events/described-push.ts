import { decodeText } from "../../format/byte-string.ts";
import { fromHex, OID_BYTES, toHex } from "../../format/oid.ts";
import type { GraphPosition } from "../../store/numbers/kinds.ts";
import type { Push, PushedRef } from "../../store/refs/push-log.ts";
import { newestBetween } from "../history/compare.ts";
import type { CommitRecord } from "../objects/commit-record.ts";
import { ListBudget } from "../objects/list-budget.ts";
import type { OpenRepository } from "../objects/open-repository.ts";

/** Commits of a push that its event tells whole. */
const MAX_TOLD_COMMITS = 20;

/** Refs of a push whose history its event looks into. */
const MAX_WALKED_REFS = 10;

const BRANCHES = "refs/heads/";

/** A ref that a push moved. */
export interface MovedRef {
  readonly name: string;
  /** Hex; null: absent. */
  readonly old: string | null;
  readonly new: string | null;
  /** Whether commits were discarded; null: not looked up, or not known any more. */
  readonly forced: boolean | null;
  /** The commits that a branch has gained, the newest first, as far as the event tells them; null:
   * not looked up, or no longer there. */
  readonly commits: readonly CommitRecord[] | null;
}

/** What a push did. */
export interface DescribedPush {
  /** The first 100 of them. */
  readonly refs: readonly MovedRef[];
  /** How many moved. */
  readonly refCount: number;
}

/** Describes a push by what is known now: commits that nothing reaches any more are left out. */
export async function describePush(
  repository: OpenRepository,
  { refs, refCount }: Pick<Push, "refs" | "refCount">,
  budget = new ListBudget(),
): Promise<DescribedPush> {
  const moved: MovedRef[] = [];
  let told = 0;
  for (const [i, ref] of refs.entries()) {
    const [name, old, to] = ref;
    const described =
      i < MAX_WALKED_REFS
        ? await describeRef(repository, ref, MAX_TOLD_COMMITS - told, budget)
        : { forced: null, commits: null };
    told += described.commits?.length ?? 0;
    budget.noteText(name.length + 4 * OID_BYTES);
    moved.push({ name: decodeText(name), old, new: to, ...described });
  }
  return { refs: moved, refCount };
}

/** Describes one ref of a push.
 * @param limit of the commits told */
async function describeRef(
  repository: OpenRepository,
  [name, old, to]: PushedRef,
  limit: number,
  budget: ListBudget,
): Promise<Pick<MovedRef, "forced" | "commits">> {
  const before = positionOf(repository, old);
  const after = positionOf(repository, to);
  const isMove = old !== null && to !== null;
  const { graph } = repository.tables;
  // What was pruned since was not reachable, so it was lost.
  const forced = !isMove ? false : after === null ? null : before === null || !graph.isAncestor(before, after);
  if (to === null || !name.startsWith(BRANCHES)) return { forced, commits: [] };
  if (after === null || !repository.isReachable(graph.number(after))) return { forced, commits: null };
  const bases = before === null ? defaultTip(repository, name) : [before];
  return { forced, commits: await newestBetween(repository, bases, after, limit, budget) };
}

/** An object's place in the graph; null: it has none. */
function positionOf({ tables: { graph, objects } }: OpenRepository, hex: string | null): GraphPosition | null {
  const row = hex === null ? null : objects.find(fromHex(hex));
  const position = row === null ? -1 : graph.position(row.number);
  return position === -1 ? null : (position as GraphPosition);
}

/** The tip of the default branch, unless that is the branch itself. */
function defaultTip(repository: OpenRepository, name: string): GraphPosition[] {
  const { refs } = repository.tables;
  const head = refs.head();
  const oid = head === null || head === name ? null : (refs.get(head)?.oid ?? null);
  const position = positionOf(repository, oid && toHex(oid));
  return position === null ? [] : [position];
}
