import { GitError } from "../../base/format/errors.ts";
import { checkLimit } from "../../base/format/limits.ts";
import { type Oid, toHex } from "../../base/format/oid.ts";
import { TreeCursor } from "../../base/format/tree-cursor.ts";
import { TimeSlice } from "../../base/pacing/time-slice.ts";
import type { MergeObjects } from "./merge-objects.ts";
import {
  ALL,
  BASE,
  type MergedPath,
  openPath,
  OURS,
  type Side,
  THEIRS,
  type Versions,
  withoutDirectory,
} from "./merged-path.ts";
import { MergedPaths } from "./merged-paths.ts";
import { noteCandidates, RenameCandidates } from "./rename-candidates.ts";

/** The most paths that may differ in one merge: all are in memory at once. */
const MAX_PATHS = 200_000;

/** Bytes of the directories that are compared, each counted in every place: a second of work. */
const MAX_PASSED_BYTES = 192 * 1024 * 1024;

/** Entries that are compared between two looks at the clock. */
const ENTRIES_PER_PAUSE = 256;

const NOTHING = new Uint8Array(0);

/** The root trees of a merge; null: an empty one. */
export type Roots = [base: Oid | null, ours: Oid | null, theirs: Oid | null];

/** The paths where the three trees of a merge differ, with their versions. */
interface CollectedPaths {
  readonly paths: MergedPaths;
  readonly candidates: readonly [RenameCandidates, RenameCandidates];
}

/** A directory to be read in all trees that have it. */
interface Directory {
  readonly path: string;
  /** @see Candidate */
  readonly place: string;
  readonly trees: Roots;
  /** @see noteCandidates */
  readonly renameMask: number;
}

/** A path to be inspected. A directory that only one side changed is deferred: it can be taken as a
 * whole, unless renames affect it. */
interface Pending {
  readonly path: string;
  /** @see Candidate */
  readonly place: string;
  readonly merged: MergedPath;
  readonly renameMask: number;
}

/** Compares the trees of a merge, level by level. A tree that is the same in all three is not read.
 * Neither is one that only one side changed, unless files that this side deleted may have been
 * renamed.
 * @throws GitError "too-large" when more than 200,000 paths differ, "storage-failed"
 * @see collect_merge_info() in git's merge-ort.c */
export function collectPaths(objects: MergeObjects, roots: Roots): Promise<CollectedPaths> {
  return new PathCollector(objects).collect(roots);
}

class PathCollector implements CollectedPaths {
  readonly #objects: MergeObjects;
  readonly #slice = new TimeSlice();
  #passedBytes = 0;
  readonly paths = new MergedPaths();
  readonly candidates = [new RenameCandidates(), new RenameCandidates()] as const;
  /** For each side; null: directories that only this side changed are read at once. */
  readonly #deferred: [Pending[] | null, Pending[] | null] = [[], []];

  constructor(objects: MergeObjects) {
    this.#objects = objects;
  }

  async collect(roots: Roots): Promise<this> {
    await this.#read([{ path: "", place: "", trees: roots, renameMask: 0 }]);
    for (const side of [1, 2] as const) {
      const deferred = this.#deferred[side - 1]!;
      if (this.candidates[side - 1]!.relevant.size === 0) {
        for (const { merged } of deferred) takeWhole(merged, side);
      } else {
        this.#deferred[side - 1] = null;
        await this.#read(deferred.map(openDirectory));
      }
    }
    return this;
  }

