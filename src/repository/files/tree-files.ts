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
  /** Whether directories come too, each before what is in it; their paths end in "/". */
  readonly directories?: boolean;
  /** Chooses among the entries of a directory (its path ends in "/", "" for the root) before any tree in it is read; without it all come. */
  readonly choose?: (directory: string, entries: readonly TreeEntry[]) => Promise<readonly TreeEntry[]>;
}

/** A directory on its way: read when its turn comes, or with those before it. */
interface Directory {
  readonly path: string;
  /** Null for the root. */
  readonly entry: TreeEntry | null;
  entries: readonly TreeEntry[] | null;
}

/** Yields the files of a tree in the order of git's index, which is that of their paths' bytes. Trees are read many at a time; memory is
 * those that were read and not come to.
 * @throws GitError "storage-failed" when a tree cannot be read
 * @see git-ls-tree(1) -r */
export async function* walkFiles(
  repository: OpenRepository,
  { tree, prefix, after, directories = false, choose }: TreeWalk,
): AsyncGenerator<TreeFile, void, void> {
  const [root] = await readTrees(repository, NumberSet.range(tree, tree + 1));
  /** What comes next is at the end. */
  const pending: (TreeFile | Directory)[] = [{ path: prefix, entry: null, entries: root!.entries }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (!("entries" in next)) {
      yield next;
      continue;
    }
    if (next.entries === null) await readAhead(repository, next, pending);
    const { path, entry, entries } = next as Directory & { entries: readonly TreeEntry[] };
    if (directories && entry !== null && path > after) yield { path, mode: entry.mode, oid: entry.oid };
    const chosen = choose === undefined ? entries : await choose(path, entries);
    for (const child of chosen.toReversed()) {
      const { mode, oid } = child;
      const full = path + child.name;
      if (!isTreeMode(mode)) {
        if (full > after) pending.push({ path: full, mode, oid });
      } else if (`${full}/` > after || after.startsWith(`${full}/`)) {
        pending.push({ path: `${full}/`, entry: child, entries: null });
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
  const { number } = repository.tables.objects.lookupMany(concatOids(wanted.map(({ entry }) => entry!.oid)));
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
