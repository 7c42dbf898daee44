import { equalOids, type Oid } from "../../base/format/oid.ts";
import { encodeTree, FILE_MODE, TREE_MODE, type TreeEntry } from "../../base/format/tree.ts";
import { spliceTree, type TreeChange } from "../../base/format/tree-splice.ts";
import { TimeSlice } from "../../base/pacing/time-slice.ts";
import type { ConflictList } from "./conflict.ts";
import { type ContentMerge, type FileVersions, kindOf, mergeContent } from "./merge-content.ts";
import {
  BASE,
  directoryOf,
  type MergedPath,
  nameOf,
  OURS,
  type Side,
  THEIRS,
  type Version,
  type Versions,
  withoutDirectory,
} from "./merged-path.ts";
import type { KeptDirectory, MergedPaths } from "./merged-paths.ts";

/** Resolves every path of a merge, and writes the trees. Directories keep their paths; a file in
 * the way of one gets a path beside it.
 * @param conflicts receives the paths that could not be merged; for them the tree holds what `git
 * merge` leaves
 * @returns the id of the merged root tree
 * @throws GitError "storage-failed", "too-large"
 * @see process_entries() in git's merge-ort.c */
export async function resolvePaths(merge: ContentMerge, paths: MergedPaths, conflicts: ConflictList): Promise<Oid> {
  const resolver = new PathResolver(merge, paths, conflicts);
  const slice = new TimeSlice();
  // A directory's contents precede it, because only they show whether it is empty.
  const inOrder = paths.list().map(({ path, merged }) => ({ path, merged, key: `${path}/` }));
  for (const { path, merged } of inOrder.sort((a, b) => (a.key > b.key ? -1 : 1))) {
    await resolver.resolve(path, merged);
    await slice.pause();
  }
  return resolver.writeTree("");
}

class PathResolver {
  readonly #merge: ContentMerge;
  readonly #paths: MergedPaths;
  readonly #conflicts: ConflictList;
  /** The entries of each directory of the merged tree. */
  readonly #entries = new Map<string, TreeEntry[]>();

  constructor(merge: ContentMerge, paths: MergedPaths, conflicts: ConflictList) {
    this.#merge = merge;
    this.#paths = paths;
    this.#conflicts = conflicts;
  }

  async resolve(path: string, merged: MergedPath): Promise<void> {
    if (this.#entries.has(path) || this.#paths.kept(path) !== undefined)
      merged.result = { mode: TREE_MODE, oid: this.writeTree(path) };
    if (merged.isResolved || merged.directoryMask !== 0) this.#record(path, merged.result);
    if (merged.isResolved || merged.fileMask === 0) return;
    if (!merged.isFileOrDirectory) await this.#resolveFile(path, merged);
    else if (merged.result === null) await this.#resolveFile(path, withoutDirectory(merged));
    else if (merged.fileMask !== BASE) await this.#resolveBeside(path, merged);
  }

  writeTree(directory: string): Oid {
    const entries = this.#entries.get(directory) ?? [];
    const kept = this.#paths.kept(directory);
    return this.#merge.objects.add("tree", kept === undefined ? encodeTree(entries) : changeTree(kept, entries));
  }

  #record(path: string, result: Version | null): void {
    if (result === null) return;
    const directory = directoryOf(path);
    const entries = this.#entries.get(directory);
    const entry = { ...result, name: nameOf(path) };
    if (entries === undefined) this.#entries.set(directory, [entry]);
    else entries.push(entry);
  }

