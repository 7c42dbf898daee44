import { type AttributeFile, type Attributes, parseAttributes, TreeAttributes } from "../../base/format/attributes.ts";
import { checkLimit, MAX_MERGE_ATTRIBUTE_BYTES, MAX_SPARSE_FILE_BYTES } from "../../base/format/limits.ts";
import { type Oid, toHex } from "../../base/format/oid.ts";
import { isFileMode, isTreeMode, type TreeEntry } from "../../base/format/tree.ts";
import { findTreeEntry } from "../../base/format/tree-splice.ts";
import { STEPS_PER_ATTRIBUTE_BYTE, WalkBudget } from "../../base/pacing/walk-budget.ts";
import type { MergeObjects } from "./merge-objects.ts";

/** How the contents of a file are merged. */
export interface MergeDriver {
  /** `text`: by lines. `union`: by lines, and where they conflict, those of both sides are taken.
   * `binary`: not at all. */
  readonly name: "text" | "union" | "binary";
  /** Characters of a conflict marker. */
  readonly markerLength: number;
}

const MARKER_LENGTH = 7;

/** The longest marker that is written. Git takes any: a short line would make a long text. */
const MAX_MARKER_LENGTH = 1_000;

const BY_LINES: MergeDriver = { name: "text", markerLength: MARKER_LENGTH };

/** A directory, as far as attributes need it; null values: there is none. */
interface Directory {
  readonly tree: Oid | null;
  readonly file: AttributeFile | null;
}

/** How a merge treats contents, by the `.gitattributes` files of one tree: of the branch into which
 * is merged, which `git merge` has in its work tree.
 * @see gitattributes(5) "Performing a three-way merge", git's merge-ll.c */
export class MergeAttributes {
  readonly #objects: MergeObjects;
  readonly #root: Oid | null;
  readonly #budget = new WalkBudget();
  /** By path: "" is the root, others end in "/". */
  readonly #directories = new Map<string, Directory>();
  #heldBytes = 0;

  /** @param root null: an empty tree */
  constructor(objects: MergeObjects, root: Oid | null) {
    this.#objects = objects;
    this.#root = root;
  }

  /** How the file at a path is merged. A driver that a client may have configured is not known
   * here, so its files are merged by lines, as by a git without it.
   * @param path byte string
   * @throws GitError "too-large" when the files or their patterns take too long,
   * "storage-failed" */
  async driverOf(path: string): Promise<MergeDriver> {
    const attributes = new TreeAttributes();
    let count = 0;
    for (let end = 0, parent: Directory | null = null; ;) {
      const directory = path.slice(0, end);
      parent = await this.#open(directory, parent);
      if (parent.file !== null) {
        attributes.add(directory, parent.file);
        count++;
      }
      const slash = path.indexOf("/", end);
      if (slash < 0 || parent.tree === null) break;
      end = slash + 1;
    }
    return count === 0 ? BY_LINES : toDriver(attributes.of(path, false, this.#budget));
  }

  async #open(path: string, parent: Directory | null): Promise<Directory> {
    this.#budget.spend(1);
    await this.#budget.pause();
    const known = this.#directories.get(path);
    if (known !== undefined) return known;
    const tree = parent === null ? this.#root : await this.#childOf(parent.tree!, path);
    const file = tree === null ? null : await this.#readFile(path, tree);
    const directory = { tree, file };
    this.#directories.set(path, directory);
    return directory;
  }

  async #childOf(parent: Oid, path: string): Promise<Oid | null> {
    const name = path.slice(path.lastIndexOf("/", path.length - 2) + 1, -1);
    const entry = await this.#entryOf(path, parent, name);
    return entry !== null && isTreeMode(entry.mode) ? entry.oid.slice() : null;
  }

  async #readFile(path: string, tree: Oid): Promise<AttributeFile | null> {
    const entry = await this.#entryOf(path, tree, ".gitattributes");
    if (entry === null || !isFileMode(entry.mode)) return null;
    const hex = toHex(entry.oid);
    const sizeBytes = this.#objects.sizes([entry.oid]).get(hex)!;
    // As for an archive, a larger file is ignored.
    if (sizeBytes > MAX_SPARSE_FILE_BYTES) return null;
    checkLimit(
      "the .gitattributes files of a merge (bytes)",
      MAX_MERGE_ATTRIBUTE_BYTES,
      (this.#heldBytes += sizeBytes),
    );
    this.#budget.spend(sizeBytes * STEPS_PER_ATTRIBUTE_BYTE);
    return parseAttributes((await this.#objects.readBlobs([entry.oid])).get(hex)!);
  }

  async #entryOf(path: string, tree: Oid, name: string): Promise<TreeEntry | null> {
    const content = (await this.#objects.readTrees([tree])).get(toHex(tree))!;
    this.#budget.visit(path, content);
    return findTreeEntry(content, name);
  }
}

/** @see find_ll_merge_driver() in git's merge-ll.c */
function toDriver(attributes: Attributes): MergeDriver {
  const merge = attributes.get("merge");
  const name = merge === false ? "binary" : merge === "binary" || merge === "union" ? merge : "text";
  const size = Number.parseInt(String(attributes.get("conflict-marker-size")), 10);
  return { name, markerLength: size > 0 ? Math.min(size, MAX_MARKER_LENGTH) : MARKER_LENGTH };
}
