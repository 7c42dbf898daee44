import type { Oid } from "../../base/format/oid.ts";
import type { NewObject, NewObjects } from "../push/new-objects.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { applyRenames } from "./apply-renames.ts";
import { collectPaths, type Roots } from "./collect-paths.ts";
import { type Conflict, ConflictList } from "./conflict.ts";
import { followDirectoryRenames } from "./directory-renames.ts";
import { findSideRenames } from "./find-renames.ts";
import { MergeAttributes } from "./merge-attributes.ts";
import type { ContentMerge, MergeLabels } from "./merge-content.ts";
import { MergeObjects } from "./merge-objects.ts";
import { resolvePaths } from "./resolve-paths.ts";

/** The result of a merge of trees. */
export type MergedTrees =
  /** `newObjects` are those that the tree reaches and the repository lacks. An object follows those
   * that it refers to. */
  | { readonly kind: "clean"; readonly tree: Oid; readonly newObjects: readonly NewObject[] }
  /** `tree` is what `git merge` would leave, with conflict markers: for display, not for a
   * commit. */
  | { readonly kind: "conflicts"; readonly tree: Oid; readonly conflicts: readonly Conflict[] };

/** Merges two trees with a common base, with the result of `git merge-tree --write-tree`: by path,
 * then by line. Nothing is stored.
 * @param roots ids of the three trees, which may be new ones; null: an empty tree
 * @param labels byte strings: the names of the sides in conflict markers, e.g. branches
 * @param made holds new objects that the trees reach, and receives those that the merge makes
 * @throws GitError "too-large", "storage-failed" */
export async function mergeTrees(
  repository: OpenRepository,
  { base, ours, theirs }: { readonly base: Oid | null; readonly ours: Oid | null; readonly theirs: Oid | null },
  labels: MergeLabels,
  made: NewObjects,
): Promise<MergedTrees> {
  const objects = new MergeObjects(repository, made);
  const attributes = new MergeAttributes(objects, ours);
  const { tree, conflicts } = await mergeRoots({ objects, attributes, labels, depth: 0 }, [base, ours, theirs]);
  return conflicts.length === 0
    ? { kind: "clean", tree, newObjects: objects.newObjectsOf(tree) }
    : { kind: "conflicts", tree, conflicts };
}

/** Merges trees as `mergeTrees`. */
export async function mergeRoots(merge: ContentMerge, roots: Roots): Promise<{ tree: Oid; conflicts: Conflict[] }> {
  const { objects, depth } = merge;
  const conflicts = new ConflictList();
  const { paths, candidates } = await collectPaths(objects, roots);
  if (candidates.some(({ relevant, targets }) => relevant.size > 0 && targets.length > 0)) {
    const sides = [
      await findSideRenames(objects, candidates[0], 1),
      await findSideRenames(objects, candidates[1], 2),
    ] as const;
    // A merge of merge bases does not follow directory renames.
    const pairs =
      depth === 0
        ? followDirectoryRenames(paths, sides, conflicts)
        : sides.flatMap((side) => side.pairs.filter(({ isRename }) => isRename));
    await applyRenames(merge, paths, pairs, conflicts);
  }
  const tree = await resolvePaths(merge, paths, conflicts);
  return { tree, conflicts: conflicts.all() };
}
