import type { WorktreeFile } from "../../store/worktree-table.ts";
import type { OpenRepository } from "../open-repository.ts";
import { worktreeFileKey } from "./file-key.ts";

/** A file of a commit that lies in R2 as it is. */
export interface MaterializedFile extends Omit<WorktreeFile, "etag"> {
  /** The R2 object, to be read by `ChunkStore.openFile`: what is there may be another version by then. */
  readonly key: string;
  readonly etag: string;
}

/** Finds a file of a commit among the worktrees.
 * @param commit object number
 * @param path byte string
 * @returns null when no worktree has it, or not yet: then it is to be read from its chunk */
export function findMaterialized(
  { tables, state }: OpenRepository,
  commit: number,
  path: string,
): MaterializedFile | null {
  const worktree = tables.worktrees.ofCommit(commit);
  if (worktree === null) return null;
  const file = tables.worktrees.file(worktree.id, path);
  if (file === null || file.etag === null) return null;
  return { ...file, etag: file.etag, key: worktreeFileKey(state.key, worktree.branch, path) };
}

/** Has a file written again whose R2 object was found to be another version, or gone.
 * @param commit object number of the commit whose file it was
 * @param path byte string */
export async function mistrustFile(
  repository: OpenRepository,
  { commit, path, etag }: { commit: number; path: string; etag: string },
): Promise<void> {
  const { tables, state } = repository;
  const worktree = tables.worktrees.ofCommit(commit);
  const file = worktree === null ? null : tables.worktrees.file(worktree.id, path);
  // It may have been written anew since.
  if (worktree === null || file?.etag !== etag) return;
  state.platform.transactor.transactionSync(() => {
    tables.worktrees.mistrust(worktree.id, path, repository.numberOf(file.oid));
    tables.jobs.add("materialize", worktree.branch, Date.now());
  });
  state.scheduleJobs();
}