  /** Reads directories and everything below, and sorts the candidates found there into git's
   * order. */
  async #read(top: readonly Directory[]): Promise<void> {
    const lists = this.candidates.flatMap(({ sources, targets }) => [sources, targets]);
    const before = lists.map(({ length }) => length);
    await this.#readLevels(top);
    for (const [i, list] of lists.entries()) {
      const found = list.splice(before[i]!).sort((a, b) => (a.place < b.place ? -1 : 1));
      for (const candidate of found) list.push(candidate);
    }
  }

  async #readLevels(top: readonly Directory[]): Promise<void> {
    for (let level = top; level.length > 0;) {
      // Each of these directories holds at least one more path that differs.
      checkPaths(this.paths.size + level.length);
      const oids = level.flatMap(({ trees }) => trees.filter((oid) => oid !== null));
      const trees = await this.#objects.compareTrees(oids);
      const next: Directory[] = [];
      for (const directory of level) {
        const contents = directory.trees.map((oid) => (oid === null ? NOTHING : trees.get(toHex(oid))!));
        // One tree may be in many places, and is compared in each.
        for (const { length } of contents) this.#passedBytes += length;
        checkLimit("merge (bytes of directories in all places)", MAX_PASSED_BYTES, this.#passedBytes);
        await this.#compare(directory, contents, next);
        await this.#slice.pause();
      }
      level = next;
    }
  }

  async #compare(directory: Directory, contents: readonly Uint8Array[], below: Directory[]): Promise<void> {
    const all = await this.#findDifferent(directory.path, contents);
    const opened: Pick<Pending, "path" | "place" | "merged">[] = [];
    for (const name of inGitOrder(contents)) {
      const versions = name === null ? undefined : all.get(name);
      if (versions !== undefined) {
        const path = directory.path === "" ? name! : `${directory.path}/${name}`;
        const place = directory.place + placeOf(opened.length);
        opened.push({ path, place, merged: openPath(path, versions) });
      }
      await this.#slice.pause();
    }
    const { renameMask } = directory;
    const isAddedTo = opened.some(({ merged: { fileMask } }) => fileMask !== 0 && fileMask === renameMask);
    for (const [i, { path, place, merged }] of opened.entries()) {
      this.paths.set(path, merged);
      if (!merged.isResolved) this.#descend({ path, place, merged, renameMask: isAddedTo ? ALL : renameMask }, below);
      if (i % ENTRIES_PER_PAUSE === 0) await this.#slice.pause();
    }
  }

  /** Finds the entries of a directory that are not the same in all three trees, by name. The others
   * are kept as they are. */
  async #findDifferent(directory: string, contents: readonly Uint8Array[]): Promise<Map<string, Versions>> {
    // Counted before anything is made of them.
    let [same, different] = [0, 0];
    for (const places = new Places(contents); !places.isAtEnd; places.advance()) {
      if (places.isSame) same += 1;
      else different += 1;
      if ((same + different) % ENTRIES_PER_PAUSE === 0) await this.#slice.pause();
    }
    checkPaths(this.paths.size + different);
    const all = new Map<string, Versions>();
    let passed = 0;
    for (const places = new Places(contents); !places.isAtEnd; places.advance()) {
      if (!places.isSame) places.addTo(all);
      if (++passed % ENTRIES_PER_PAUSE === 0) await this.#slice.pause();
    }
    if (same > 0) this.paths.keep(directory, { content: contents[0]!, different: [...all.keys()] });
    return all;
  }

  #descend({ path, place, merged, renameMask }: Pending, below: Directory[]): void {
    const inner = noteCandidates(this.candidates, path, place, merged, renameMask);
    if (merged.directoryMask === 0) return;
    const { fileMask, directoryMask } = merged;
    if (fileMask === 0 && (directoryMask === OURS || directoryMask === THEIRS)) merged.matchMask = ALL & ~directoryMask;
    const side = changedSide(merged);
    const pending = { path, place, merged, renameMask: inner };
    const list = side === null || inner === ALL ? null : this.#deferred[side - 1]!;
    if (list === null) below.push(openDirectory(pending));
    else list.push(pending);
  }
}

/** The places of three trees' entries, in the order of trees. A name that is a file in one tree and
 * a directory in another has two. */
class Places {
  readonly #cursors: readonly TreeCursor[];
  /** The trees that have an entry here; 0: at the end. */
  #mask = 0;

  constructor(contents: readonly Uint8Array[]) {
    this.#cursors = contents.map((content) => new TreeCursor(content));
    this.#find();
  }

  get isAtEnd(): boolean {
    return this.#mask === 0;
  }

