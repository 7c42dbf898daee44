import { checkLimit, MAX_COMMIT_DIRECTORIES, MAX_COMMIT_TREE_BYTES, MAX_PATH_BYTES } from "../../base/format/limits.ts";
import { equalOids, type Oid } from "../../base/format/oid.ts";
import { isTreeMode, TREE_MODE, type TreeEntry } from "../../base/format/tree.ts";
import { TreeIndex } from "../../base/format/tree-cursor.ts";
import { findTreeEntry, spliceTree, type TreeChange } from "../../base/format/tree-splice.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { readTree } from "../objects/tree-contents.ts";
import type { NewObjects } from "../push/new-objects.ts";

/** An entry at a path of a draft. */
export type DraftEntry =
  /** An existing object, in the repository or among the new ones. */
  | { readonly kind: "object"; readonly mode: number; readonly oid: Oid }
  /** A file whose content may be new. */
  | { readonly kind: "file"; readonly mode: number; readonly oid: Oid; readonly content: Uint8Array }
  /** A directory in which something changed. */
  | { readonly kind: "directory"; readonly mode: typeof TREE_MODE; readonly draft: TreeDraft };

/** After this many lookups in one directory, an index of its names is built. */
const LOOKUPS_BEFORE_INDEX = 16;

const NOTHING = new Uint8Array(0);

/** Levels that a path has at most: a name and a slash for each. Moves can put a directory further
 * below than any path leads. */
const MAX_LEVELS = MAX_PATH_BYTES / 2;

/** What the drafts of one change hold in memory. */
class DraftBudget {
  #directories = 0;
  #treeBytes = 0;

  /** Must be called for each directory that is opened.
   * @param treeBytes of its original tree
   * @throws GitError "too-large" */
  open(treeBytes: number): void {
    this.#directories += 1;
    this.#treeBytes += treeBytes;
    const reason = "make several commits, each of fewer directories";
    checkLimit("the directories of one commit", MAX_COMMIT_DIRECTORIES, this.#directories, reason);
    checkLimit("the changed directories of one commit (bytes)", MAX_COMMIT_TREE_BYTES, this.#treeBytes, reason);
  }
}

/** A tree being edited. Only the directories on changed paths are read, and only changed ones are
 * written: the cost does not depend on the number of files elsewhere. */
export class TreeDraft {
  readonly #repository: OpenRepository;
  readonly #objects: NewObjects;
  /** The original tree; null: none. */
  readonly #was: { readonly oid: Oid; readonly content: Uint8Array } | null;
  /** The changed entries, by name; null: removed. */
  readonly #changes = new Map<string, DraftEntry | null>();
  /** Directories that were read, by name. */
  readonly #opened = new Map<string, TreeDraft>();
  /** Original entries that were looked up, by name. */
  readonly #known = new Map<string, TreeEntry | null>();
  readonly #budget: DraftBudget;
  #index: TreeIndex | null = null;

  private constructor(
    repository: OpenRepository,
    objects: NewObjects,
    was: { oid: Oid; content: Uint8Array } | null,
    budget: DraftBudget,
  ) {
    this.#repository = repository;
    this.#objects = objects;
    this.#was = was;
    this.#budget = budget;
    budget.open(was?.content.length ?? 0);
  }

  /** Starts from a tree, or empty.
   * @param objects searched for trees before the repository; receives new trees
   * @throws GitError "storage-failed" */
  static open(repository: OpenRepository, objects: NewObjects, tree: Oid | null): Promise<TreeDraft> {
    return TreeDraft.#open(repository, objects, tree, new DraftBudget());
  }

  static async #open(
    repository: OpenRepository,
    objects: NewObjects,
    tree: Oid | null,
    budget: DraftBudget,
  ): Promise<TreeDraft> {
    if (tree === null) return new TreeDraft(repository, objects, null, budget);
    const content = objects.find(tree)?.content ?? (await readTree(repository, tree));
    return new TreeDraft(repository, objects, { oid: tree, content }, budget);
  }

  /** Finds the entry at a path.
   * @returns null: none; "blocked": a part of the path is not a directory
   * @throws GitError "storage-failed", "too-large" when the change has too many directories */
  async find(path: readonly string[]): Promise<DraftEntry | null | "blocked"> {
    const directory = await TreeDraft.#walk(this, path.slice(0, -1));
    if (directory === null || directory === "blocked") return directory;
    const entry = directory.#get(path.at(-1)!);
    return entry?.kind === "directory" && entry.draft.#isEmpty() ? null : entry;
  }

  /** Sets the entry at a path where `find` did not return "blocked"; null: removes it. Creates
   * missing directories.
   * @throws GitError as `find` */
  async put(path: readonly string[], entry: DraftEntry | null): Promise<void> {
    const directory = await TreeDraft.#walk(this, path.slice(0, -1), true);
    if (directory === "blocked" || directory === null)
      throw new RangeError("a draft has a file where a directory must be");
    directory.#changes.set(path.at(-1)!, entry);
  }

  /** Makes a file from content.
   * @throws GitError "sha1-collision" */
  newFile(mode: number, content: Uint8Array): DraftEntry {
    return { kind: "file", mode, oid: this.#objects.idOf("blob", content), content };
  }

  /** Adds the new objects. Directories without entries are left out.
   * @returns the tree's id; null: the tree has become empty
   * @throws GitError "too-large" when moves have put directories too deep into each other */
  write(level = 0): Oid | null {
    checkLevel(level);
    const changes = new Map<string, TreeChange>();
    for (const [name, entry] of this.#changes) {
      const before = this.#lookUp(name);
      const after = this.#write(entry, level + 1);
      if (isSameEntry(before, after)) continue;
      if (entry?.kind === "file")
        this.#objects.addKnown({ oid: entry.oid, type: "blob", content: entry.content, origin: null });
      changes.set(name, after);
    }
    if (changes.size === 0) return this.#was?.oid ?? null;
    const { content, pieces } = spliceTree(this.#was?.content ?? NOTHING, changes);
    if (content.length === 0) return null;
    return this.#objects.add("tree", content, this.#was && { ...this.#was, pieces });
  }

  #write(entry: DraftEntry | null, level: number): TreeChange {
    if (entry?.kind !== "directory") return entry;
    const oid = entry.draft.write(level);
    return oid && { mode: TREE_MODE, oid };
  }

  /** Walks into directories.
   * @param isMade whether to create missing ones
   * @returns null: one is missing; "blocked": one is not a directory */
  static async #walk(from: TreeDraft, path: readonly string[], isMade = false): Promise<TreeDraft | null | "blocked"> {
    let draft = from;
    for (const name of path) {
      const entry = draft.#get(name);
      if (entry === null && !isMade) return null;
      if (entry !== null && !isTreeMode(entry.mode)) return "blocked";
      if (entry?.kind === "directory") {
        draft = entry.draft;
        continue;
      }
      const tree = entry?.oid ?? null;
      const below: TreeDraft = draft.#openedAt(name, tree) ?? (await draft.#openAt(name, tree));
      if (isMade) draft.#changes.set(name, { kind: "directory", mode: TREE_MODE, draft: below });
      draft = below;
    }
    return draft;
  }

  /** The directory of a name, if it was opened before; undefined: it was not. */
  #openedAt(name: string, tree: Oid | null): TreeDraft | undefined {
    const opened = this.#opened.get(name);
    const isIt = tree !== null && opened !== undefined && opened.#was !== null && equalOids(opened.#was.oid, tree);
    return isIt ? opened : undefined;
  }

