import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { typeOfMode } from "../../base/format/tree.ts";
import { TreeCursor } from "../../base/format/tree-cursor.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { EntryPlace, ObjectReader } from "../objects/object-reader.ts";
import type { TimeSlice } from "../../base/pacing/time-slice.ts";
import type { FileChange, FileVersion } from "./file-change.ts";

/** The most directories that are compared, over all levels, which takes a second: a tree in which
 * every level repeats the next one many times expands without end. */
const MAX_DIRECTORIES = 100_000;

/** Bytes of the trees that are in memory together, unless those of one directory have more. */
const GROUP_BYTES = 8 * 1024 * 1024;

/** Bytes of the trees that are compared in all. The largest projects have some tens of
 * megabytes. */
const MAX_COMPARED_BYTES = 256 * 1024 * 1024;

/** Differences of a pair of trees that are kept, in case other directories are the same pair, and
 * bytes of their names. More are soon more than are wanted. */
const KEPT_DIFFERENCES = 1_000;
const KEPT_NAME_BYTES = 64 * 1024;

/** Pairs whose differences are kept. */
const KEPT_PAIRS = 64;

/** Entries that are passed between two looks at the clock. */
const ENTRIES_PER_PAUSE = 256;

/** Entries that differ whose objects are looked up at a time. */
const LOOKED_UP = 4_096;

/** A directory that differs between the sides. */
interface ChangedDirectory {
  /** Byte string, empty or ending in "/". */
  readonly path: string;
  /** Object numbers of its trees; 0: missing on that side. */
  readonly old: ObjectNumber;
  readonly next: ObjectNumber;
}

/** The differences between two trees. */
export interface TreeDiff {
  /** By path, without rename detection. */
  readonly changes: FileChange[];
  /** Whether there are more changes than listed. */
  readonly isTruncated: boolean;
}

/** Where trees are read that are compared: `ObjectReader`, or a push that is not applied yet. */
type DiffSource = Pick<ObjectReader, "sizes" | "readContents" | "findEntries">;

/** Compares two trees recursively, level by level. Equal trees are not read. A directory that
 * differs holds at least one change, so a level needs no more directories than there may be
 * changes. Memory is the trees of a group of directories, and what differs.
 * @param old object number, 0: an empty tree
 * @param next likewise
 * @param maxChanges above which the comparison ends, where it is
 * @throws GitError "storage-failed"
 * @see git-diff-tree(1) -r */
export async function diffTrees(
  source: DiffSource,
  old: ObjectNumber,
  next: ObjectNumber,
  maxChanges: number,
  slice: TimeSlice,
): Promise<TreeDiff> {
  const comparison = new TreeComparison(source, maxChanges, slice);
  if (old !== next) await comparison.run({ path: "", old, next });
  const { changes } = comparison;
  const isTruncated = comparison.isTruncated || changes.length > maxChanges;
  changes.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { changes: changes.slice(0, maxChanges), isTruncated };
}

/** An entry that differs, whose objects are not looked up yet. */
interface ChangedEntry {
  /** Byte string. */
  readonly path: string;
  readonly isTree: boolean;
  /** Null: missing on that side. */
  readonly old: Side | null;
  readonly next: Side | null;
}

/** The same, in whatever directory. */
type Difference = Omit<ChangedEntry, "path"> & { readonly name: string };

interface Side extends EntryPlace {
  /** In git's canonical form. */
  readonly mode: number;
}

class TreeComparison {
  readonly changes: FileChange[] = [];
  isTruncated = false;
  readonly #source: DiffSource;
  readonly #maxChanges: number;
  readonly #slice: TimeSlice;
  #level: ChangedDirectory[] = [];
  #entries: ChangedEntry[] = [];
  /** Files that differ, and directories of the next level. */
  #files = 0;
  #directories = 0;
  #comparedBytes = 0;
  /** By pair of trees. */
  readonly #kept = new Map<string, readonly Difference[]>();

  constructor(source: DiffSource, maxChanges: number, slice: TimeSlice) {
    this.#source = source;
    this.#maxChanges = maxChanges;
    this.#slice = slice;
  }

  async run(root: ChangedDirectory): Promise<void> {
    let directories = 0;
    for (let level = [root]; level.length > 0; level = this.#level) {
      directories += level.length;
      if (directories > MAX_DIRECTORIES) {
        this.isTruncated = true;
        return;
      }
      this.#level = [];
      this.#directories = 0;
      for (const group of this.#divide(level)) {
        await this.#compareGroup(group);
        if (this.#isFull) break;
      }
      this.#lookUp();
      if (!this.#isFull) continue;
      this.isTruncated = true;
      return;
    }
  }

  get #isFull(): boolean {
    return this.#files > this.#maxChanges || this.#comparedBytes > MAX_COMPARED_BYTES;
  }

  /** Divides directories into groups whose trees may be in memory together. */
  *#divide(level: readonly ChangedDirectory[]): Generator<readonly ChangedDirectory[]> {
    const sizes = this.#source.sizes(numbersOf(level));
    let group: ChangedDirectory[] = [];
    let groupBytes = 0;
    let pairs = new Set<string>();
    for (const directory of level) {
      const sizeBytes = (sizes.get(directory.old) ?? 0) + (sizes.get(directory.next) ?? 0);
      const pair = pairOf(directory);
      if (group.length > 0 && !pairs.has(pair) && groupBytes + sizeBytes > GROUP_BYTES) {
        yield group;
        [group, groupBytes, pairs] = [[], 0, new Set()];
      }
      group.push(directory);
      if (!pairs.has(pair)) groupBytes += sizeBytes;
      pairs.add(pair);
    }
    yield group;
  }

