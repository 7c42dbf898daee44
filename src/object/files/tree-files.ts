import { concatOids, type Oid } from "../../base/format/oid.ts";
import { isTreeMode, type TreeEntry } from "../../base/format/tree.ts";
import { DeltaChains } from "../../base/bytes/delta-chains.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { chainCount } from "../../base/bytes/plan-rows.ts";
import { keepTree, keptTree } from "../objects/tree-contents.ts";
import { planBlobs } from "./blob-plan.ts";
import { gatherEntries } from "../../base/bytes/entry-window.ts";
import { OpenDirectory } from "./open-directory.ts";

/** Trees that are read at a time, subdirectories and those that follow them, and the most bytes of
 * them that wait. */
const TREES_AHEAD = 64;
const AHEAD_BYTES = 2 * 1024 * 1024;

/** Bytes of the trees that the walk is in, unless the innermost has more: the others are read again
 * on the way back. */
const HELD_BYTES = 16 * 1024 * 1024;

/** A file, symbolic link or gitlink of a tree. */
export interface TreeFile extends Omit<TreeEntry, "name"> {
  /** Byte string, from the root. */
  readonly path: string;
}

/** Whether an entry is wanted; of a directory: whether something below it may be. */
export type ChooseEntry = (entry: TreeEntry) => boolean;

/** What to walk. */
interface TreeWalk {
  readonly tree: Oid;
  /** Byte string that the paths begin with: empty, or ending in "/". */
  readonly prefix: string;
  /** Files up to this path are skipped, and trees without later ones are not read. "": none is
   * skipped. */
  readonly after: string;
  /** Whether to include directories, each before its contents. Their paths end in "/". */
  readonly directories?: boolean;
  /** Called for each directory (its path ends in "/", "" for the root) before its entries are
   * passed. It counts the directory, since a tree can expand to endlessly many paths, and chooses
   * among its entries; null ends the walk. */
  readonly enter: (directory: string, content: Uint8Array) => Promise<ChooseEntry | null>;
  /** Lets other requests run now and then. Called after entries that are not wanted too. */
  readonly pause: () => Promise<void>;
}

/** Yields the files of a tree in the order of git's index, which is that of their paths' bytes.
 * Many trees are read at a time; memory is the trees read ahead, and those that the walk is in.
 * @throws GitError "storage-failed" when a tree cannot be read, and as `enter`
 * @see git-ls-tree(1) -r */
export async function* walkFiles(
  repository: OpenRepository,
  { tree, prefix, after, directories = false, enter, pause }: TreeWalk,
): AsyncGenerator<TreeFile, void, void> {
  const stack: OpenDirectory[] = [];
  const ahead = new Map<TreeEntry, Uint8Array>();
  const read = async (oid: Oid): Promise<Uint8Array> => (await readTrees(repository, [oid]))[0]!;
  const open = async (path: string, oid: Oid, content: Uint8Array): Promise<boolean> => {
    const choose = await enter(path, content);
    if (choose === null) return false;
    stack.push(new OpenDirectory(path, content, after, { choose, pause, readAgain: () => read(oid) }));
    dropBelow(stack);
    return true;
  };
  if (!(await open(prefix, tree, await read(tree)))) return;
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const entry = await top.next();
    if (entry === undefined) {
      stack.pop();
      continue;
    }
    const { name, mode, oid } = entry;
    if (!isTreeMode(mode)) {
      yield { path: top.path + name, mode, oid };
      continue;
    }
    const path = `${top.path}${name}/`;
    if (directories && path > after) yield { path, mode, oid };
    if (!ahead.has(entry)) await readAhead(repository, entry, stack, ahead);
    const content = ahead.get(entry)!;
    ahead.delete(entry);
    if (!(await open(path, oid, content))) return;
  }
}

/** Drops the contents of outer directories when all have too many bytes. */
function dropBelow(stack: readonly OpenDirectory[]): void {
  let heldBytes = 0;
  for (let at = stack.length - 1; at >= 0; at--) {
    const directory = stack[at]!;
    heldBytes += directory.heldBytes;
    if (heldBytes > HELD_BYTES && at < stack.length - 1) directory.drop();
  }
}

/** Reads a directory, together with those needed next. */
async function readAhead(
  repository: OpenRepository,
  first: TreeEntry,
  stack: readonly OpenDirectory[],
  ahead: Map<TreeEntry, Uint8Array>,
): Promise<void> {
  const wanted = [first];
  for (let at = stack.length - 1; at >= 0 && wanted.length < TREES_AHEAD; at--) {
    for (const entry of stack[at]!.directoriesAhead())
      if (!ahead.has(entry) && wanted.length < TREES_AHEAD) wanted.push(entry);
  }
  const sizes = sizesOf(
    repository,
    wanted.map(({ oid }) => oid),
  );
  let sizeBytes = 0;
  for (const content of ahead.values()) sizeBytes += content.length;
  const beyond = sizes.findIndex((one) => (sizeBytes += one) > AHEAD_BYTES);
  const entries = beyond < 0 ? wanted : wanted.slice(0, Math.max(1, beyond));
  const contents = await readTrees(
    repository,
    entries.map(({ oid }) => oid),
  );
  for (const [i, entry] of entries.entries()) ahead.set(entry, contents[i]!);
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
 * @returns their contents, in the order of the ids */
async function readTrees({ tables, chunks, state }: OpenRepository, oids: readonly Oid[]): Promise<Uint8Array[]> {
  const contents = oids.map((oid) => keptTree(oid));
  const unknown = oids.filter((_, i) => contents[i] === undefined);
  if (unknown.length === 0) return contents as Uint8Array[];
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
  return contents as Uint8Array[];
}
