import { checkLimit } from "../../base/format/limits.ts";
import type { GraphPosition } from "../../base/numbers/kinds.ts";
import { toHex, OID_BYTES } from "../../base/format/oid.ts";
import type { CommitGraph, PositionSet } from "../store/graph/commit-graph.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { resolveCommit, revisionOf } from "../objects/revision.ts";
import { DateQueue } from "./date-queue.ts";
import { Bitset } from "../../base/numbers/bitset.ts";
import type { Ancestry, ForeignComparison } from "../../contract/merges.ts";

// What a walk knows about a commit.
const BY_ONE = 1;
const BY_OTHERS = 2;
const COMMON = BY_ONE | BY_OTHERS;
/** An ancestor of a common commit: not a best one. */
const STALE = 4;
const QUEUED = 8;
const FOUND = 16;

/** Finds the best common ancestors: those that are not ancestors of another one. With several
 * `others`, the common ancestors of `one` and a merge of all others. The walk ends where everything
 * is common.
 * @param one position of a commit
 * @param others positions of commits
 * @returns positions, the newest first
 * @see git-merge-base(1) --all, and paint_down_to_common() in its commit-reach.c; the order of
 * commits with the same second is the same */
export function mergeBases(graph: CommitGraph, one: GraphPosition, others: readonly GraphPosition[]): GraphPosition[] {
  if (others.includes(one)) return [one];
  const marks = new Uint8Array(graph.length);
  const queue = new DateQueue(graph);
  /** Queued commits that may still reach a best one. */
  let open = 0;
  const mark = (position: GraphPosition, bits: number): void => {
    const before = marks[position]!;
    if ((before & bits) === bits) return;
    const isOpen = (before & QUEUED) !== 0 && (before & STALE) === 0;
    marks[position]! |= bits | QUEUED;
    open += ((marks[position]! & STALE) === 0 ? 1 : 0) - (isOpen ? 1 : 0);
    if ((before & QUEUED) === 0) queue.push(position);
  };
  mark(one, BY_ONE);
  for (const other of others) mark(other, BY_OTHERS);
  const found: GraphPosition[] = [];
  while (open > 0) {
    const position = queue.pop()!;
    marks[position]! &= ~QUEUED;
    let bits = marks[position]! & (COMMON | STALE);
    if ((bits & STALE) === 0) open -= 1;
    if (bits === COMMON) {
      if ((marks[position]! & FOUND) === 0) found.push(position);
      marks[position]! |= FOUND;
      bits |= STALE;
    }
    for (const parent of graph.parents(position)) mark(parent, bits);
  }
  return newestFirst(
    graph,
    withoutAncestors(
      graph,
      found.filter((position) => (marks[position]! & STALE) === 0),
    ),
  );
}

/** Finds the merge bases of revisions, as `git merge-base --all` does.
 * @param base byte string, a revision
 * @param heads byte strings, revisions; several mean a merge of all
 * @returns ids in hex: of the named commits, and of the merge bases, newest first
 * @throws GitError as `resolveCommit` */
export async function mergeBase(
  repository: OpenRepository,
  { base, heads }: { base: string; heads: readonly string[] },
): Promise<{ base: string; heads: string[]; mergeBases: string[] }> {
  const one = await resolveCommit(repository, base);
  const others = [];
  for (const head of heads) others.push(await resolveCommit(repository, head));
  const { graph } = repository.tables;
  const found = mergeBases(
    graph,
    graph.position(one.number),
    others.map(({ number }) => graph.position(number)),
  );
  return {
    base: toHex(one.oid),
    heads: others.map(({ oid }) => toHex(oid)),
    mergeBases: found.map((position) => toHex(revisionOf(repository, graph.number(position)).oid)),
  };
}

/** Where clocks were wrong, the walk may visit a common commit before another one that reaches
 * it. */
function withoutAncestors(graph: CommitGraph, positions: readonly GraphPosition[]): readonly GraphPosition[] {
  if (positions.length < 2) return positions;
  const below = graph.ancestors(positions.flatMap((position) => [...graph.parents(position)]));
  return positions.filter((position) => !below.has(position));
}

function newestFirst(graph: CommitGraph, positions: readonly GraphPosition[]): GraphPosition[] {
  return positions.toSorted((a, b) => graph.time(b) - graph.time(a));
}

// Two commits of different repositories are compared without moving an object: one repository names
// the ancestors of its commit, and the other finds which of them are ancestors of its own.

/** The most commits that are named: their ids take 20 MB of a call, which takes 32 MiB. */
const MAX_NAMED = 1_000_000;

/** Names the ancestors of a revision.
 * @param revision byte string
 * @throws GitError as `resolveCommit`, "too-large" */
export async function ancestry(repository: OpenRepository, revision: string): Promise<Ancestry> {
  const { oid, number } = await resolveCommit(repository, revision);
  const { graph, objects } = repository.tables;
  const ancestors = graph.ancestors([graph.position(number)]);
  checkLimit("the history to compare (commits)", MAX_NAMED, ancestors.count());
  return { commit: toHex(oid), oids: objects.locate(graph.numbers(ancestors)).oid };
}

/** Finds what a revision has in common with a commit of another repository.
 * @param revision byte string
 * @param oids from `ancestry`, of the other repository
 * @throws GitError as `resolveCommit` */
export async function commonAncestors(
  repository: OpenRepository,
  { revision, oids }: { revision: string; oids: Uint8Array },
): Promise<ForeignComparison> {
  const { oid, number } = await resolveCommit(repository, revision);
  const { graph, objects } = repository.tables;
  const own = graph.ancestors([graph.position(number)]);
  const common: PositionSet = new Bitset<GraphPosition>(graph.length);
  for (const named of objects.lookupMany(oids).number) {
    const position = named === 0 ? -1 : graph.position(named);
    if (position >= 0 && own.has(position)) common.add(position);
  }
  const parents = [...common].flatMap((position) => Array.from(graph.parents(position)));
  const best = [...common.difference(graph.ancestors(parents))];
  const newestFirst = best.toSorted((a, b) => graph.time(b) - graph.time(a));
  return {
    base: toHex(oid),
    mergeBases: newestFirst.map((position) => toHex(revisionOf(repository, graph.number(position)).oid)),
    ahead: oids.length / OID_BYTES - common.count(),
    behind: own.count() - common.count(),
  };
}
