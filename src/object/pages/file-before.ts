import { toHex } from "../../base/format/oid.ts";
import { isTreeMode } from "../../base/format/tree.ts";
import { findRename } from "../history/find-rename.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { peel, resolveCommit, revisionOf } from "../objects/revision.ts";
import { entryAt } from "../objects/tree-path.ts";
import type { FileOfCommit } from "../../contract/pages.ts";

/** Finds a file as it was before a commit: in the first parent that has it, by the name that it had
 * there.
 * @returns null: the commit brought it
 * @throws GitError as `resolveCommit` */
export async function fileBefore(
  repository: OpenRepository,
  { commit, path }: FileOfCommit,
): Promise<FileOfCommit | null> {
  const { graph } = repository.tables;
  const revision = await resolveCommit(repository, commit);
  const parents = [...graph.parents(graph.position(revision.number))];
  const idOf = (parent: number): string => toHex(revisionOf(repository, graph.number(parent)).oid);
  for (const parent of parents) {
    const entry = await entryAt(repository, graph.tree(parent), path);
    if (entry !== null && entry.number !== 0 && !isTreeMode(entry.mode)) return { commit: idOf(parent), path };
  }
  for (const parent of parents) {
    const rename = await findRename(repository, graph.tree(parent), peel(repository, revision, "tree").number, path);
    if (rename !== null) return { commit: idOf(parent), path: rename.path };
  }
  return null;
}
