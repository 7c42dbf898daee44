// Comparisons as URLs name them: of two revisions, or of branches of two repositories of a family.
// Names are byte strings.
import { GitError } from "../../base/format/errors.ts";
import type { RepositoryEntry } from "../../contract/registry.ts";
import type { RepositoryRegistry } from "./deployment.ts";
import type { ForeignBranch } from "../../contract/merges.ts";
import type { Comparison } from "../../contract/history.ts";
import type { RepositoryClient } from "../../contract/calls.ts";

/** A comparison, by the names of its sides. */
export interface Range {
  readonly base: string;
  readonly head: string;
  /** Whether three dots were given: the changes on head since the merge base. */
  readonly isSinceMergeBase: boolean;
}

/** Parses `base...head` or `base..head`. An omitted side is HEAD.
 * @returns null: there are no dots */
export function parseRange(range: string): Range | null {
  // No name of a ref has two dots.
  const at = range.indexOf("..");
  if (at < 0) return null;
  const dots = range.startsWith("...", at) ? "..." : "..";
  const [base, head] = [range.slice(0, at), range.slice(at + dots.length)];
  return { base: base || "HEAD", head: head || "HEAD", isSinceMergeBase: dots === "..." };
}

/** No revision that names a commit has a colon. */
const FOREIGN = /^(?<owner>[^/:]+)(?:\/(?<name>[^/:]+))?:(?<branch>.+)$/s;

/** A branch of another repository. */
export interface Foreign extends ForeignBranch {
  readonly entry: RepositoryEntry;
  readonly client: RepositoryClient;
}

/** The means to open a repository of the same family: the registry, and the entry of the repository
 * itself. */
export interface Family {
  readonly registry: RepositoryRegistry;
  entry(): Promise<RepositoryEntry>;
}

/** Opens the repository that a name has before a colon.
 * @returns null: the name is a revision of the repository itself
 * @throws GitError "not-found", "ambiguous" */
export async function openForeign(family: Family, name: string): Promise<Foreign | null> {
  const { owner, name: repository = null, branch } = FOREIGN.exec(name)?.groups ?? {};
  if (owner === undefined || branch === undefined) return null;
  const { entry, client } = await family.registry.openRelative(
    await family.entry(),
    owner,
    repository,
    () => undefined,
  );
  return { entry, client, repository: entry.id, branch };
}

/** The relation of two sides. */
export interface Relation extends Comparison {
  /** Ids in hex. Head's own commits are those that these commits do not reach. */
  readonly bases: readonly string[];
  /** The repository that has head and everything that head shares with base. */
  readonly repository: RepositoryClient;
  readonly foreign: { readonly base: Foreign | null; readonly head: Foreign | null };
}

/** Finds how two sides relate.
 * @param ids of the two commits in hex, for further pages, since the names may have moved; null:
 * resolve the names
 * @throws GitError as `openForeign` and the calls; "invalid" when two repositories are compared
 * without a merge base */
export async function relate(
  local: RepositoryClient,
  family: Family,
  range: Range,
  ids: { readonly base: string; readonly head: string } | null,
): Promise<Relation> {
  const { base, head } = ids ?? range;
  const foreign = { base: await openForeign(family, range.base), head: await openForeign(family, range.head) };
  if (foreign.base === null && foreign.head === null) {
    const relation = await local.compare({ base, head });
    return { ...relation, bases: [relation.base], repository: local, foreign };
  }
  if (!range.isSinceMergeBase) {
    const reason = "branches of two repositories are compared by three dots";
    throw new GitError("invalid", { what: "range", field: "range", reason });
  }
  const revisionOf = (side: Foreign | null, name: string): string =>
    side === null || ids !== null ? name : `refs/heads/${side.branch}`;
  const repository = foreign.head?.client ?? local;
  const { commit, oids } = await repository.ancestry(revisionOf(foreign.head, head));
  const revision = revisionOf(foreign.base, base);
  const found = await (foreign.base?.client ?? local).commonAncestors({ revision, oids });
  const { mergeBases: bases, ...relation } = found;
  return { ...relation, head: commit, mergeBase: bases[0] ?? null, bases, repository, foreign };
}