  async #compareGroup(group: readonly ChangedDirectory[]): Promise<void> {
    const trees = new Map<ObjectNumber, Uint8Array>();
    const unknown = group.filter((directory) => !this.#kept.has(pairOf(directory)));
    for await (const [number, bytes] of this.#source.readContents(numbersOf(unknown))) trees.set(number, bytes);
    const open = (tree: ObjectNumber): TreeSide => new TreeSide(tree, trees.get(tree) ?? NOTHING);
    for (const directory of group) {
      const kept = this.#kept.get(pairOf(directory));
      if (kept === undefined) await this.#compare(directory, open(directory.old), open(directory.next));
      else for (const { name, ...difference } of kept) this.#note({ path: directory.path + name, ...difference });
      if (this.#isFull) return;
      await this.#slice.pause();
    }
  }

  /** Notes what differs between two versions of a directory. A name that is a file on one side and
   * a directory on the other has two places. */
  async #compare(directory: ChangedDirectory, old: TreeSide, next: TreeSide): Promise<void> {
    const [a, b] = [old.cursor, next.cursor];
    this.#comparedBytes += a.bytesLeft + b.bytesLeft;
    const found: Difference[] = [];
    let nameBytes = 0;
    for (let passed = 0; !a.isAtEnd || !b.isAtEnd; passed++) {
      if (passed % ENTRIES_PER_PAUSE === 0) await this.#slice.pause();
      const order = a.compare(b);
      if (order !== 0 || !a.isSameAs(b)) {
        const { name, isTree } = order <= 0 ? a : b;
        const sides = { old: order <= 0 ? old.here() : null, next: order >= 0 ? next.here() : null };
        this.#note({ path: directory.path + name, isTree, ...sides });
        if (this.#isFull) return;
        nameBytes += name.length;
        if (found.length <= KEPT_DIFFERENCES && nameBytes <= KEPT_NAME_BYTES) found.push({ name, isTree, ...sides });
      }
      if (order <= 0) old.advance();
      if (order >= 0) next.advance();
    }
    if (found.length > KEPT_DIFFERENCES || nameBytes > KEPT_NAME_BYTES || this.#kept.size === KEPT_PAIRS) return;
    this.#kept.set(pairOf(directory), found);
  }

  #note(entry: ChangedEntry): void {
    if (entry.isTree && this.#directories >= this.#maxChanges) {
      this.isTruncated = true;
      return;
    }
    if (entry.isTree) this.#directories += 1;
    else this.#files += 1;
    this.#entries.push(entry);
    if (this.#entries.length >= LOOKED_UP) this.#lookUp();
  }

  /** Finds the objects of the entries that were noted. Files are changes, directories belong to the
   * next level. */
  #lookUp(): void {
    const entries = this.#entries;
    this.#entries = [];
    const sides = entries.flatMap(({ old, next }) => [old, next]).filter((side) => side !== null);
    const numbers = this.#source.findEntries(sides);
    let at = 0;
    const versionOf = (side: Side | null): FileVersion | null => {
      if (side === null) return null;
      const number = numbers[at++]!;
      // The commit of a gitlink may exist here by chance, but is not part of the tree.
      return { mode: side.mode, oid: side.oid, number: typeOfMode(side.mode) === "commit" ? 0 : number };
    };
    for (const entry of entries) {
      const { path, isTree } = entry;
      const old = versionOf(entry.old);
      const next = versionOf(entry.next);
      if (isTree) this.#level.push({ path: `${path}/`, old: old?.number ?? 0, next: next?.number ?? 0 });
      else this.changes.push({ oldPath: path, path, old, next, similarity: null });
    }
  }
}

const NOTHING = new Uint8Array(0);

/** One version of a directory. */
class TreeSide {
  readonly cursor: TreeCursor;
  readonly #tree: ObjectNumber;
  #index = 0;

  constructor(tree: ObjectNumber, content: Uint8Array) {
    this.cursor = new TreeCursor(content);
    this.#tree = tree;
  }

  /** The entry here. */
  here(): Side {
    // The id is a copy, so that the tree's content does not stay.
    const { cursor } = this;
    return { mode: cursor.canonicalMode, oid: cursor.oid.slice(), tree: this.#tree, index: this.#index };
  }

  advance(): void {
    if (typeOfMode(this.cursor.mode) !== "commit") this.#index += 1;
    this.cursor.advance();
  }
}

function pairOf({ old, next }: ChangedDirectory): string {
  return `${old} ${next}`;
}

function numbersOf(directories: readonly ChangedDirectory[]): NumberSet {
  const numbers = new Set(directories.flatMap(({ old, next }) => [old, next]));
  numbers.delete(0);
  return NumberSet.fromUnsorted(numbers);
}
