import { equalOids, type Oid } from "../../base/format/oid.ts";
import { isTreeMode } from "../../base/format/tree.ts";

/** Bits of the masks that say which of the three trees have an entry: the merge base, ours,
 * theirs. */
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

/** The entry of a tree at a path. */
export interface Version {
  /** As git reads it: 040000, 100644, 100755, 120000 or 160000. */
  readonly mode: number;
  readonly oid: Oid;
}

/** The versions of base, ours and theirs; null: none. */
export type Versions = [base: Version | null, ours: Version | null, theirs: Version | null];

/** The state of a path in a merge. At first it holds the three trees' versions; then renames move
 * versions to other paths; finally it is resolved. "File" means anything but a directory: symbolic
 * links and gitlinks too. */
export interface MergedPath {
  /** Whether `result` is final, without conflict. */
  isResolved: boolean;
  /** The merged tree's entry; null: none. */
  result: Version | null;
  versions: Versions;
  /** The original paths of the versions, which renames may have moved. */
  paths: [base: string, ours: string, theirs: string];
  /** The trees that have a file. */
  fileMask: number;
  /** The trees that have a directory. */
  directoryMask: number;
  /** The trees with the same version; 0: all differ. */
  matchMask: number;
  /** Whether there are both files and directories. */
  isFileOrDirectory: boolean;
  /** Whether a rename puts the path in conflict whatever the contents are. */
  isPathInConflict: boolean;
}

/** The directory that holds a path, "" at the top. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** The last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The path's files, without its directories. */
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

/** A path with the entries that the trees have there. */
export function openPath(path: string, versions: Versions): MergedPath {
  const [base, ours, theirs] = versions;
  let fileMask = 0;
  let directoryMask = 0;
  versions.forEach((version, i) => {
    if (version === null) return;
    if (isTreeMode(version.mode)) directoryMask |= 1 << i;
    else fileMask |= 1 << i;
  });
  const isSame = (a: typeof base, b: typeof base): boolean =>
    a !== null && b !== null && a.mode === b.mode && equalOids(a.oid, b.oid);
  const isOursSame = isSame(base, ours);
  const isTheirsSame = isSame(base, theirs);
  const matchMask = isOursSame
    ? isTheirsSame
      ? ALL
      : BASE | OURS
    : isTheirsSame
      ? BASE | THEIRS
      : isSame(ours, theirs)
        ? OURS | THEIRS
        : 0;
  const isResolved = matchMask === ALL || (fileMask === ALL && matchMask !== 0);
  return {
    isResolved,
    result: isResolved ? (isOursSame ? theirs : ours) : null,
    versions,
    paths: [path, path, path],
    fileMask,
    directoryMask,
    matchMask,
    isFileOrDirectory: fileMask !== 0 && directoryMask !== 0,
    isPathInConflict: false,
  };
}
