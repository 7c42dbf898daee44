import type { Oid } from "../../format/oid.ts";

/** Bits of the masks that say which of the three trees have something: the merge base, ours, theirs. */
export const BASE = 1;
/** @see BASE */
export const OURS = 2;
/** @see BASE */
export const THEIRS = 4;
/** All three trees. */
export const ALL = 7;

/** One of the two sides, which is also the index of its version. */
export type Side = 1 | 2;

/** The side that is not this one. */
export function otherSide(side: Side): Side {
  return side === 1 ? 2 : 1;
}

/** What a tree has at a path. */
export interface Version {
  /** As git reads it: 040000, 100644, 100755, 120000 or 160000. */
  readonly mode: number;
  readonly oid: Oid;
}

/** What the base, ours and theirs have; null: nothing. */
export type Versions = [base: Version | null, ours: Version | null, theirs: Version | null];

/** How a path fares in a merge. First it holds what the three trees have there; then renames move versions to where they belong;
 * at last it is settled. Files are what is no directory: symbolic links and gitlinks too. */
export interface MergedPath {
  /** Whether `result` stands as it is, without conflict. */
  isResolved: boolean;
  /** What the merged tree has there; null: nothing. */
  result: Version | null;
  versions: Versions;
  /** Where the versions lay: elsewhere when there were renames. */
  paths: [base: string, ours: string, theirs: string];
  /** The trees that have a file. */
  fileMask: number;
  /** The trees that have a directory. */
  directoryMask: number;
  /** Two trees that have the same, 0: all differ. */
  matchMask: number;
  /** Whether there are both files and directories. */
  isFileOrDirectory: boolean;
  /** Whether a rename leaves the path in conflict whatever becomes of the contents. */
  isPathInConflict: boolean;
}

/** The paths of a merge, except for those in directories that are settled as a whole. */
export type MergedPaths = Map<string, MergedPath>;

/** The directory that holds a path, "" at the top. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** The last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** What a path has besides directories. */
export function withoutDirectory(merged: MergedPath): MergedPath {
  return {
    ...merged,
    result: null,
    versions: merged.versions.map((version, i) => (merged.fileMask & (1 << i) ? version : null)) as Versions,
    directoryMask: 0,
    matchMask: merged.matchMask & ~merged.directoryMask,
    isFileOrDirectory: false,
  };
}