  async #openAt(name: string, tree: Oid | null): Promise<TreeDraft> {
    const draft = await TreeDraft.#open(this.#repository, this.#objects, tree, this.#budget);
    this.#opened.set(name, draft);
    return draft;
  }

  /** Whether all its entries were removed. */
  #isEmpty(level = 0): boolean {
    checkLevel(level);
    let removed = 0;
    for (const [name, entry] of this.#changes) {
      if (entry !== null && !(entry.kind === "directory" && entry.draft.#isEmpty(level + 1))) return false;
      if (this.#lookUp(name) !== null) removed += 1;
    }
    if (this.#was === null || removed === 0) return (this.#was?.content.length ?? 0) === 0;
    return this.#indexed().size === removed;
  }

  #get(name: string): DraftEntry | null {
    const changed = this.#changes.get(name);
    if (changed !== undefined) return changed;
    const entry = this.#lookUp(name);
    return entry && { kind: "object", mode: entry.mode, oid: entry.oid };
  }

  /** The original entry with a name. */
  #lookUp(name: string): TreeEntry | null {
    if (this.#was === null) return null;
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const isRare = this.#index === null && this.#known.size < LOOKUPS_BEFORE_INDEX;
    const found = isRare ? findTreeEntry(this.#was.content, name) : this.#indexed().find(name);
    this.#known.set(name, found);
    return found;
  }

  #indexed(): TreeIndex {
    return (this.#index ??= new TreeIndex(this.#was?.content ?? NOTHING));
  }
}

function checkLevel(level: number): void {
  checkLimit("the levels of directories", MAX_LEVELS, level);
}

function isSameEntry(a: TreeChange, b: TreeChange): boolean {
  return a === null || b === null ? a === b : a.mode === b.mode && equalOids(a.oid, b.oid);
}
