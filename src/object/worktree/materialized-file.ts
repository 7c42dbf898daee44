import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import type { Worktree, WorktreeFile } from "../store/jobs/worktree-table.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { worktreeFileKey } from "./file-key.ts";

/** A file of a commit that R2 holds uncompressed. */
interface MaterializedFile extends Omit<WorktreeFile, "etag"> {
  /** The R2 object, to be read by `ChunkStore.openFile`. It may be another version by then. */
  readonly key: string;
  readonly etag: string;
}

/** Finds a file of a commit among the worktrees.
 * @param commit object number
 * @param path byte string
 * @returns null when no worktree has it, or not yet: then it must be read from its chunk */
export function findMaterialized(
  { tables, state }: OpenRepository,
  commit: ObjectNumber,
  path: string,
): MaterializedFile | null {
  const worktree = tables.worktrees.ofCommit(commit);
  if (worktree === null) return null;
  const file = tables.worktrees.file(worktree.id, path);
  if (file === null || file.etag === null) return null;
  return { ...file, etag: file.etag, key: worktreeFileKey(state.key, worktree.branch, path) };
}

/** Schedules a file to be rewritten whose R2 object turned out to be missing or another version.
 * Must run in a transaction; the caller schedules the jobs after it. */
export function mistrustFile(repository: OpenRepository, worktree: Worktree, { path, oid }: WorktreeFile): void {
  const { tables } = repository;
  tables.worktrees.mistrust(worktree.id, path, repository.numberOf(oid));
  tables.jobs.add("materialize", worktree.branch, Date.now());
}
