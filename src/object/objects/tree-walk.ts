import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { checkLimit, MAX_SPARSE_PATH_BYTES } from "../../base/format/limits.ts";
import { TreeCursor } from "../../base/format/tree-cursor.ts";
import type { SparsePatterns } from "../../base/format/sparse-patterns.ts";
import { Bitset } from "../../base/numbers/bitset.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import { entryNumber, isTreeEntry } from "../store/index/tree-table.ts";
import type { ObjectReader } from "./object-reader.ts";
import { pause } from "../../base/pacing/time-slice.ts";
import { WalkBudget } from "../../base/pacing/walk-budget.ts";

/** Finds the objects that need no visit, because the other side has them and everything that they
 * reach. */
export type FindHad = (objects: NumberSet) => NumberSet;

/** Trees whose entries are in memory at a time, and entries after which other requests run. */
const TREES_READ = 1_000;
const ENTRIES_PER_TURN = 50_000;

/** Finds the objects that trees reach, themselves included, level by level: each object is met
 * first at its least depth.
 * @param had finds the objects to leave out
 * @param depth number of levels, including the roots'
 * @param end above every object number */
export async function walkTrees(
  reader: ObjectReader,
  roots: NumberSet,
  had: FindHad,
  depth: number,
  end: number,
): Promise<NumberSet> {
  const seen = new Bitset<ObjectNumber>(end);
  let steps = 0;
  let found = NumberSet.EMPTY;
  let trees = roots.difference(had(roots));
  for (let level = 0; level < depth && trees.size > 0; level++) {
    found = found.union(trees);
    if (level + 1 === depth) break;
    const met: ObjectNumber[] = [];
    const subtrees: ObjectNumber[] = [];
    for (const slice of reader.divide(trees, TREES_READ)) {
      for (const words of (await reader.readEntries(slice)).values()) {
        steps += 1 + words.length;
        for (const word of words) {
          const number = entryNumber(word);
          if (seen.has(number)) continue;
          seen.add(number);
          met.push(number);
          if (isTreeEntry(word)) subtrees.push(number);
        }
      }
      if (steps < ENTRIES_PER_TURN) continue;
      steps = 0;
      await pause();
    }
    const below = NumberSet.fromUnsorted(met);
    const fresh = below.difference(had(below)).difference(found);
    found = found.union(fresh);
    trees = NumberSet.fromUnsorted(subtrees).intersection(fresh);
  }
  return found;
}

/** Costs of a walk: steps per path, and per byte of a path, besides its patterns; steps that each
 * tree entry adds to the budget (a large history is allowed, a tree that occurs in ever more places
 * is not); bytes per directory besides its path. */
const STEPS_PER_PATH = 60;
const STEPS_PER_PATH_BYTE = 1 / 8;
const STEPS_PER_ENTRY = 200;
const BYTES_PER_DIRECTORY = 192;

/** A tree at one of its paths. */
interface Place {
  /** Path as a byte string, ending in "/" unless it is a root. */
  readonly path: string;
  /** The verdict of each pattern list on the directory, inherited by its entries. */
  readonly included: readonly boolean[];
}

/** Finds the objects that trees reach, as `walkTrees`, but only blobs that every list of patterns
 * includes, at one of their paths.
 * @throws GitError "too-large" when the patterns cost too much, or there are too many directories
 * @see git's list-objects-filter.c: filter_sparse() */
export async function walkSparse(
  reader: ObjectReader,
  roots: NumberSet,
  had: FindHad,
  depth: number,
  patterns: readonly SparsePatterns[],
): Promise<NumberSet> {
  const found = new Set<ObjectNumber>();
  const visited = new Set<string>();
  let visitedBytes = 0;
  const budget = new WalkBudget();
  const hadHere = roots.difference(had(roots));
  const included = patterns.map((list) => list.match("", "", true, budget) === "include");
  let places = new Map<ObjectNumber, Place[]>();
  for (const root of hadHere.toArray()) places.set(root, [{ path: "", included }]);
  for (let level = 0; level < depth && places.size > 0; level++) {
    const below = new Map<ObjectNumber, Place[]>();
    const blobs: ObjectNumber[] = [];
    if (level + 1 === depth) {
      for (const tree of places.keys()) found.add(tree);
      break;
    }
    for await (const { number, content, numbers } of reader.readTrees(NumberSet.fromUnsorted(places.keys()))) {
      if (!found.has(number)) budget.allow(numbers.length * STEPS_PER_ENTRY);
      found.add(number);
      for (const place of places.get(number)!) {
        let at = 0;
        for (const cursor = new TreeCursor(content); !cursor.isAtEnd; cursor.advance()) {
          const entry = numbers[at++]!;
          if (entry === 0) continue;
          const { name, isTree } = cursor;
          const path = place.path + name;
          budget.spend(STEPS_PER_PATH + Math.ceil(path.length * STEPS_PER_PATH_BYTE));
          if (budget.isPauseDue) await budget.pause();
          if (isTree && visited.has(`${entry} ${path}`)) continue;
          const included = patterns.map((list, k) => {
            const verdict = list.match(path, name, isTree, budget);
            return verdict === "undecided" ? place.included[k]! : verdict === "include";
          });
          if (!isTree) {
            if (included.every(Boolean)) blobs.push(entry);
            continue;
          }
          visited.add(`${entry} ${path}`);
          visitedBytes += path.length + BYTES_PER_DIRECTORY;
          checkLimit("the directories looked into (bytes of paths)", MAX_SPARSE_PATH_BYTES, visitedBytes);
          const known = below.get(entry);
          if (known === undefined) below.set(entry, [{ path: `${path}/`, included }]);
          else known.push({ path: `${path}/`, included });
        }
      }
    }
    for (const blob of blobs) found.add(blob);
    const trees = NumberSet.fromUnsorted(below.keys());
    for (const tree of had(trees).toArray()) below.delete(tree);
    places = below;
  }
  const all = NumberSet.fromUnsorted(found);
  return all.difference(had(all));
}
