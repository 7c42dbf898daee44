import { ALL, BASE, directoryOf, type MergedPath, otherSide, type Version } from "./merged-path.ts";

/** A file that was deleted, or one that was added. */
interface Candidate {
  readonly path: string;
  readonly version: Version;
  /** Its position in git's order, as sortable text. Among files of the same content the first is
   * taken. */
  readonly place: string;
}

/** Why a deleted file's new path matters: the other side changed the file, or its directory may
 * have been renamed as a whole. */
type Relevance = "content" | "location";

/** Why the target of a removed directory matters. */
export type DirectoryRelevance = "none" | "ancestor" | "self";

/** What may have been renamed on one side of a merge. */
export class RenameCandidates {
  readonly sources: Candidate[] = [];
  readonly targets: Candidate[] = [];
  /** Why sources matter, by path. The others are only paired with files of the same content. */
  readonly relevant = new Map<string, Relevance>();
  /** The directories removed from this side. */
  readonly removedDirectories = new Map<string, DirectoryRelevance>();
}

/** Records the rename candidates among a path's three versions.
 * @param candidates of ours and theirs
 * @param place see `Candidate`
 * @param mask which side, if any, may have put files into a directory that the other has removed:
 * `OURS` or `THEIRS` while it is unknown whether there are any, `ALL` when there are
 * @returns the mask for the entries below
 * @see collect_rename_info() in git's merge-ort.c */
export function noteCandidates(
  candidates: readonly [RenameCandidates, RenameCandidates],
  path: string,
  place: string,
  { versions, fileMask, directoryMask, matchMask }: MergedPath,
  mask: number,
): number {
  const isRemoved = (directoryMask & BASE) !== 0 && directoryMask !== ALL;
  const inner = mask !== ALL && isRemoved && directoryMask !== BASE ? directoryMask & ~BASE : mask;
  for (const side of [1, 2] as const) {
    const bit = 1 << side;
    const { sources, targets, relevant, removedDirectories } = candidates[side - 1]!;
    if (isRemoved && !(directoryMask & bit)) removedDirectories.set(path, inner === ALL ? "ancestor" : "none");
    // The other side put a file into the directory, so the directory's new path must be found.
    if (inner === ALL && fileMask === 1 << otherSide(side)) removedDirectories.set(directoryOf(path), "self");
    if (fileMask === 0 || fileMask === ALL) continue;
    if (fileMask & BASE && !(fileMask & bit)) {
      sources.push({ path, version: versions[0]!, place });
      if ((matchMask & fileMask) === 0) relevant.set(path, "content");
      else if (inner === ALL) relevant.set(path, "location");
    } else if (!(fileMask & BASE) && fileMask & bit) {
      targets.push({ path, version: versions[side]!, place });
    }
  }
  return inner;
}
