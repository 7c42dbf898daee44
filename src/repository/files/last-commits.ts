import type { GraphPosition, ObjectNumber } from "../../store/numbers/kinds.ts";
import { CALL_MS } from "../../format/limits.ts";
import { concatOids, equalOids, OID_BYTES, toHex } from "../../format/oid.ts";
import { parseTree, type TreeEntry } from "../../format/tree.ts";
import { Bitset } from "../../store/numbers/bitset.ts";
import { NumberSet } from "../../store/numbers/number-set.ts";
import { type CommitRecord, toCommitRecord } from "../objects/commit-record.ts";
import type { OpenRepository } from "../objects/open-repository.ts";

/** Commits whose directory is read at a time, and the most entries these directories may have. */
const COMMITS_AHEAD = 64;
const ENTRIES_AHEAD = 50_000;

/** The commit that last touched each entry of a directory. */
export interface LastCommits {
  /** Each once. */
  readonly commits: CommitRecord[];
  /** For each entry the index of its commit; −1: not found in time. */
  readonly indexes: Int32Array;
}

/** The entries of a directory, by name. */
type Listing = ReadonlyMap<string, Pick<TreeEntry, "mode" | "oid">>;

/** Finds the last commit that touched each entry of a directory, as `git log -1` does for one path.
 * From the tip on, an entry moves to the first parent in which it is the same. The commit without
 * such a parent is the result. Entries at the same commit move together, so each commit's directory
 * is read once for all of them.
 * @param tip object number of a commit
 * @param path byte string of the directory, "" for the root
 * @throws GitError "storage-failed"
 * @see git-log(1) "History Simplification" */
export async function findLastCommits(
  repository: OpenRepository,
  tip: number,
  path: string,
  entries: readonly TreeEntry[],
): Promise<LastCommits> {
  const { graph } = repository.tables;
  const endMs = Date.now() + CALL_MS;
  const ahead = Math.max(2, Math.min(COMMITS_AHEAD, Math.floor(ENTRIES_AHEAD / (entries.length + 1))));
  const listings = new Listings(repository, path === "" ? [] : path.split("/"), ahead);
  /** The entries whose last commit is at a position. */
  const found = new Map<GraphPosition, number[]>();
  /** The entries currently at a commit, by its position. */
  const waiting = new Map([[graph.position(tip), entries.map((_, i) => i)]]);
  /** The positions that are or were in `waiting`. Parents have lower positions than their
   * children. */
  const met = new Bitset<GraphPosition>(graph.length);
  for (const position of waiting.keys()) met.add(position);
  // Entries not resolved in time get no commit.
  for (let position = met.previous(met.length); position >= 0; position = met.previous(position)) {
    if (Date.now() >= endMs) break;
    const here = waiting.get(position)!;
    waiting.delete(position);
    const parents = [...graph.parents(position)];
    if (listings.lacks([position, ...parents])) await listings.load(position);
    const stay = here.filter((i) => {
      const same = parents.find((parent) => isSame(entries[i]!, listings.get(parent)));
      if (same === undefined) return true;
      const others = waiting.get(same);
      if (others !== undefined) others.push(i);
      else {
        waiting.set(same, [i]);
        met.add(same);
      }
      return false;
    });
    if (stay.length > 0) found.set(position, stay);
  }
  return showCommits(repository, found, entries.length);
}

function isSame(entry: TreeEntry, listing: Listing | null): boolean {
  const other = listing?.get(entry.name);
  return other !== undefined && other.mode === entry.mode && equalOids(other.oid, entry.oid);
}

async function showCommits(
  repository: OpenRepository,
  found: ReadonlyMap<GraphPosition, readonly number[]>,
  count: number,
): Promise<LastCommits> {
  const { graph, objects } = repository.tables;
  const entriesOf = new Map(Array.from(found, ([position, entries]) => [graph.number(position), entries]));
  const numbers = NumberSet.fromUnsorted(entriesOf.keys());
  const indexes = new Int32Array(count).fill(-1);
  const commits: CommitRecord[] = [];
  const { oid } = objects.locate(numbers);
  for await (const [number, { bytes }] of repository.reader.readEach(numbers)) {
    for (const entry of entriesOf.get(number)!) indexes[entry] = commits.length;
    commits.push(toCommitRecord(toHex(oid, commits.length * OID_BYTES), bytes));
  }
  return { commits, indexes };
}

/** A directory's contents in a group of neighbouring commits. */
class Listings {
  readonly #repository: OpenRepository;
  readonly #parts: readonly string[];
  readonly #ahead: number;
  /** Object number of the directory by position of the commit; 0: missing there. */
  #trees = new Map<GraphPosition, ObjectNumber>();
  #listings = new Map<ObjectNumber, Listing>();

  /** @param parts of the directory's path @param ahead commits that are read at a time */
  constructor(repository: OpenRepository, parts: readonly string[], ahead: number) {
    this.#repository = repository;
    this.#parts = parts;
    this.#ahead = ahead;
  }

  /** Whether some of these commits have not been read. */
  lacks(positions: readonly GraphPosition[]): boolean {
    return positions.some((position) => !this.#trees.has(position));
  }

  /** The directory in a commit that was read; null: missing there. */
  get(position: GraphPosition): Listing | null {
    return this.#listings.get(this.#trees.get(position)!) ?? null;
  }

  /** Reads a commit, its parents, and their first parents; forgets what was read before. */
  async load(position: GraphPosition): Promise<void> {
    const { graph } = this.#repository.tables;
    const positions = new Set([position, ...graph.parents(position)]);
    for (let at: number | undefined = position; at !== undefined && positions.size < this.#ahead;) {
      positions.add(at);
      at = graph.parents(at)[0];
    }
    this.#trees = new Map([...positions].map((one) => [one, graph.tree(one)]));
    for (const part of this.#parts) {
      const below = await this.#read((listing) => listing.get(part)?.oid ?? null);
      const oids = [...below].filter(([, oid]) => oid !== null);
      const { number, type } = this.#repository.tables.objects.lookupMany(concatOids(oids.map(([, oid]) => oid!)));
      const isTree = new Map(oids.map(([tree], i) => [tree, type[i] === 2 ? number[i]! : 0]));
      for (const [one, tree] of this.#trees) this.#trees.set(one, isTree.get(tree) ?? 0);
    }
    this.#listings = await this.#read((listing) => listing);
    // Let other requests run: the object has one thread for all of them.
    await new Promise((resolve) => setTimeout(resolve, 0));
  }

  /** Reads the trees that the commits have reached on the way down. */
  async #read<Result>(use: (listing: Listing) => Result): Promise<Map<ObjectNumber, Result>> {
    const results = new Map<ObjectNumber, Result>();
    const trees = [...new Set(this.#trees.values())].filter((tree) => tree !== 0);
    const unknown = NumberSet.fromUnsorted(trees);
    for await (const [number, { bytes }] of this.#repository.reader.readEach(unknown)) {
      results.set(number, use(new Map(parseTree(bytes).map((entry) => [entry.name, entry]))));
    }
    return results;
  }
}
