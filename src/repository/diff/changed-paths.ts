import {
  MAX_FILTER_PATH_BYTES,
  MAX_FILTER_PATHS,
  MAX_FILTER_TREE_BYTES,
  MAX_FILTER_TREES_BYTES,
} from "../../format/limits.ts";
import { OID_BYTES, type Oid } from "../../format/oid.ts";
import { compareTrees } from "../../format/tree-compare.ts";
import type { ObjectNumber } from "../../store/numbers/kinds.ts";
import { NumberSet } from "../../store/numbers/number-set.ts";
import type { Tables } from "../../store/tables.ts";
import type { ObjectReader } from "../objects/object-reader.ts";

/** Bytes of trees that are in memory at a time, unless two trees that are compared have more. */
const HELD_BYTES = 4 * 1024 * 1024;

/** Trees that are read or compared between two calls of `rest`: some milliseconds. */
const TREES_PER_STEP = 100;

/** Two root trees to compare. */
export interface RootPair {
  /** Object numbers; 0: an empty tree. */
  readonly old: ObjectNumber;
  readonly next: ObjectNumber;
}

/** A directory that differs between the trees of a pair. */
interface ChangedDirectory {
  readonly paths: ChangedPaths;
  /** The directory that it is in; null: it is the root. */
  readonly parent: ChangedDirectory | null;
  /** Byte string, without a slash at the end; "" for the root. */
  readonly path: string;
  /** Object numbers; 0: missing on that side. */
  old: ObjectNumber;
  next: ObjectNumber;
  /** Bytes of its trees. */
  oldBytes: number;
  nextBytes: number;
  /** Whether its path is among the pair's. */
  isNoted: boolean;
}

/** The paths that differ between the trees of a pair. */
class ChangedPaths {
  /** Byte strings: files and all directories that they are in; null: they are too many. */
  paths: Set<string> | null = new Set();
  #files = 0;
  #directories = 0;
  #pathBytes = 0;
  #treeBytes = 0;

