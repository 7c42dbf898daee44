import { ChangedBlobs } from "../diff/changed-blobs.ts";
import type { FileVersion } from "../diff/file-change.ts";
import { findRenames } from "../diff/renames.ts";
import { diffTrees } from "../diff/tree-diff.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { TimeSlice } from "../../base/pacing/time-slice.ts";

/** A commit that changes more files is not searched for renames. */
const MAX_CHANGES = 50_000;

/** Git's limit too: at most a million deleted files are compared with the added one. */
const LIMITS = { maxFiles: 1_000, maxBlobBytes: 8 * 1024 * 1024, maxReadBytes: 64 * 1024 * 1024, matchesEmpty: true };

/** Finds the former path of a file: of the files deleted in the same commit, the most similar one.
 * @param old root tree before, an object number
 * @param next root tree after, which has the file
 * @param path byte string
 * @returns null when the file was new
 * @see find_rename() in git's blame.c */
export async function findRename(
  repository: OpenRepository,
  old: number,
  next: number,
  path: string,
): Promise<{ path: string; version: FileVersion } | null> {
  const slice = new TimeSlice();
  const { changes, isTruncated } = await diffTrees(repository.reader, old, next, MAX_CHANGES, slice);
  const candidates = changes.filter((change) => change.next === null || (change.old === null && change.path === path));
  if (isTruncated || candidates.length < 2) return null;
  const found = await findRenames(candidates, new ChangedBlobs(repository, slice), LIMITS);
  const rename = found.changes.find((change) => change.path === path && change.old !== null && change.next !== null);
  return rename === undefined ? null : { path: rename.oldPath, version: rename.old! };
}
