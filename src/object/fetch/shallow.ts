import type { PositionSet, CommitGraph } from "../store/graph/commit-graph.ts";
import type { GraphPosition } from "../../base/numbers/kinds.ts";
import { Bitset } from "../../base/numbers/bitset.ts";
import { type Deepen, INFINITE_DEPTH } from "../../contract/fetch.ts";

/** The distance of an unreached commit. */
const UNREACHED = 0xffff_ffff;

/** A client's shallow boundary before and after a fetch: positions in the graph. The parents of
 * boundary nodes do not count. */
export interface ShallowBoundary {
  /** The client's shallow commits. */
  readonly before: PositionSet;
  readonly after: PositionSet;
  /** Commits that become shallow, and that are no longer: the client must be told. */
  readonly shallow: readonly GraphPosition[];
  readonly unshallow: readonly GraphPosition[];
}

/** The input of a fetch that changes the depth. Positions of commits, tags peeled. */
interface DeepenStart {
  readonly wants: readonly GraphPosition[];
  /** The client's shallow commits. */
  readonly shallows: readonly GraphPosition[];
  /** All nodes that any ref reaches. */
  readonly reachable: PositionSet;
  /** Commits that the refs of `deepen-not` point to. */
  readonly not: readonly GraphPosition[];
}

/** Finds a client's new shallow boundary.
 * @returns null when a request by date or by refs selects no commit at all
 * @see git's shallow.c: get_shallow_commits(), get_shallow_commits_by_rev_list(); upload-pack.c:
 * send_unshallow() */
export function findBoundary(graph: CommitGraph, deepen: Deepen | null, start: DeepenStart): ShallowBoundary | null {
  const before = toBitset(graph, start.shallows);
  if (deepen === null) return { before, after: before, shallow: [], unshallow: [] };
  const border = findBorder(graph, deepen, start);
  if (border === null) return null;
  const { cut, isInside } = border;
  const unshallow = start.shallows.filter(isInside);
  const after = new Bitset<GraphPosition>(graph.length);
  for (const position of start.shallows) if (!isInside(position)) after.add(position);
  for (const position of cut) after.add(position);
  return { before, after, shallow: cut.filter((position) => !before.has(position)), unshallow };
}

/** Where the history ends, and which commits are inside: those keep their parents. */
interface Border {
  readonly cut: GraphPosition[];
  readonly isInside: (position: GraphPosition) => boolean;
}

function findBorder(graph: CommitGraph, deepen: Deepen, start: DeepenStart): Border | null {
  const { wants, shallows, reachable, not } = start;
  switch (deepen.kind) {
    case "depth":
      if (deepen.depth === INFINITE_DEPTH) return { cut: [], isInside: () => true };
      return findBorderAtDepth(graph, wants, deepen.depth);
    case "relative":
      // From every shallow commit that a ref reaches, wanted or not, as git does.
      return findBorderAtDepth(
        graph,
        shallows.filter((position) => reachable.has(position)),
        deepen.depth + 1,
      );
    case "revisions":
      return findBorderOfRevisions(graph, wants, deepen.since, graph.ancestors(not));
  }
}

/** The boundary consists of the commits `depth - 1` steps away from the nearest start. As in git,
 * it includes roots at that distance. */
function findBorderAtDepth(graph: CommitGraph, starts: readonly GraphPosition[], depth: number): Border {
  const distance = new Uint32Array(graph.length).fill(UNREACHED);
  const reached = toBitset(graph, starts);
  for (const position of starts) distance[position] = 0;
  const cut: GraphPosition[] = [];
  // Positions ascend from parents to children: walking down, each node is visited after all its
  // descendants.
  for (let p = reached.previous(graph.length); p >= 0; p = reached.previous(p)) {
    const steps = distance[p]! + 1;
    if (steps >= depth) {
      cut.push(p);
      continue;
    }
    for (const parent of graph.parents(p)) {
      reached.add(parent);
      distance[parent] = Math.min(distance[parent]!, steps);
    }
  }
  return { cut, isInside: (position) => distance[position]! + 1 < depth };
}

/** Keeps commits not older than `since` and not among `excluded`. The boundary consists of those
 * with a parent that is not kept. */
function findBorderOfRevisions(
  graph: CommitGraph,
  wants: readonly GraphPosition[],
  since: number | null,
  excluded: PositionSet,
): Border | null {
  const isKept = (position: GraphPosition): boolean =>
    !excluded.has(position) && (since === null || graph.time(position) >= since);
  const kept = new Bitset<GraphPosition>(graph.length);
  for (const position of wants) if (isKept(position)) kept.add(position);
  for (let p = kept.previous(graph.length); p >= 0; p = kept.previous(p)) {
    for (const parent of graph.parents(p)) if (isKept(parent)) kept.add(parent);
  }
  if (kept.count() === 0) return null;
  const cut = [...kept].filter((position) => graph.parents(position).some((parent) => !kept.has(parent)));
  const border = new Set(cut);
  return { cut, isInside: (position) => kept.has(position) && !border.has(position) };
}

function toBitset(graph: CommitGraph, positions: readonly GraphPosition[]): PositionSet {
  const set = new Bitset<GraphPosition>(graph.length);
  for (const position of positions) set.add(position);
  return set;
}