  /** Counts a directory before it is read. One of a file's directories is among the paths, so there
   * are no more of them, but for those that hold no file. */
  enter(path: string, treeBytes: number): void {
    this.#directories += 1;
    this.#treeBytes += treeBytes;
    if (this.#directories > MAX_FILTER_PATHS || this.#treeBytes > MAX_FILTER_TREES_BYTES) this.paths = null;
    this.#count(path);
  }

  /** Notes a file that differs. */
  note(directory: ChangedDirectory, path: string): void {
    this.#files += 1;
    this.#add(path);
    for (let at: ChangedDirectory | null = directory; at !== null && !at.isNoted; at = at.parent) {
      at.isNoted = true;
      if (at.path !== "") this.#add(at.path);
    }
    if (this.#files > MAX_FILTER_PATHS) this.paths = null;
  }

  #add(path: string): void {
    this.paths?.add(path);
    if (this.paths !== null && this.paths.size > MAX_FILTER_PATHS) this.paths = null;
    this.#count(path);
  }

  #count(path: string): void {
    this.#pathBytes += path.length;
    if (this.#pathBytes > MAX_FILTER_PATH_BYTES) this.paths = null;
  }
}

/** Compares many pairs of trees, level by level: of each level the trees are read in storage order,
 * each once. Pairs that are neighbours in the history share most of theirs.
 * @param rest called between steps of some milliseconds
 * @returns for each pair the paths that differ, as in its filter; null: they are too many
 * @throws GitError "storage-failed" when a tree cannot be read
 * @see get_or_compute_bloom_filter() in git's bloom.c */
export async function findChangedPaths(
  { tables, reader }: { readonly tables: Tables; readonly reader: ObjectReader },
  pairs: readonly RootPair[],
  rest: () => Promise<void>,
): Promise<(ReadonlySet<string> | null)[]> {
  const all = pairs.map(() => new ChangedPaths());
  let level = findRoots(tables, pairs, all);
  while (level.length > 0) {
    const below = new LevelBelow(tables);
    for (const group of divide(level)) {
      const trees = await readTrees(reader, group, rest);
      for (const [i, directory] of group.entries()) {
        if (i % TREES_PER_STEP === 0) await rest();
        if (directory.paths.paths !== null) compareDirectory(directory, trees, below);
      }
    }
    level = below.finish();
  }
  return all.map(({ paths }) => paths);
}

function findRoots({ objects }: Tables, pairs: readonly RootPair[], all: readonly ChangedPaths[]): ChangedDirectory[] {
  const numbers = new Set(pairs.flatMap(({ old, next }) => [old, next]));
  numbers.delete(0);
  const { number, size } = objects.locate(NumberSet.fromUnsorted(numbers));
  const sizes = new Map(Array.from(number, (one, i) => [one, size[i]!]));
  return pairs.map(({ old, next }, i) => {
    const bytes = { oldBytes: sizes.get(old) ?? 0, nextBytes: sizes.get(next) ?? 0 };
    return { paths: all[i]!, parent: null, path: "", old, next, ...bytes, isNoted: false };
  });
}

/** Divides directories into groups whose trees may be in memory together. Those that are equal, or of
 * pairs with too many paths, are left out. */
function* divide(directories: readonly ChangedDirectory[]): Generator<readonly ChangedDirectory[]> {
  let group: ChangedDirectory[] = [];
  let held = new Set<ObjectNumber>();
  let heldBytes = 0;
  for (const directory of directories) {
    const { paths, path, old, next, oldBytes, nextBytes } = directory;
    if (old === next || paths.paths === null) continue;
    paths.enter(path, oldBytes + nextBytes);
    if (Math.max(oldBytes, nextBytes) > MAX_FILTER_TREE_BYTES) paths.paths = null;
    if (paths.paths === null) continue;
    const bytes = (held.has(old) ? 0 : oldBytes) + (held.has(next) ? 0 : nextBytes);
    if (group.length > 0 && heldBytes + bytes > HELD_BYTES) {
      yield group;
      [group, held, heldBytes] = [[], new Set(), 0];
    }
    group.push(directory);
    heldBytes += bytes;
    held.add(old).add(next);
  }
  if (group.length > 0) yield group;
}

async function readTrees(
  reader: ObjectReader,
  directories: readonly ChangedDirectory[],
  rest: () => Promise<void>,
): Promise<ReadonlyMap<ObjectNumber, Uint8Array>> {
  const numbers = new Set(directories.flatMap(({ old, next }) => [old, next]));
  numbers.delete(0);
  const trees = new Map<ObjectNumber, Uint8Array>();
  for await (const [number, { bytes }] of reader.readEach(NumberSet.fromUnsorted(numbers))) {
    trees.set(number, bytes);
    if (trees.size % TREES_PER_STEP === 0) await rest();
  }
  return trees;
}

const NO_ENTRIES = new Uint8Array(0);

function compareDirectory(
  directory: ChangedDirectory,
  trees: ReadonlyMap<ObjectNumber, Uint8Array>,
  below: LevelBelow,
): void {
  const { paths, path, old, next } = directory;
  compareTrees(trees.get(old) ?? NO_ENTRIES, trees.get(next) ?? NO_ENTRIES, (change) => {
    const changedPath = path === "" ? change.name : `${path}/${change.name}`;
    if (change.isTree) below.add(directory, changedPath, change.old, change.next);
    else paths.note(directory, changedPath);
    return paths.paths !== null && !below.isFull(paths);
  });
}

/** Of a directory whose trees are looked up later. */
const NO_TREES = { old: 0, next: 0, oldBytes: 0, nextBytes: 0 };

/** The directories of the next level. */
class LevelBelow {
  readonly #tables: Tables;
  readonly #directories: ChangedDirectory[] = [];
  /** Ids on both sides of each, zeros where there is none. */
  #oids = new Uint8Array(2_048 * OID_BYTES);
  #last: ChangedPaths | null = null;
  #ofLast = 0;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  add(parent: ChangedDirectory, path: string, old: Oid | null, next: Oid | null): void {
    const at = 2 * this.#directories.length * OID_BYTES;
    if (at + 2 * OID_BYTES > this.#oids.length) {
      const grown = new Uint8Array(2 * this.#oids.length);
      grown.set(this.#oids);
      this.#oids = grown;
    }
    if (old !== null) this.#oids.set(old, at);
    if (next !== null) this.#oids.set(next, at + OID_BYTES);
    this.#directories.push({ paths: parent.paths, parent, path, ...NO_TREES, isNoted: false });
    this.#ofLast = parent.paths === this.#last ? this.#ofLast + 1 : 1;
    this.#last = parent.paths;
  }

  /** Whether the pair that was added last has too many directories here. */
  isFull(paths: ChangedPaths): boolean {
    if (paths !== this.#last || this.#ofLast <= MAX_FILTER_PATHS) return false;
    paths.paths = null;
    return true;
  }

  /** Finds the numbers of their trees. */
  finish(): ChangedDirectory[] {
    const found = this.#tables.objects.lookupMany(this.#oids.subarray(0, 2 * this.#directories.length * OID_BYTES));
    this.#directories.forEach((directory, i) => {
      directory.old = found.number[2 * i]!;
      directory.next = found.number[2 * i + 1]!;
      directory.oldBytes = found.size[2 * i]!;
      directory.nextBytes = found.size[2 * i + 1]!;
    });
    return this.#directories;
  }
}
