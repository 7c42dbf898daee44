import { concatOids, type Oid } from "../../format/oid.ts";
import { isTreeMode, parseTree, type TreeEntry } from "../../format/tree.ts";
import { DeltaChains } from "../pack-bytes/delta-chains.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { chainCount } from "../pack/plan-rows.ts";
import { keepTree, keptTree } from "../objects/tree-contents.ts";
import { planBlobs } from "./blob-plan.ts";
import { gatherEntries } from "./entry-window.ts";

/** Trees that are read at a time, subdirectories and those that follow them, and the most bytes of
 * them that wait parsed. */
const TREES_AHEAD = 64;
const AHEAD_BYTES = 1024 * 1024;

/** A file, symbolic link or gitlink of a tree. */
export interface TreeFile extends Omit<TreeEntry, "name"> {
  /** Byte string, from the root. */
  readonly path: string;
}

/** What to walk. */
export interface TreeWalk {
  readonly tree: Oid;
  /** Byte string that the paths begin with: empty, or ending in "/". */
  readonly prefix: string;
  /** Files up to this path are skipped, and trees without later ones are not read. "": none is
   * skipped. */
  readonly after: string;
  /** Whether to include directories, each before its contents. Their paths end in "/". */
  readonly directories?: boolean;
  /** Called for each directory (its path ends in "/", "" for the root) before any tree in it is
   * read. It counts the directory, since a tree can expand to endlessly many paths, and chooses
   * among its entries; null ends the walk. */
  readonly enter: (directory: string, entries: readonly TreeEntry[]) => Promise<readonly TreeEntry[] | null>;
}

/** A directory to be walked. Its tree may have been read ahead. */
interface Directory {
  readonly path: string;
  /** Null for the root. */
  readonly entry: TreeEntry | null;
  entries: readonly TreeEntry[] | null;
}

/** Yields the files of a tree in the order of git's index, which is that of their paths' bytes.
 * Many trees are read at a time; memory is the trees read ahead.
 * @throws GitError "storage-failed" when a tree cannot be read, and as `enter`
 * @see git-ls-tree(1) -r */
export async function* walkFiles(
  repository: OpenRepository,
  { tree, prefix, after, directories = false, enter }: TreeWalk,
): AsyncGenerator<TreeFile, void, void> {
  const [root] = await readTrees(repository, [tree]);
  /** The next item is at the end. */
  const pending: (TreeFile | Directory)[] = [{ path: prefix, entry: null, entries: root! }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (!("entries" in next)) {
      yield next;
      continue;
    }
    if (next.entries === null) await readAhead(repository, next, pending);
    const { path, entry, entries } = next as Directory & { entries: readonly TreeEntry[] };
    if (directories && entry !== null && path > after) yield { path, mode: entry.mode, oid: entry.oid };
    const chosen = await enter(path, entries);
    if (chosen === null) return;
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

/** Reads a directory, together with those needed next. */
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
  const sizes = sizesOf(
    repository,
    wanted.map(({ entry }) => entry!.oid),
  );
  let sizeBytes = 0;
  const beyond = sizes.findIndex((one) => (sizeBytes += one) > AHEAD_BYTES);
  const oids = (beyond < 0 ? wanted : wanted.slice(0, Math.max(1, beyond))).map(({ entry }) => entry!.oid);
  for (const [i, entries] of (await readTrees(repository, oids)).entries()) wanted[i]!.entries = entries;
}

/** Bytes of trees. Cached trees are not looked up: if a few trees name one another, soon all are
 * cached. */
function sizesOf({ tables }: OpenRepository, oids: readonly Oid[]): number[] {
  const kept = oids.map((oid) => keptTree(oid)?.length);
  const unknown = oids.filter((_, i) => kept[i] === undefined);
  const { size } = tables.objects.lookupMany(concatOids(unknown));
  let at = 0;
  return kept.map((known) => known ?? size[at++]!);
}

/** Reads trees: those not cached all at once, and of each chunk only the range that contains them.
 * @returns their entries, in the order of the ids */
async function readTrees({ tables, chunks, state }: OpenRepository, oids: readonly Oid[]): Promise<TreeEntry[][]> {
  const contents = oids.map((oid) => keptTree(oid));
  const unknown = oids.filter((_, i) => contents[i] === undefined);
  if (unknown.length === 0) return contents.map((content) => parseTree(content!));
  const plan = planBlobs(tables, Array.from(tables.objects.lookupMany(concatOids(unknown)).number));
  const rows = chainCount(plan.chains);
  const chains = new DeltaChains(await gatherEntries(plan, Array(rows).keys(), chunks), chunks, state.platform.codec);
  let read = 0;
  for (const [i, oid] of oids.entries()) {
    if (contents[i] !== undefined) continue;
    const { bytes } = await chains.resolve(plan.rows[read++]!);
    keepTree(oid, bytes);
    contents[i] = bytes;
  }
  return contents.map((content) => parseTree(content!));
}
