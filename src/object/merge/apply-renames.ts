import type { ConflictList } from "./conflict.ts";
import type { RenamePair } from "./find-renames.ts";
import { type ContentMerge, kindOf, mergeContent, type MergedFile } from "./merge-content.ts";
import { FILE_MODE } from "../../base/format/tree.ts";
import { equalOids } from "../../base/format/oid.ts";
import { BASE, type MergedPath, otherSide, type Version } from "./merged-path.ts";
import type { MergedPaths } from "./merged-paths.ts";

/** Brings together the versions that renames separated: all versions of a renamed file move to its
 * new path.
 * @param pairs the renamed files of both sides
 * @throws GitError "storage-failed"
 * @see process_renames() in git's merge-ort.c */
export async function applyRenames(
  merge: ContentMerge,
  paths: MergedPaths,
  pairs: readonly RenamePair[],
  conflicts: ConflictList,
): Promise<void> {
  const applier = new RenameApplier(merge, paths, conflicts);
  // Ours before theirs where both renamed a file.
  const inOrder = pairs.toSorted((a, b) => (a.from === b.from ? a.side - b.side : a.from < b.from ? -1 : 1));
  for (let i = 0; i < inOrder.length; i++) {
    const pair = inOrder[i]!;
    const source = paths.get(pair.from);
    // A file that follows its directory back to its old path stays. A resolved path needs no
    // rename.
    if (pair.from === pair.to || source === undefined || source.isResolved) continue;
    const next = inOrder[i + 1];
    if (next?.from !== pair.from) await applier.applyOne(pair, source);
    else {
      await applier.applyBoth(pair.from, source, [pair.to, next.to]);
      i++;
    }
  }
}

class RenameApplier {
  readonly #merge: ContentMerge;
  readonly #paths: MergedPaths;
  readonly #conflicts: ConflictList;

  constructor(merge: ContentMerge, paths: MergedPaths, conflicts: ConflictList) {
    this.#merge = merge;
    this.#paths = paths;
    this.#conflicts = conflicts;
  }

  /** Handles a file that both sides renamed. */
  async applyBoth(from: string, source: MergedPath, [ours, theirs]: readonly [string, string]): Promise<void> {
    const oursPath = this.#paths.get(ours)!;
    const theirsPath = this.#paths.get(theirs)!;
    if (ours === theirs) {
      oursPath.versions[0] = source.versions[0];
      oursPath.fileMask |= BASE;
      remove(source);
      return;
    }
    const [oursVersion, theirsVersion] = [oursPath.versions[1]!, theirsPath.versions[2]!];
    const merged = await this.#mergeRenamed(source.versions[0], oursVersion, theirsVersion, [from, ours, theirs]);
    // If the contents cannot be merged, each side keeps its own.
    const isOurs = merged.conflict !== null && isSame(merged.version, oursVersion);
    oursPath.versions[1] = merged.version;
    theirsPath.versions[2] = isOurs ? theirsVersion : merged.version;
    for (const [path, at] of [
      [from, source],
      [ours, oursPath],
      [theirs, theirsPath],
    ] as const) {
      at.isPathInConflict = true;
      this.#conflicts.blame(
        path,
        "rename/rename",
        [from, ours, theirs].filter((other) => other !== path),
      );
    }
    this.#conflicts.addHunks(ours, merged);
  }

  /** Handles a file that one side renamed. */
  async applyOne({ from, to, side }: RenamePair, source: MergedPath): Promise<void> {
    const target = this.#paths.get(to)!;
    const other = otherSide(side);
    const isDeleted = source.fileMask === BASE;
    const hasOtherType = !isDeleted && isFile(source.versions[other]) !== isFile(target.versions[side]);
    const isTaken = (target.fileMask & (1 << other)) !== 0 && !hasOtherType;
    if (isTaken && !isDeleted) {
      const versions = [source.versions[1]!, source.versions[2]!] as [Version, Version];
      versions[side - 1] = target.versions[side]!;
      const paths: [string, string, string] = [from, from, from];
      paths[side] = to;
      const merged = await this.#mergeRenamed(source.versions[0], versions[0], versions[1], paths);
      target.versions[side] = merged.version;
      if (merged.conflict !== null) this.#conflicts.blame(to, "rename collides", [from]);
    } else if (isTaken) {
      target.isPathInConflict = true;
      this.#conflicts.blame(to, "rename/delete", [from]);
    } else {
      target.versions[0] = source.versions[0];
      target.fileMask |= BASE;
      target.paths[0] = from;
      if (isDeleted) {
        target.isPathInConflict = true;
        this.#conflicts.blame(to, "rename/delete", [from]);
      } else if (hasOtherType) {
        source.versions[0] = null;
        source.fileMask &= ~BASE;
        return;
      } else {
        target.versions[other] = source.versions[other];
        target.fileMask |= 1 << other;
        target.paths[other] = from;
      }
    }
    remove(source);
  }

  /** Markers are longer than usual, because the path may be merged once more. */
  #mergeRenamed(
    base: Version | null,
    ours: Version,
    theirs: Version,
    paths: [string, string, string],
  ): Promise<MergedFile> {
    return mergeContent(this.#merge, paths[0], { base, ours, theirs, paths }, 1 + 2 * this.#merge.depth);
  }
}

function remove(source: MergedPath): void {
  source.result = null;
  source.isResolved = true;
}

function isFile(version: Version | null): boolean {
  return version !== null && kindOf(version) === FILE_MODE;
}

function isSame(a: Version | null, b: Version): boolean {
  return a !== null && a.mode === b.mode && equalOids(a.oid, b.oid);
}
