// Two commits of different repositories are compared without moving an object: one repository names
// the ancestors of its commit, and the other finds which of them are ancestors of its own.
import { checkLimit } from "../../base/format/limits.ts";
import { OID_BYTES, toHex } from "../../base/format/oid.ts";
import type { PositionSet } from "../store/graph/commit-graph.ts";
import { Bitset } from "../../base/numbers/bitset.ts";
import type { GraphPosition } from "../../base/numbers/kinds.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { resolveCommit, revisionOf } from "../objects/revision.ts";
import type { Ancestry, ForeignComparison } from "../../contract/forks.ts";

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
