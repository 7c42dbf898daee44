import type { ObjectNumber } from "../../store/numbers/kinds.ts";
import { equalOids } from "../../format/oid.ts";
import { canonicalMode, isTreeMode, TREE_MODE } from "../../format/tree.ts";
import { NumberSet } from "../../store/numbers/number-set.ts";
import type { NamedTree, ObjectReader } from "../objects/object-reader.ts";
import type { TimeSlice } from "../pacing/time-slice.ts";
import type { FileChange, FileVersion } from "./file-change.ts";

/** The most directories that are compared, over all levels: a tree in which every level repeats the
 * next one many times expands without end. */
const MAX_DIRECTORIES = 200_000;

/** A directory that differs between the sides. */
interface ChangedDirectory {
  /** Byte string, empty or ending in "/". */
  readonly path: string;
  /** Object numbers of its trees; 0: missing on that side. */
  readonly old: number;
  readonly next: number;
}

/** The differences between two trees. */
export interface TreeDiff {
  /** By path, without rename detection. */
  readonly changes: FileChange[];
  /** Whether there are more changes than listed. */
  readonly isTruncated: boolean;
}

/** Compares two trees recursively, level by level, so that each level is read at once. Equal trees
 * are not read. A directory that differs holds at least one change, so a level needs no more
 * directories than there may be changes.
 * @param old object number, 0: an empty tree
 * @param next likewise
 * @param maxChanges above which the comparison ends
 * @throws GitError "storage-failed"
 * @see git-diff-tree(1) -r */
export async function diffTrees(
  reader: Pick<ObjectReader, "readTrees">,
  old: number,
  next: number,
  maxChanges: number,
  slice: TimeSlice,
): Promise<TreeDiff> {
  const changes: FileChange[] = [];
  let level: ChangedDirectory[] = old === next ? [] : [{ path: "", old, next }];
  let directories = 0;
  let isTruncated = false;
  while (level.length > 0 && changes.length <= maxChanges && directories <= MAX_DIRECTORIES) {
    directories += level.length;
    const trees = await readTrees(reader, level);
    const below: ChangedDirectory[] = [];
    for (const directory of level) {
      if (changes.length > maxChanges) break;
      compareDirectory(directory, trees, changes, below);
      isTruncated ||= below.length > maxChanges;
      below.length = Math.min(below.length, maxChanges);
      await slice.pause();
    }
    level = below;
  }
  isTruncated ||= changes.length > maxChanges || level.length > 0;
  changes.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { changes: changes.slice(0, maxChanges), isTruncated };
}

async function readTrees(
  reader: Pick<ObjectReader, "readTrees">,
  directories: readonly ChangedDirectory[],
): Promise<Map<ObjectNumber, NamedTree>> {
  const numbers = new Set(directories.flatMap(({ old, next }) => [old, next]));
  numbers.delete(0);
  const trees = new Map<ObjectNumber, NamedTree>();
  for await (const tree of reader.readTrees(NumberSet.fromUnsorted(numbers))) {
    trees.set(tree.number, tree);
  }
  return trees;
}

function compareDirectory(
  { path, old, next }: ChangedDirectory,
  trees: ReadonlyMap<ObjectNumber, NamedTree>,
  changes: FileChange[],
  below: ChangedDirectory[],
): void {
  const oldEntries = versionsOf(trees.get(old));
  const nextEntries = versionsOf(trees.get(next));
  for (const name of new Set([...oldEntries.keys(), ...nextEntries.keys()])) {
    const a = oldEntries.get(name) ?? null;
    const b = nextEntries.get(name) ?? null;
    if (a !== null && b !== null && a.mode === b.mode && equalOids(a.oid, b.oid)) continue;
    const entryPath = path + name;
    const directory = { path: `${entryPath}/`, old: treeNumber(a), next: treeNumber(b) };
    if (directory.old !== directory.next) below.push(directory);
    // Where only one side has a directory, the other side's file was added or deleted.
    const file = { old: fileOf(a), next: fileOf(b) };
    if (file.old === null && file.next === null) continue;
    changes.push({ oldPath: entryPath, path: entryPath, ...file, similarity: null });
  }
}

/** The entries of a tree; none for a missing tree. */
function versionsOf(tree: NamedTree | undefined): Map<string, FileVersion> {
  const versions = new Map<string, FileVersion>();
  tree?.entries.forEach(({ name, mode, oid }, i) => {
    versions.set(name, { mode: canonicalMode(mode), oid, number: tree.numbers[i]! });
  });
  return versions;
}

function treeNumber(version: FileVersion | null): ObjectNumber {
  return version?.mode === TREE_MODE ? version.number : 0;
}

function fileOf(version: FileVersion | null): FileVersion | null {
  return version === null || isTreeMode(version.mode) ? null : version;
}