  /** Whether all three trees have the same entry here, written as git writes it. */
  get isSame(): boolean {
    const [base, ours, theirs] = this.#cursors as [TreeCursor, TreeCursor, TreeCursor];
    return this.#mask === ALL && base.isSameAs(ours) && base.isSameAs(theirs) && base.isCanonical;
  }

  /** Notes the entries here as versions of their name. */
  addTo(all: Map<string, Versions>): void {
    for (const [side, cursor] of this.#cursors.entries()) {
      if ((this.#mask & (1 << side)) === 0) continue;
      const { name } = cursor;
      const versions = all.get(name) ?? ([null, null, null] satisfies Versions);
      versions[side] = { mode: cursor.canonicalMode, oid: cursor.oid };
      all.set(name, versions);
    }
  }

  advance(): void {
    for (const [side, cursor] of this.#cursors.entries()) if (this.#mask & (1 << side)) cursor.advance();
    this.#find();
  }

  #find(): void {
    this.#mask = 0;
    let least: TreeCursor | null = null;
    for (const [side, cursor] of this.#cursors.entries()) {
      if (cursor.isAtEnd) continue;
      const order = least === null ? -1 : cursor.compare(least);
      if (order < 0) [least, this.#mask] = [cursor, 0];
      if (order <= 0) this.#mask |= 1 << side;
    }
  }
}

/** The names in three trees in git's order: always the least of the next names. This can differ
 * from the order in trees, where a directory sorts as if it ended in a slash.
 * @yields null now and then for entries that are the same in all, which are passed
 * @see traverse_trees() in git's tree-walk.c */
function* inGitOrder(contents: readonly Uint8Array[]): Generator<string | null, void, void> {
  const cursors = contents.map((content) => new TreeCursor(content)) as [TreeCursor, TreeCursor, TreeCursor];
  const [base, ours, theirs] = cursors;
  const seen = new Set<string>();
  for (let passed = 0; ;) {
    if (
      base.compare(ours) === 0 &&
      base.compare(theirs) === 0 &&
      !base.isAtEnd &&
      base.isSameAs(ours) &&
      base.isSameAs(theirs)
    ) {
      for (const cursor of cursors) cursor.advance();
      if (++passed % ENTRIES_PER_PAUSE === 0) yield null;
      continue;
    }
    let least: string | undefined;
    for (const cursor of cursors) {
      while (!cursor.isAtEnd && seen.has(cursor.name)) cursor.advance();
      if (!cursor.isAtEnd && (least === undefined || cursor.name < least)) least = cursor.name;
    }
    if (least === undefined) return;
    seen.add(least);
    yield least;
  }
}

/** @throws GitError "too-large" */
function checkPaths(count: number): void {
  if (count > MAX_PATHS) throw new GitError("too-large", { what: "merge (paths)", limit: MAX_PATHS });
}

/** An index as text that sorts as the number does. */
function placeOf(turn: number): string {
  return String.fromCharCode(turn >>> 16, turn & 0xffff);
}

/** The only side that differs from the base, null: both do. */
function changedSide({ matchMask }: MergedPath): Side | null {
  return matchMask === (BASE | OURS) ? 2 : matchMask === (BASE | THEIRS) ? 1 : null;
}

function openDirectory({ path, place, merged, renameMask }: Pending): Directory {
  merged.matchMask &= merged.fileMask;
  const trees = merged.versions.map((version, i) => (merged.directoryMask & (1 << i) ? version!.oid : null));
  return { path, place, trees: trees as Roots, renameMask };
}

/** Takes one side's version of a directory. A file that this side put in its place may be the
 * target of a rename, and is resolved later.
 * @see resolve_trivial_directory_merge() in git's merge-ort.c */
function takeWhole(merged: MergedPath, side: Side): void {
  const isFile = merged.isFileOrDirectory && (merged.directoryMask & ~merged.matchMask) === 0;
  merged.fileMask &= ~merged.matchMask;
  if (isFile) Object.assign(merged, withoutDirectory(merged));
  else Object.assign(merged, { isResolved: true, result: merged.versions[side] });
}
