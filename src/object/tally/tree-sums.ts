import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { isFileMode } from "../../base/format/tree.ts";
import { TreeCursor } from "../../base/format/tree-cursor.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { Tables } from "../store/tables.ts";
import type { FileSum } from "../store/index/tree-sum-table.ts";
import type { NamedTree, ObjectReader } from "../objects/object-reader.ts";
import { pause } from "../../base/pacing/time-slice.ts";
import { languageOf, languageScheme } from "../../base/languages/language.ts";

/** Takes the place of a language's id for files without one. */
const OTHER_FILES = -1;

/** Trees read at a time. */
const SLICE_TREES = 500;

/** Trees read before other requests run: each takes up to a millisecond. */
const TREES_PER_REST = 10;

/** Entries of a tree after which other requests run. */
const ENTRIES_PER_REST = 4_096;

/** A tree whose sums are not known yet. */
interface OpenTree {
  readonly sums: SumsByKind;
  /** Its subtrees, each as often as it occurs. */
  readonly subtrees: readonly ObjectNumber[];
  /** How many items of `subtrees` have no sums yet. */
  waitsFor: number;
}

/** Sums up the files below a tree by language, without symbolic links and gitlinks. Subtrees with
 * stored sums are not read; the sums of others are stored: after a push, those are the trees on the
 * changed paths.
 * @param root object number of a tree
 * @param rest called between slices of the work
 * @returns a sum for each language, by its id, and for the rest
 * @throws GitError "storage-failed" when a tree cannot be read */
export async function sumTree(
  { tables, reader }: { readonly tables: Tables; readonly reader: ObjectReader },
  root: ObjectNumber,
  rest: () => Promise<void> = pause,
): Promise<readonly FileSum[]> {
  const scheme = languageScheme();
  const known = new Map<ObjectNumber, readonly FileSum[]>();
  const open = new Map<ObjectNumber, OpenTree>();
  let unrested = 0;
  for (let level = [root]; level.length > 0;) {
    const trees = NumberSet.fromUnsorted(level);
    for (const [tree, sums] of tables.treeSums.find(trees, scheme)) known.set(tree, sums);
    const unknown = trees.toArray().filter((tree) => !known.has(tree));
    const below = new Set<ObjectNumber>();
    for (let from = 0; from < unknown.length; from += SLICE_TREES) {
      const slice = NumberSet.fromSorted(unknown.subarray(from, from + SLICE_TREES));
      for await (const tree of reader.readTrees(slice)) open.set(tree.number, await sumFiles(tree, rest));
      unrested += slice.size;
      if (unrested < TREES_PER_REST) continue;
      unrested = 0;
      await rest();
    }
    for (const tree of unknown) for (const subtree of open.get(tree)!.subtrees) below.add(subtree);
    level = [...below].filter((tree) => !known.has(tree) && !open.has(tree));
  }
  tables.treeSums.insert(close(open, known), scheme);
  return known.get(root)!;
}

async function sumFiles({ content, numbers, sizes }: NamedTree, rest: () => Promise<void>): Promise<OpenTree> {
  const sums = new SumsByKind();
  const subtrees: ObjectNumber[] = [];
  let at = 0;
  for (const cursor = new TreeCursor(content); !cursor.isAtEnd; cursor.advance(), at++) {
    if (cursor.isTree) subtrees.push(numbers[at]!);
    else if (isFileMode(cursor.mode)) sums.add([languageOf(cursor.name)?.id ?? OTHER_FILES, 1, sizes[at]!]);
    if ((at + 1) % ENTRIES_PER_REST === 0) await rest();
  }
  return { sums, subtrees, waitsFor: subtrees.length };
}

/** Adds up open trees, each after all its subtrees, and adds them to the known ones. */
function close(
  open: ReadonlyMap<ObjectNumber, OpenTree>,
  known: Map<ObjectNumber, readonly FileSum[]>,
): [tree: ObjectNumber, sums: readonly FileSum[]][] {
  /** For each subtree, the trees that wait for it, once per occurrence. */
  const waiting = new Map<ObjectNumber, ObjectNumber[]>();
  const closed: [number, readonly FileSum[]][] = [];
  const ready: ObjectNumber[] = [];
  const add = (number: ObjectNumber, sums: readonly FileSum[]): void => {
    const tree = open.get(number)!;
    for (const sum of sums) tree.sums.add(sum);
    tree.waitsFor -= 1;
    if (tree.waitsFor === 0) ready.push(number);
  };
  for (const [number, { subtrees }] of open) {
    if (subtrees.length === 0) ready.push(number);
    for (const subtree of subtrees) {
      const sums = known.get(subtree);
      if (sums !== undefined) add(number, sums);
      else if (waiting.get(subtree)?.push(number) === undefined) waiting.set(subtree, [number]);
    }
  }
  for (let number = ready.pop(); number !== undefined; number = ready.pop()) {
    const sums = open.get(number)!.sums.list();
    known.set(number, sums);
    closed.push([number, sums]);
    for (const one of waiting.get(number) ?? []) add(one, sums);
  }
  return closed;
}

/** Sums by language. They are capped at the largest exact integer: a few trees that name each other
 * often can stand for more files than there are atoms. */
class SumsByKind {
  readonly #sums = new Map<number, FileSum>();

  add([kind, files, bytes]: FileSum): void {
    const [, filesBefore, bytesBefore] = this.#sums.get(kind) ?? [kind, 0, 0];
    this.#sums.set(kind, [kind, bounded(filesBefore + files), bounded(bytesBefore + bytes)]);
  }

  list(): readonly FileSum[] {
    return [...this.#sums.values()];
  }
}

function bounded(sum: number): number {
  return Math.min(sum, Number.MAX_SAFE_INTEGER);
}
