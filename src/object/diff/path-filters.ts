import { COMMIT } from "../../base/format/object.ts";
import { CHANGES_ALL, makePathFilter } from "../../base/format/path-filter.ts";
import type { StoredFilter } from "../store/graph/path-filter-table.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import type { NumberSet } from "../../base/numbers/number-set.ts";
import type { Tables } from "../store/tables.ts";
import type { HeldObjects } from "../objects/held-objects.ts";
import { findChangedPaths } from "./changed-paths.ts";

/** Makes the filters of nodes. The trees of all are compared at once.
 * @param nodes of the graph
 * @param rest called between steps of some milliseconds
 * @returns in their order
 * @throws GitError "storage-failed" when a tree cannot be read */
export async function makePathFilters(
  { tables, trees }: { readonly tables: Tables; readonly trees: HeldObjects },
  nodes: NumberSet,
  rest: () => Promise<void>,
): Promise<StoredFilter[]> {
  const { graph, objects } = tables;
  const { number, type } = objects.locate(nodes);
  await rest();
  const commits: ObjectNumber[] = Array.from(number).filter((_, i) => type[i] === COMMIT);
  const pairs = commits.map((commit) => {
    const position = graph.position(commit);
    const [parent] = graph.parents(position);
    return { old: parent === undefined ? 0 : graph.tree(parent), next: graph.tree(position) };
  });
  const changed = await findChangedPaths({ tables, trees }, pairs, rest);
  await rest();
  const filters = new Map(commits.map((commit, i) => [commit, makePathFilter(changed[i]!)]));
  return Array.from(nodes.toArray(), (node) => ({ number: node, filter: filters.get(node) ?? CHANGES_ALL }));
}
