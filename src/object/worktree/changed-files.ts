import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { GitError } from "../../base/format/errors.ts";
import { checkLimit } from "../../base/format/limits.ts";
import { concatOids, type Oid, OID_BYTES, toHex } from "../../base/format/oid.ts";
import { isTreeMode, type TreeEntry, typeOfMode } from "../../base/format/tree.ts";
import { TreeCursor } from "../../base/format/tree-cursor.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import { FileChanges } from "../store/jobs/file-changes.ts";
import type { ObjectReader, ObjectTables } from "../objects/object-reader.ts";
import { TimeSlice } from "../../base/pacing/time-slice.ts";
import { keptTree } from "../objects/tree-contents.ts";

/** Trees read together. */
const BATCH_TREES = 500;

/** What a file or directory counts for in addition to its path: its entry in memory, and its
 * row. */
const PLACE_BYTES = 64;

/** Entries that differ and are looked up together. */
const TAKEN_TOGETHER = 4_096;

/** Entries that are compared before others may be served. */
const SLICE_ENTRIES = 64;

/** Bytes of the trees that are read together: they are in memory. */
const BATCH_BYTES = 32 * 1024 * 1024;

/** A directory that differs between two trees; 0: missing in that one. */
interface ChangedDirectory {
  /** Byte string, ending in "/" unless it is the root. */
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

/** A path whose entry differs between two trees. */
interface ChangedEntry {
  readonly path: string;
  readonly from: TreeEntry | undefined;
  readonly to: TreeEntry | undefined;
}

/** Finds the files that differ between two trees, without reading subtrees that are the same in
 * both. Submodules are not files.
 * @param from object number of a tree, 0: the empty one
 * @param limitBytes cap on all paths met
 * @throws GitError "too-large" beyond that; as `ObjectReader.read` */
export async function findChangedFiles(
  reader: ObjectReader,
  objects: ObjectTables["objects"],
  from: number,
  to: number,
  limitBytes: number,
): Promise<FileChanges> {
  const changes = new FileChanges();
  const left: ChangedDirectory[] = from === to ? [] : [{ path: "", from, to }];
  let pathBytes = 0;
  const count = (bytes: number): void => {
    pathBytes += bytes;
    checkLimit("a worktree's paths (bytes)", limitBytes, pathBytes);
  };
  const take = (entries: readonly ChangedEntry[]): void => {
    const find = findObjects(objects, entries);
    entries.forEach(({ path, from, to }, i) => {
      const before = kindOf(from);
      const after = kindOf(to);
      if (before === "tree" || after === "tree") {
        left.push({
          path: `${path}/`,
          from: before === "tree" ? find(2 * i).number : 0,
          to: after === "tree" ? find(2 * i + 1).number : 0,
        });
      }
      if (after === "blob") {
        const { number: source, sizeBytes } = find(2 * i + 1);
        changes.add({ path, file: { source, oid: to!.oid, mode: to!.mode, sizeBytes } });
      } else if (before === "blob") changes.add({ path, file: null });
    });
  };
  // Reads from memory or SQLite alone never let other requests run.
  const slice = new TimeSlice();
  for (; left.length > 0; await slice.pause()) {
    // Taking the last found keeps the list short.
    const directories = left.splice(-BATCH_TREES);
    for await (const entries of compareDirectories(reader, objects, directories, slice, count)) take(entries);
  }
  return changes;
}

/** Compares directories entry by entry. A name that is a file on one side and a directory on the
 * other is two entries.
 * @param count receives the bytes that a path counts for, before it is kept
 * @returns some at a time: a directory may have half a million
 * @throws GitError "too-large" when their trees are too large, and as `count` */
async function* compareDirectories(
  reader: ObjectReader,
  objects: ObjectTables["objects"],
  directories: readonly ChangedDirectory[],
  slice: TimeSlice,
  count: (bytes: number) => void,
): AsyncGenerator<readonly ChangedEntry[]> {
  const trees = await readTrees(reader, objects, directories);
  let changed: ChangedEntry[] = [];
  let visited = 0;
  for (const { path, from, to } of directories) {
    const before = new TreeCursor(trees.get(from)!);
    const after = new TreeCursor(trees.get(to)!);
    while (before.bytesLeft + after.bytesLeft > 0) {
      const order = before.compare(after);
      if (order !== 0 || before.mode !== after.mode || !before.isSameAs(after)) {
        const name = order <= 0 ? before.name : after.name;
        count(path.length + name.length + PLACE_BYTES);
        changed.push({
          path: path + name,
          from: order <= 0 ? before.entry : undefined,
          to: order >= 0 ? after.entry : undefined,
        });
      }
      if (order <= 0) before.advance();
      if (order >= 0) after.advance();
      if (++visited % SLICE_ENTRIES === 0) await slice.pause();
      if (changed.length < TAKEN_TOGETHER) continue;
      yield changed;
      changed = [];
    }
  }
  yield changed;
}

/** Reads the trees of both sides.
 * @returns their contents; object 0 is an empty tree
 * @throws GitError "too-large" when they are too large together */
async function readTrees(
  reader: ObjectReader,
  objects: ObjectTables["objects"],
  directories: readonly ChangedDirectory[],
): Promise<Map<ObjectNumber, Uint8Array>> {
  const trees = new Map<ObjectNumber, Uint8Array>([[0, new Uint8Array()]]);
  let sizeBytes = 0;
  const take = (number: ObjectNumber, content: Uint8Array): void => {
    sizeBytes += content.length;
    checkLimit("trees (bytes)", BATCH_BYTES, sizeBytes);
    trees.set(number, content);
  };
  const numbers = [...new Set(directories.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
  const wanted = numbers.filter((number) => number !== 0);
  const { oid } = objects.locate(NumberSet.fromSorted(wanted));
  const asked: ObjectNumber[] = [];
  wanted.forEach((number, i) => {
    // Recently saved trees are cached.
    const kept = keptTree(oid.subarray(i * OID_BYTES, (i + 1) * OID_BYTES));
    if (kept === undefined) asked.push(number);
    else take(number, kept);
  });
  for await (const [number, { bytes }] of reader.readEach(NumberSet.fromSorted(asked))) take(number, bytes);
  return trees;
}

/** Looks up the ids in entries.
 * @returns maps an entry's `from` (twice its index) or `to` (one more) to its object's number and
 * size */
function findObjects(
  objects: ObjectTables["objects"],
  entries: readonly ChangedEntry[],
): (side: number) => { number: ObjectNumber; sizeBytes: number } {
  const sides: number[] = [];
  const oids: Oid[] = [];
  entries.forEach(({ from, to }, i) => {
    [from, to].forEach((entry, which) => {
      // Of removed entries only directories are needed. A submodule's commit may exist here by
      // chance, but is not a file.
      if (kindOf(entry) !== "tree" && (which === 0 || kindOf(entry) !== "blob")) return;
      sides.push(2 * i + which);
      oids.push(entry!.oid);
    });
  });
  const { number, size } = objects.lookupMany(concatOids(oids));
  const missing = number.indexOf(0);
  if (missing >= 0) {
    throw new GitError("storage-failed", { key: "object_chunks", reason: `has no ${toHex(oids[missing]!)}` });
  }
  const found = new Map(sides.map((side, i) => [side, { number: number[i]!, sizeBytes: size[i]! }]));
  return (side) => found.get(side)!;
}

function kindOf(entry: TreeEntry | undefined): "tree" | "blob" | null {
  if (entry === undefined) return null;
  if (isTreeMode(entry.mode)) return "tree";
  return typeOfMode(entry.mode) === "blob" ? "blob" : null;
}
