import type { OpenRepository } from "../objects/open-repository.ts";

/** What a repository keeps for Git LFS. */
export interface LfsState {
  readonly objects: number;
  readonly sizeBytes: number;
  /** Bytes that others of the family keep for it; they count against no quota of its own. */
  readonly sharedBytes: number;
  readonly locks: number;
}

/** Counts what a repository keeps for Git LFS. */
export async function lfsState({ tables }: OpenRepository): Promise<LfsState> {
  const { count, sizeBytes, ownBytes } = tables.lfs.sums();
  return { objects: count, sizeBytes, sharedBytes: sizeBytes - ownBytes, locks: tables.locks.count() };
}
