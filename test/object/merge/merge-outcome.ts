/** Merges by git and by Holdfast, in a form that can be compared. */
import { toHex } from "../../../src/base/format/oid.ts";
import type { MergedTrees } from "../../../src/object/merge/merge-trees.ts";
import { gitEnv } from "../../harness/git.ts";
import { runCommand } from "../../harness/shell-pool.ts";

/** The result of a merge. */
export interface MergeOutcome {
  readonly isClean: boolean;
  /** Id of the merged tree, with conflict markers where there are conflicts. */
  readonly tree: string;
  /** The conflicting paths, as in an index: "mode oid stage\tpath". */
  readonly stages: readonly string[];
}

/** Merges two commits with git merge-tree.
 * @param program the git to run */
export async function mergeByGit(dir: string, ours: string, theirs: string, program = "git"): Promise<MergeOutcome> {
  const args = ["merge-tree", "--write-tree", "-z", "--no-messages", ours, theirs];
  const { code, stdout, stderr } = await runCommand({ argv: [program, ...args], cwd: dir, env: gitEnv(), stdin: "" });
  if (code !== 0 && code !== 1) throw new Error(stderr.toString());
  const [tree, ...stages] = stdout
    .toString("latin1")
    .split("\0")
    .filter((line) => line !== "");
  return { isClean: code === 0, tree: tree!, stages };
}

/** The same for a merge by Holdfast. */
export function outcomeOf(merged: MergedTrees): MergeOutcome {
  const conflicts = merged.kind === "clean" ? [] : merged.conflicts;
  const stages = conflicts.flatMap(({ path, versions }) =>
    versions.flatMap((version, i) =>
      version === null ? [] : [`${version.mode.toString(8).padStart(6, "0")} ${toHex(version.oid)} ${i + 1}\t${path}`],
    ),
  );
  return { isClean: merged.kind === "clean", tree: toHex(merged.tree), stages };
}
