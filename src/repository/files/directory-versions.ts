import { TREE } from "../../format/object.ts";
import { concatOids } from "../../format/oid.ts";
import { parseTree, type TreeEntry } from "../../format/tree.ts";
import { findTreeEntry } from "../../format/tree-splice.ts";
import type { ObjectNumber } from "../../store/numbers/kinds.ts";
import { NumberSet } from "../../store/numbers/number-set.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import type { WorkBudget } from "../pacing/work-budget.ts";

/** Entries of a version that are searched for one by one. Whoever wants more, wants most. */
const MAX_SEARCHES = 8;

/** A version of a directory. Most are asked for one entry: the one that filters say has changed. */
export class Listing {
  readonly #content: Uint8Array;
  #searches = 0;
  #entries: ReadonlyMap<string, TreeEntry> | null = null;

  /** @param content of the tree */
  constructor(content: Uint8Array) {
    this.#content = content;
  }

  /** @param name byte string
   * @returns null: there is none */
  find(name: string): TreeEntry | null {
    if (this.#searches++ < MAX_SEARCHES) return findTreeEntry(this.#content, name);
    this.#entries ??= new Map(parseTree(this.#content).map((entry) => [entry.name, entry]));
    return this.#entries.get(name) ?? null;
  }
}

/** A directory's contents in a group of commits. */
export class DirectoryVersions {
  readonly #repository: OpenRepository;
  readonly #parts: readonly string[];
  /** By the commit's root tree: object number of the directory; 0: missing there. */
  #directories = new Map<ObjectNumber, ObjectNumber>();
  #listings = new Map<ObjectNumber, Listing>();

  /** @param path byte string, "" for the root */
  constructor(repository: OpenRepository, path: string) {
    this.#repository = repository;
    this.#parts = path === "" ? [] : path.split("/");
  }

  /** Whether the commits with this root tree were read. */
  has(root: ObjectNumber): boolean {
    return this.#directories.has(root);
  }

  /** The directory below a root tree that was read; null: missing there. */
  get(root: ObjectNumber): Listing | null {
    return this.#listings.get(this.#directories.get(root)!) ?? null;
  }

  /** Reads the directory below these root trees; forgets what was read before.
   * @throws GitError "storage-failed" when a tree cannot be read */
  async load(roots: Iterable<ObjectNumber>, budget: WorkBudget): Promise<void> {
    const directories = new Map(Iterator.from(roots).map((root) => [root, root] as const));
    for (const part of this.#parts) {
      const below = await this.#read(directories.values(), budget, (listing) => listing.find(part)?.oid ?? null);
      const oids = [...below].filter(([, oid]) => oid !== null);
      const { number, type } = this.#repository.tables.objects.lookupMany(concatOids(oids.map(([, oid]) => oid!)));
      const isTree = new Map(oids.map(([tree], i) => [tree, type[i] === TREE ? number[i]! : 0]));
      for (const [root, tree] of directories) directories.set(root, isTree.get(tree) ?? 0);
    }
    this.#listings = await this.#read(directories.values(), budget, (listing) => listing);
    this.#directories = directories;
  }

  /** Reads the trees that the commits have reached on the way down. */
  async #read<Result>(
    trees: Iterable<ObjectNumber>,
    budget: WorkBudget,
    use: (listing: Listing) => Result,
  ): Promise<Map<ObjectNumber, Result>> {
    const results = new Map<ObjectNumber, Result>();
    const numbers = new Set(trees);
    numbers.delete(0);
    for await (const [number, { bytes }] of this.#repository.reader.readEach(NumberSet.fromUnsorted(numbers))) {
      results.set(number, use(new Listing(bytes)));
      await budget.step();
    }
    return results;
  }
}
