import { concatOids } from "../../format/oid.ts";
import { isTreeMode, parseTree, type TreeEntry } from "../../format/tree.ts";
import { NumberSet } from "../../store/number-set.ts";
import type { OpenRepository } from "../open-repository.ts";

/** Trees that are read at a time: of one directory's children, and of what comes behind them. */
const TREES_AHEAD = 64;

/** A file, symbolic link or gitlink of a tree. */
export interface TreeFile extends Omit<TreeEntry, "name"> {
  /** Byte string, from the root. */
  readonly path: string;
}

/** What of a tree is walked. */
export interface TreeWalk {
  /** Object number. */
  readonly tree: number;
  /** Byte string that the paths begin with: empty, or ending in "/". */
  readonly prefix: string;
  /** Files up to this path are left out, and trees that have no others are not read; "": none is. */
  readonly after: string;
  /** Whether anything below a directory (its path, ending in "/") is wanted, and what of its entries; without it all. Asked once for each, in
   * the order of their paths, whether or not what is in it comes behind `after`. */
  readonly filter?: DirectoryFilter;
}

/** Chooses among the entries of a directory, before any tree in it is read.
 * @param directory path, ending in "/"; "" for the root */
export type DirectoryFilter = (directory: string, entries: readonly TreeEntry[]) => Promise<readonly TreeEntry[]>;

/** A directory on its way: read when its turn comes, or with those before it. */
interface Directory {
  readonly path: string;
  readonly oid: TreeEntry["oid"];
  entries: readonly TreeEntry[] | null;
}

/** Yields the files of a tree in the order of git's index, which is that of their paths' bytes. Trees are read many at a time; memory is
 * those that were read and not come to.
 * @throws GitError "storage-failed" when a tree cannot be read
 * @see git-ls-tree(1) -r */
export async function* walkFiles(
  repository: OpenRepository,
  { tree, prefix, after, filter }: TreeWalk,
): AsyncGenerator<TreeFile, void, void> {
  const [root] = await readTrees(repository, NumberSet.range(tree, tree + 1));
  /** What comes next is at the end. */
  const pending: (TreeFile | Directory)[] = [{ path: prefix, oid: new Uint8Array(0), entries: root!.entries }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (!("entries" in next)) {
      yield next;
      continue;
    }
    if (next.entries === null) await readAhead(repository, next, pending);
    const { path, entries } = next as { path: string; entries: readonly TreeEntry[] };
    const kept = filter === undefined ? entries : await filter(path, entries);
    for (const { mode, name, oid } of kept.toReversed()) {
      const full = path + name;
      if (!isTreeMode(mode)) {
        if (full > after) pending.push({ path: full, mode, oid });
      } else if (`${full}/` > after || after.startsWith(`${full}/`)) {
        pending.push({ path: `${full}/`, oid, entries: null });
      }
    }
  }
}

/** Reads a directory, and with it those that will be read next. */
async function readAhead(
  repository: OpenRepository,
  first: Directory,
  pending: readonly (TreeFile | Directory)[],
): Promise<void> {
  const wanted = [first];
  for (let at = pending.length - 1; at >= 0 && wanted.length < TREES_AHEAD; at--) {
    const item = pending[at]!;
    if ("entries" in item && item.entries === null) wanted.push(item);
  }
  const { number } = repository.tables.objects.lookupMany(concatOids(wanted.map(({ oid }) => oid)));
  const numbers = NumberSet.fromSorted(number.toSorted());
  const read = new Map((await readTrees(repository, numbers)).map((one) => [one.number, one.entries]));
  for (const [i, directory] of wanted.entries()) directory.entries = read.get(number[i]!)!;
}

async function readTrees(
  { reader }: OpenRepository,
  numbers: NumberSet,
): Promise<{ number: number; entries: TreeEntry[] }[]> {
  const trees: { number: number; entries: TreeEntry[] }[] = [];
  for await (const [number, { bytes }] of reader.readEach(numbers)) trees.push({ number, entries: parseTree(bytes) });
  return trees;
}
