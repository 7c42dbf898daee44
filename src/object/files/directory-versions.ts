import { TREE } from "../../base/format/object.ts";
import { concatOids } from "../../base/format/oid.ts";
import type { TreeEntry } from "../../base/format/tree.ts";
import { EntryNames, TreeIndex } from "../../base/format/tree-cursor.ts";
import { findTreeEntry } from "../../base/format/tree-splice.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { stepsToRead, type WorkBudget } from "../../base/pacing/work-budget.ts";

/** Entries of a version that are searched for one by one. Whoever wants more, wants most. */
const MAX_SEARCHES = 8;

/** Bytes of a version above which the wanted entries are taken out of it at once: the others do not
 * stay in memory. */
const LARGE_BYTES = 64 * 1024;

/** A version of a directory. Most are asked for one entry: the one that filters say has changed. */
export class Listing {
  readonly #content: Uint8Array;
  #searches = 0;
  #index: TreeIndex | null = null;

  /** @param content of the tree */
  constructor(content: Uint8Array) {
    this.#content = content;
  }

  /** @param name byte string
   * @returns null: there is none */
  find(name: string): TreeEntry | null {
    if (this.#searches++ < MAX_SEARCHES) return findTreeEntry(this.#content, name);
    this.#index ??= new TreeIndex(this.#content);
    return this.#index.find(name);
  }
}

/** The wanted entries of a large version. */
class ShortListing {
  readonly #entries: ReadonlyMap<string, TreeEntry>;

  constructor(entries: ReadonlyMap<string, TreeEntry>) {
    this.#entries = entries;
  }

  find(name: string): TreeEntry | null {
    return this.#entries.get(name) ?? null;
  }
}

/** A directory's contents in a group of commits. */
export class DirectoryVersions {
  readonly #repository: OpenRepository;
  readonly #parts: readonly string[];
  /** By the commit's root tree: object number of the directory; 0: missing there. */
  #directories = new Map<ObjectNumber, ObjectNumber>();
  #listings = new Map<ObjectNumber, Pick<Listing, "find">>();
  readonly #names: EntryNames;

  /** @param path byte string, "" for the root
   * @param names byte strings: entries that are asked for */
  constructor(repository: OpenRepository, path: string, names: readonly string[]) {
    this.#repository = repository;
    this.#names = new EntryNames(names);
    this.#parts = path === "" ? [] : path.split("/");
  }

  /** Whether the commits with this root tree were read. */
  has(root: ObjectNumber): boolean {
    return this.#directories.has(root);
  }

  /** The directory below a root tree that was read; null: missing there. */
  get(root: ObjectNumber): Pick<Listing, "find"> | null {
    return this.#listings.get(this.#directories.get(root)!) ?? null;
  }

  /** Reads the directory below the first of these root trees, as many as half of what is left of
   * the budget allows; forgets what was read before.
   * @param needed how many are read in any case
   * @throws GitError "storage-failed" when a tree cannot be read */
  async load(roots: Iterable<ObjectNumber>, needed: number, budget: WorkBudget): Promise<void> {
    let directories = new Map(Iterator.from(roots).map((root) => [root, root] as const));
    for (const part of this.#parts) {
      directories = this.#cut(directories, needed, budget);
      const below = await this.#read(
        directories.values(),
        budget,
        (content) => findTreeEntry(content, part)?.oid.slice() ?? null,
      );
      const oids = [...below].filter(([, oid]) => oid !== null);
      const { number, type } = this.#repository.tables.objects.lookupMany(concatOids(oids.map(([, oid]) => oid!)));
      const isTree = new Map(oids.map(([tree], i) => [tree, type[i] === TREE ? number[i]! : 0]));
      for (const [root, tree] of directories) directories.set(root, isTree.get(tree) ?? 0);
    }
    this.#directories = this.#cut(directories, needed, budget);
    this.#listings = await this.#read(this.#directories.values(), budget, (content) =>
      content.length > LARGE_BYTES ? new ShortListing(this.#names.find(content)) : new Listing(content),
    );
  }

  /** Leaves out what is too dear to be read now. A group that is begun is read to its end: what was
   * read of a part of it would have to be read again. */
  #cut(
    directories: ReadonlyMap<ObjectNumber, ObjectNumber>,
    needed: number,
    budget: WorkBudget,
  ): Map<ObjectNumber, ObjectNumber> {
    const sizes = this.#repository.reader.sizes(withoutMissing(directories.values()));
    const read = new Set<ObjectNumber>();
    const kept = new Map<ObjectNumber, ObjectNumber>();
    let left = budget.left / 2;
    for (const [root, tree] of directories) {
      if (!read.has(tree)) left -= stepsToRead(sizes.get(tree) ?? 0);
      if (left < 0 && kept.size >= needed) break;
      read.add(tree);
      kept.set(root, tree);
    }
    return kept;
  }

  /** Reads the trees that the commits have reached on the way down. */
  async #read<Result>(
    trees: Iterable<ObjectNumber>,
    budget: WorkBudget,
    use: (content: Uint8Array) => Result,
  ): Promise<Map<ObjectNumber, Result>> {
    const results = new Map<ObjectNumber, Result>();
    for await (const [number, { bytes }] of this.#repository.reader.readEach(withoutMissing(trees))) {
      results.set(number, use(bytes));
      await budget.step(stepsToRead(bytes.length));
    }
    return results;
  }
}

function withoutMissing(trees: Iterable<ObjectNumber>): NumberSet {
  const numbers = new Set(trees);
  numbers.delete(0);
  return NumberSet.fromUnsorted(numbers);
}
