import type { ByteRange } from "../../base/format/conditional-request.ts";
import { COMMIT } from "../../base/format/object.ts";
import { CHANGES_ALL, makePathFilter } from "../../base/format/path-filter.ts";
import {
  MAX_FILTER_PATH_BYTES,
  MAX_FILTER_PATHS,
  MAX_FILTER_TREE_BYTES,
  MAX_FILTER_TREES_BYTES,
} from "../../base/format/limits.ts";
import type { StoredFilter } from "../store/graph/path-filter-table.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { OID_BYTES } from "../../base/format/oid.ts";
import { compareTrees, type EntryChange, type ObjectMemory } from "../../base/format/tree-compare.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { Tables } from "../store/tables.ts";
import { type HeldObjects, GROUP_BYTES } from "../objects/held-objects.ts";

/** Directories that are compared between two calls of `rest`: some milliseconds. */
const COMPARED_PER_STEP = 100;

/** Two root trees to compare. */
interface RootPair {
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
  { tables, trees }: { readonly tables: Tables; readonly trees: HeldObjects },
  pairs: readonly RootPair[],
  rest: () => Promise<void>,
): Promise<(ReadonlySet<string> | null)[]> {
  const all = pairs.map(() => new ChangedPaths());
  let level = findRoots(tables, pairs, all);
  while (level.length > 0) {
    const below = new LevelBelow(tables, trees.memory);
    await rest();
    for (const group of divide(level)) {
      await rest();
      await trees.read(NumberSet.fromUnsorted(numbersOf(group)), rest);
      for (const [i, directory] of group.entries()) {
        if (i % COMPARED_PER_STEP === 0) await rest();
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

/** Divides directories into groups whose trees may be in memory together. Those that are equal, or
 * of pairs with too many paths, are left out. */
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
    const addedBytes = (): number => (held.has(old) ? 0 : oldBytes) + (held.has(next) ? 0 : nextBytes);
    if (group.length > 0 && heldBytes + addedBytes() > GROUP_BYTES) {
      yield group;
      [group, held, heldBytes] = [[], new Set(), 0];
    }
    heldBytes += addedBytes();
    group.push(directory);
    held.add(old).add(next);
  }
  if (group.length > 0) yield group;
}

function numbersOf(directories: readonly ChangedDirectory[]): Set<ObjectNumber> {
  const numbers = new Set<ObjectNumber>();
  for (const { old, next } of directories) numbers.add(old).add(next);
  numbers.delete(0);
  return numbers;
}

/** Of a tree that is missing. */
const NO_ENTRIES: ByteRange = { start: 0, length: 0 };

function compareDirectory(directory: ChangedDirectory, trees: HeldObjects, below: LevelBelow): void {
  const { paths, path, old, next } = directory;
  compareTrees(trees.memory, trees.find(old) ?? NO_ENTRIES, trees.find(next) ?? NO_ENTRIES, (change) => {
    const changedPath = path === "" ? change.name : `${path}/${change.name}`;
    if (change.isTree) below.add(directory, changedPath, change);
    else paths.note(directory, changedPath);
    return paths.paths !== null && !below.isFull(paths);
  });
}

/** Of a directory whose trees are looked up later. */
const NO_TREES = { old: 0, next: 0, oldBytes: 0, nextBytes: 0 };

/** The directories of the next level. */
class LevelBelow {
  readonly #tables: Tables;
  readonly #trees: ObjectMemory;
  readonly #directories: ChangedDirectory[] = [];
  /** Ids on both sides of each, zeros where there is none. */
  #oids = new Uint8Array(2_048 * OID_BYTES);
  #last: ChangedPaths | null = null;
  #ofLast = 0;

  constructor(tables: Tables, trees: ObjectMemory) {
    this.#tables = tables;
    this.#trees = trees;
  }

  /** @param change of an entry whose ids are in the trees' memory */
  add(parent: ChangedDirectory, path: string, { oldAt, nextAt }: EntryChange): void {
    const at = 2 * this.#directories.length * OID_BYTES;
    if (at + 2 * OID_BYTES > this.#oids.length) {
      const grown = new Uint8Array(2 * this.#oids.length);
      grown.set(this.#oids);
      this.#oids = grown;
    }
    if (oldAt >= 0) this.#copyOid(oldAt, at);
    if (nextAt >= 0) this.#copyOid(nextAt, at + OID_BYTES);
    this.#directories.push({ paths: parent.paths, parent, path, ...NO_TREES, isNoted: false });
    this.#ofLast = parent.paths === this.#last ? this.#ofLast + 1 : 1;
    this.#last = parent.paths;
  }

  #copyOid(from: number, to: number): void {
    const { bytes } = this.#trees;
    for (let i = 0; i < OID_BYTES; i++) this.#oids[to + i] = bytes[from + i]!;
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

/** Makes the filters of nodes. The trees of all are compared at once.
 * @param nodes of the graph
 * @param rest called between steps of some milliseconds
 * @returns in their order
 * @throws GitError "storage-failed" when a tree cannot be read */
export async function makePathFilters(
  { tables, trees }: { readonly tables: Tables; readonly trees: HeldObjects },
  nodes: NumberSet,
  rest: () => Promise<void>,
): Promise<StoredFilter[]> {
  const { graph, objects } = tables;
  const { number, type } = objects.locate(nodes);
  await rest();
  const commits: ObjectNumber[] = Array.from(number).filter((_, i) => type[i] === COMMIT);
  const pairs = commits.map((commit) => {
    const position = graph.position(commit);
    const [parent] = graph.parents(position);
    return { old: parent === undefined ? 0 : graph.tree(parent), next: graph.tree(position) };
  });
  const changed = await findChangedPaths({ tables, trees }, pairs, rest);
  await rest();
  const filters = new Map(commits.map((commit, i) => [commit, makePathFilter(changed[i]!)]));
  return Array.from(nodes.toArray(), (node) => ({ number: node, filter: filters.get(node) ?? CHANGES_ALL }));
}
