import type { ConflictList } from "./conflict.ts";
import type { RenamePair, SideRenames } from "./find-renames.ts";
import { BASE, directoryOf, type MergedPath, otherSide, type Versions, withoutDirectory } from "./merged-path.ts";
import type { MergedPaths } from "./merged-paths.ts";

/** Old path of a directory → the new one, "" for the top. */
type DirectoryRenames = Map<string, string>;

/** New path → the files that would move there. */
type Collisions = Map<string, { readonly sources: string[]; isReported: boolean }>;

/** Moves files that one side put into directories that the other side renamed. The intention is
 * uncertain, so such paths are in conflict, as with git's merge.directoryRenames=conflict.
 * @param paths receives the moved files at their new paths
 * @returns the renamed files of both sides, and the added ones that moved
 * @see "directory rename detection" in git's merge-ort.c,
 * Documentation/technical/directory-rename-detection.txt */
export function followDirectoryRenames(
  paths: MergedPaths,
  sides: readonly [SideRenames, SideRenames],
  conflicts: ConflictList,
): RenamePair[] {
  const renames = sides.map(({ counts }) => findDirectoryRenames(counts, conflicts)) as [
    DirectoryRenames,
    DirectoryRenames,
  ];
  for (const directory of new Set(renames[0].keys()).intersection(renames[1])) {
    for (const side of renames) side.delete(directory);
  }
  return new DirectoryFollower(paths, sides, renames, conflicts).follow();
}

/** The target of a directory is that of most of its files. */
function findDirectoryRenames(counts: SideRenames["counts"], conflicts: ConflictList): DirectoryRenames {
  const renames: DirectoryRenames = new Map();
  for (const [directory, targets] of counts.all()) {
    const [first, second] = [...targets].sort(([, a], [, b]) => b - a);
    if (first === undefined) continue;
    if (first[1] !== second?.[1]) renames.set(directory, first[0]);
    else conflicts.addAside(directory, "directory rename split", [...targets.keys()]);
  }
  return renames;
}

class DirectoryFollower {
  readonly #paths: MergedPaths;
  readonly #pairs: readonly [RenamePair[], RenamePair[]];
  /** For each side. */
  readonly #renames: readonly [DirectoryRenames, DirectoryRenames];
  /** For each side's files, by the other side's renames. */
  readonly #collisions: readonly [Collisions, Collisions];
  readonly #conflicts: ConflictList;

  constructor(
    paths: MergedPaths,
    sides: readonly [SideRenames, SideRenames],
    renames: readonly [DirectoryRenames, DirectoryRenames],
    conflicts: ConflictList,
  ) {
    this.#paths = paths;
    this.#pairs = [sides[0].pairs, sides[1].pairs];
    this.#renames = renames;
    this.#collisions = [findCollisions(sides[0].pairs, renames[1]), findCollisions(sides[1].pairs, renames[0])];
    this.#conflicts = conflicts;
  }

  follow(): RenamePair[] {
    return this.#pairs.flatMap((pairs) =>
      pairs.filter((pair) => {
        const to = this.#newPath(pair);
        if (to !== null) this.#move(pair, to);
        return pair.isRename || to !== null;
      }),
    );
  }

  /** The path to which the other side's renames move a file; null: it stays. */
  #newPath(pair: RenamePair): string | null {
    const { side, to: path } = pair;
    const other = otherSide(side);
    const renames = this.#renames[other - 1]!;
    if (renames.size === 0 || this.#collisions[other - 1]!.has(path)) return null;
    const renamed = findRenamed(path, renames);
    // A directory that this side renamed itself is no target: the other side's files move on from
    // there.
    if (renamed === null || this.#renames[side - 1]!.has(renamed.to)) return null;
    const newPath = renamePath(path, renamed);
    const collision = this.#collisions[side - 1]!.get(newPath)!;
    if (collision.isReported) return null;
    const isInWay = this.#isInWay(newPath, pair);
    if (!isInWay && collision.sources.length === 1) return newPath;
    collision.isReported = true;
    const kind = isInWay ? "directory rename in the way" : "directory rename collision";
    this.#conflicts.addAside(newPath, kind, collision.sources);
    return null;
  }

  #isInWay(path: string, { side, from }: RenamePair): boolean {
    const there = this.#paths.get(path);
    if (there === undefined) return false;
    const { isResolved, fileMask, directoryMask } = there;
    const isOwn = ((fileMask | directoryMask) & (1 << side)) !== 0;
    return isResolved || isOwn || ((fileMask & BASE) !== 0 && from !== path);
  }

  #move(pair: RenamePair, to: string): void {
    const merged = this.#takeFile(pair.to);
    this.#makeDirectories(to, merged.fileMask);
    const there = this.#paths.get(to);
    if (there === undefined) this.#paths.set(to, merged);
    else {
      there.fileMask |= merged.fileMask;
      if (there.directoryMask !== 0) there.isFileOrDirectory = true;
      there.paths[pair.side] = merged.paths[pair.side];
      there.versions[pair.side] = merged.versions[pair.side];
    }
    (there ?? merged).isPathInConflict = true;
    this.#conflicts.blame(to, "file location", [pair.to]);
    pair.to = to;
  }

  /** Removes a file from its path, where the merge base's directory may stay. */
  #takeFile(path: string): MergedPath {
    const merged = this.#paths.get(path)!;
    if (merged.directoryMask === 0) {
      this.#paths.delete(path);
      return merged;
    }
    const file = withoutDirectory(merged);
    merged.fileMask = 0;
    merged.isFileOrDirectory = false;
    merged.versions = merged.versions.map((version, i) =>
      merged.directoryMask & (1 << i) ? version : null,
    ) as Versions;
    return file;
  }

  #makeDirectories(path: string, mask: number): void {
    for (let at = directoryOf(path); at !== "" && !this.#paths.has(at); at = directoryOf(at)) {
      this.#paths.set(at, {
        isResolved: false,
        result: null,
        versions: [null, null, null],
        paths: [at, at, at],
        fileMask: 0,
        directoryMask: mask,
        matchMask: 0,
        isFileOrDirectory: false,
        isPathInConflict: false,
      });
    }
  }
}

function findCollisions(pairs: readonly RenamePair[], renames: DirectoryRenames): Collisions {
  const collisions: Collisions = new Map();
  for (const { to: path } of pairs) {
    const renamed = findRenamed(path, renames);
    if (renamed === null) continue;
    const newPath = renamePath(path, renamed);
    const collision = collisions.get(newPath);
    if (collision === undefined) collisions.set(newPath, { sources: [path], isReported: false });
    else collision.sources.push(path);
  }
  return collisions;
}

/** The innermost renamed directory of a path. */
function findRenamed(path: string, renames: DirectoryRenames): { from: string; to: string } | null {
  for (let from = directoryOf(path); from !== ""; from = directoryOf(from)) {
    const to = renames.get(from);
    if (to !== undefined) return { from, to };
  }
  return null;
}

function renamePath(path: string, { from, to }: { from: string; to: string }): string {
  return to === "" ? path.slice(from.length + 1) : to + path.slice(from.length);
}
