import { equalOids, type Oid } from "../../format/oid.ts";
import { isTreeMode, parseTree, TREE_MODE, type TreeEntry } from "../../format/tree.ts";
import { findTreeEntry, spliceTree, type TreeChange } from "../../format/tree-splice.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { readTree } from "../objects/tree-contents.ts";
import type { NewObjects } from "../publish/new-objects.ts";

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
  #lookups = 0;
  #index: ReadonlyMap<string, TreeEntry> | null = null;

  private constructor(repository: OpenRepository, objects: NewObjects, was: { oid: Oid; content: Uint8Array } | null) {
    this.#repository = repository;
    this.#objects = objects;
    this.#was = was;
  }

  /** Starts from a tree, or empty.
   * @param objects searched for trees before the repository; receives new trees
   * @throws GitError "storage-failed" */
  static async open(repository: OpenRepository, objects: NewObjects, tree: Oid | null): Promise<TreeDraft> {
    if (tree === null) return new TreeDraft(repository, objects, null);
    const content = objects.find(tree)?.content ?? (await readTree(repository, tree));
    return new TreeDraft(repository, objects, { oid: tree, content });
  }

  /** Finds the entry at a path.
   * @returns null: none; "blocked": a part of the path is not a directory
   * @throws GitError "storage-failed" */
  async find(path: readonly string[]): Promise<DraftEntry | null | "blocked"> {
    const directory = await this.#walk(path.slice(0, -1));
    if (directory === null || directory === "blocked") return directory;
    const entry = directory.#get(path.at(-1)!);
    return entry?.kind === "directory" && entry.draft.#isEmpty() ? null : entry;
  }

  /** Sets the entry at a path where `find` did not return "blocked"; null: removes it. Creates
   * missing directories.
   * @throws GitError "storage-failed" */
  async put(path: readonly string[], entry: DraftEntry | null): Promise<void> {
    const directory = await this.#walk(path.slice(0, -1), true);
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
   * @returns the tree's id; null: the tree has become empty */
  write(): Oid | null {
    const changes = new Map<string, TreeChange>();
    for (const [name, entry] of this.#changes) {
      const before = this.#lookUp(name);
      const after = this.#write(entry);
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

  #write(entry: DraftEntry | null): TreeChange {
    if (entry?.kind !== "directory") return entry;
    const oid = entry.draft.write();
    return oid && { mode: TREE_MODE, oid };
  }

  /** Walks into directories.
   * @param isMade whether to create missing ones
   * @returns null: one is missing; "blocked": one is not a directory */
  async #walk(path: readonly string[], isMade = false): Promise<TreeDraft | null | "blocked"> {
    const [name, ...rest] = path;
    if (name === undefined) return this;
    const entry = this.#get(name);
    if (entry === null && !isMade) return null;
    if (entry !== null && !isTreeMode(entry.mode)) return "blocked";
    const draft = entry?.kind === "directory" ? entry.draft : await this.#open(name, entry?.oid ?? null);
    if (isMade) this.#changes.set(name, { kind: "directory", mode: TREE_MODE, draft });
    return draft.#walk(rest, isMade);
  }

  async #open(name: string, tree: Oid | null): Promise<TreeDraft> {
    const opened = this.#opened.get(name);
    if (opened !== undefined && tree !== null && opened.#was !== null && equalOids(opened.#was.oid, tree))
      return opened;
    const draft = await TreeDraft.open(this.#repository, this.#objects, tree);
    this.#opened.set(name, draft);
    return draft;
  }

  /** Whether all its entries were removed. */
  #isEmpty(): boolean {
    const removed = new Map<string, null>();
    for (const [name, entry] of this.#changes) {
      if (entry !== null && !(entry.kind === "directory" && entry.draft.#isEmpty())) return false;
      removed.set(name, null);
    }
    return this.#was === null || spliceTree(this.#was.content, removed).content.length === 0;
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
    const { content } = this.#was;
    if (this.#index === null && this.#lookups++ < LOOKUPS_BEFORE_INDEX) return findTreeEntry(content, name);
    this.#index ??= new Map(parseTree(content).map((entry) => [entry.name, entry]));
    return this.#index.get(name) ?? null;
  }
}

function isSameEntry(a: TreeChange, b: TreeChange): boolean {
  return a === null || b === null ? a === b : a.mode === b.mode && equalOids(a.oid, b.oid);
}