  /** Resolves a file whose path a directory has. */
  async #resolveBeside(path: string, merged: MergedPath): Promise<void> {
    const side = (merged.directoryMask & OURS) !== 0 ? 2 : 1;
    const beside = this.#freePath(path, side);
    const file = { ...withoutDirectory(merged), isFileOrDirectory: true };
    this.#conflicts.blame(beside, "file/directory", [path]);
    await this.#resolveFile(beside, file, side);
  }

  /** @param besideOf the side that has the file, if it was put beside a directory */
  async #resolveFile(path: string, merged: MergedPath, besideOf?: Side): Promise<void> {
    const { matchMask, versions } = merged;
    const [base, ours, theirs] = versions;
    const isFree = !merged.isFileOrDirectory && !merged.isPathInConflict;
    if (matchMask !== 0) {
      const side = matchMask === (BASE | OURS) ? 2 : 1;
      const result = versions[side];
      this.#finish(path, merged, result, isFree || (result === null && matchMask !== (OURS | THEIRS)));
    } else if (ours !== null && theirs !== null) {
      const file = { base, ours, theirs, paths: merged.paths };
      if (kindOf(ours) === kindOf(theirs)) await this.#resolveContent(path, merged, file, besideOf);
      else if (this.#merge.depth > 0) this.#finish(path, merged, base, false);
      else this.#resolveDistinct(path, file);
    } else if (base === null) {
      this.#finish(path, merged, ours ?? theirs, isFree);
    } else if (ours === null && theirs === null) {
      this.#finish(path, merged, null, !merged.isPathInConflict);
    } else {
      const side = ours === null ? 2 : 1;
      const isChanged = !equalOids(base.oid, versions[side]!.oid);
      if (isChanged || !merged.isPathInConflict) this.#conflicts.blame(path, "modify/delete");
      this.#finish(path, merged, versions[this.#merge.depth > 0 ? 0 : side], false);
    }
  }

  async #resolveContent(path: string, merged: MergedPath, file: FileVersions, besideOf?: Side): Promise<void> {
    const content = await mergeContent(this.#merge, path, file, 2 * this.#merge.depth);
    const { version, conflict } = content;
    if (conflict !== null) {
      this.#conflicts.blame(path, conflict);
      this.#conflicts.addHunks(path, content);
    } else if (besideOf !== undefined) {
      merged.versions = [null, null, null];
      merged.versions[besideOf] = version;
    }
    const isFree = !merged.isFileOrDirectory && !merged.isPathInConflict;
    this.#finish(path, merged, version, conflict === null && isFree);
  }

  /** Keeps two files of different types, at two paths: a regular file gives way to another type. */
  #resolveDistinct(path: string, { base, ours, theirs }: FileVersions): void {
    const isOursPlain = kindOf(ours) === FILE_MODE;
    const isTheirsPlain = kindOf(theirs) === FILE_MODE;
    const oursPath = isTheirsPlain && !isOursPlain ? path : this.#freePath(path, 1);
    const theirsPath = isOursPlain ? path : this.#freePath(path, 2);
    const baseLike = (version: Version): Version | null =>
      base !== null && kindOf(base) === kindOf(version) ? base : null;
    for (const [at, side, versions] of [
      [theirsPath, theirs, [baseLike(theirs), null, theirs]],
      [oursPath, ours, [baseLike(ours), ours, null]],
    ] as [string, Version, Versions][]) {
      this.#conflicts.blame(at, "distinct types", [path]);
      this.#conflicts.add(at, versions);
      this.#record(at, side);
    }
  }

  #finish(path: string, { versions }: MergedPath, result: Version | null, isClean: boolean): void {
    if (!isClean) this.#conflicts.add(path, versions);
    this.#record(path, result);
  }

  /** An unused path for a file that cannot keep its own, named after the side that it comes
   * from. */
  #freePath(path: string, side: Side): string {
    const { ours, theirs } = this.#merge.labels;
    const wanted = `${path}~${(side === 1 ? ours : theirs).replaceAll("/", "_")}`;
    let free = wanted;
    for (let n = 0; this.#paths.has(free); n++) free = `${wanted}_${n}`;
    this.#paths.set(free, this.#paths.get(path)!);
    return free;
  }
}

/** The tree of a directory of which only some entries were opened.
 * @param entries those that they have become */
function changeTree({ content, different }: KeptDirectory, entries: readonly TreeEntry[]): Uint8Array {
  const changes = new Map<string, TreeChange>(different.map((name) => [name, null]));
  for (const entry of entries) changes.set(entry.name, entry);
  return spliceTree(content, changes).content;
}
