/** The result of the pack indexer: `wasm/src/indexer` fills it, `pack-indexer.ts` drives it. */

import type { Kind } from "../format/kinds.ts";
import type { LfsOid } from "../format/lfs.ts";

/** An object that a pack holds or mentions, which has one node however many entries have its id;
 * −1: none. (The commit graph has nodes, too: those go by their position.) */
export type PackNode = Kind<"pack node">;

/** An entry of a pack, or an external base behind them: its place in the order of the pack. */
export type PackEntry = Kind<"pack entry">;

/** How an entry is stored: the numbers of `Stored` in entries.zig. */
export const STORED = { plain: 0, ofsDelta: 1, refDelta: 2, external: 3, made: 4 } as const;

/** Bits of `PackIndex.flags`: the low four are the types (1 << type − 1) that references claim for
 * an object. */
export const NODE_TYPE_MASK = 0b0000_1111;
export const NODE_SPECIAL_MASK = 0b0011_0000;
export const NODE_CHECKED = 0b0100_0000;

/** No entry, no node. */
export const NO_INDEX = 0xffff_ffff;

/** An entry stored after the pack, bytes. */
export interface MadeEntry {
  readonly offset: number;
  readonly length: number;
}

/** Words of an open list of references: its place in the log, what is left of it, and its last
 * word. */
export const LIST_WORDS = 3;

/** Open lists that a walk over an object's references needs at a time: runs of runs. */
export const MAX_LISTS = 4;

/** An indexed pack, valid until the indexer is used again. Entries are in pack order, followed by
 * external entries (bases of a thin pack). A node is an object id that the pack contains or
 * mentions. What there is for each of them may be anywhere: one at a time is asked for. */
export interface PackIndex {
  /** Entries of the pack itself. */
  readonly count: number;
  /** End of the last entry (bytes in the pack). */
  readonly end: number;
  /** Entries that were pushed as deltas and stored undeltified after the pack (`STORED.made`). By
   * entry, in the order of their offsets. */
  readonly made: ReadonlyMap<PackEntry, MadeEntry>;
  /** Number of distinct ids. */
  readonly nodeCount: number;
  /** How often objects are mentioned, by commits, trees and tags. */
  readonly referenceCount: number;
  /** The pointer files of Git LFS among the blobs: `Pointer` of pointers.zig, one after the
   * other. */
  readonly pointers: Uint32Array;

  /** Offset in the pack of an entry (bytes). */
  offset(entry: PackEntry): number;
  /** Inflated size of its object (bytes). */
  size(entry: PackEntry): number;
  /** Base entry of a delta; `NO_INDEX` for others. */
  base(entry: PackEntry): PackEntry;
  /** `NO_INDEX`: it is not resolved yet. */
  nodeOf(entry: PackEntry): PackNode;
  /** Object type, 1–4. */
  kind(entry: PackEntry): number;
  stored(entry: PackEntry): number;
  /** Commit time, seconds; 0 for other objects. */
  time(entry: PackEntry): number;
  /** First entry of a node; `NO_INDEX`: not in the pack; ≥ `count`: external. */
  entryOf(node: PackNode): PackEntry;
  flags(node: PackNode): number;
  /** The ids of nodes `from` to `end - 1`, packed: a copy. */
  oids(from: PackNode, end: PackNode): Uint8Array;

  /** Copies the id of a node into `into`, from `at` on. */
  copyOid(node: PackNode, into: Uint8Array, at: number): void;

  /** Opens the list of the references of an entry's object: a commit's tree before its parents, a
   * tree's entries in order.
   * @param words the list's are those from `at` on, which are overwritten
   * @returns its level: at 0 it is one of nodes, above of runs of the level below */
  openList(entry: PackEntry, words: Uint32Array, at: number): number;
  /** The same for the list that is a run. */
  openRun(run: number, words: Uint32Array, at: number): number;
  /** The level of an open list. */
  level(words: Uint32Array, at: number): number;
  /** The next node or run of a list; −1: its end. */
  next(words: Uint32Array, at: number): number;

  // Columns of whoever uses the index, without values until they are set.
  /** Of nodes, once all is resolved. */
  number(node: PackNode): number;
  setNumber(node: PackNode, value: number): void;
  /** Of entries of the pack, once all is resolved. */
  introducer(entry: PackEntry): number;
  setIntroducer(entry: PackEntry, value: number): void;
  /** A list with as many places as the pack has entries. */
  fresh(i: number): PackEntry;
  setFresh(i: number, value: PackEntry): void;
  /** Of runs, 0 at first. */
  memo(run: number): number;
  setMemo(run: number, value: number): void;
  /** How many runs there are. */
  readonly runCount: number;
}

/** The nodes that an entry's object refers to: a commit's tree before its parents, a tree's entries
 * in order. */
export function readReferences(index: PackIndex, entry: PackEntry): readonly PackNode[] {
  const nodes: PackNode[] = [];
  const words = new Uint32Array(MAX_LISTS * LIST_WORDS);
  const levels = [index.openList(entry, words, 0)];
  while (levels.length > 0) {
    const top = levels.length - 1;
    const word = index.next(words, top * LIST_WORDS);
    if (word < 0) levels.pop();
    else if (levels[top] === 0) nodes.push(word);
    else levels.push(index.openRun(word, words, (top + 1) * LIST_WORDS));
  }
  return nodes;
}

/** The id of a node. */
export function oidOf(index: PackIndex, node: PackNode): Uint8Array {
  return index.oids(node, node + 1);
}

/** Whether a node's object is an entry of the pack itself. */
export function isHeld(index: Pick<PackIndex, "count" | "entryOf">, node: PackNode): boolean {
  return index.entryOf(node) < index.count;
}

/** A pointer file of Git LFS. */
interface PackPointer {
  /** The blob. */
  readonly packNode: PackNode;
  /** SHA-256 of the object that it names, hex; and that one's size. */
  readonly oid: LfsOid;
  readonly sizeBytes: number;
}

/** Words of a `Pointer` in pointers.zig. */
export const POINTER_WORDS = 11;

/** The pointer files of Git LFS in a pack. */
export function* readPointers({ pointers }: Pick<PackIndex, "pointers">): Generator<PackPointer, void> {
  for (let at = 0; at < pointers.length; at += POINTER_WORDS) {
    const [packNode, low, high] = pointers.subarray(at, at + 3) as unknown as [number, number, number];
    const oid = Buffer.from(pointers.buffer, pointers.byteOffset + 4 * (at + 3), 32).toString("hex");
    yield { packNode, oid, sizeBytes: high * 2 ** 32 + low };
  }
}

function nothing(): never {
  throw new RangeError("there is no pack");
}

/** The index of a push without a pack: it only deletes refs, or points them at stored objects. */
export const EMPTY_INDEX: PackIndex = {
  count: 0,
  end: 0,
  made: new Map(),
  nodeCount: 0,
  referenceCount: 0,
  pointers: new Uint32Array(),
  runCount: 0,
  oids: () => new Uint8Array(),
  copyOid: nothing,
  offset: nothing,
  size: nothing,
  base: nothing,
  nodeOf: nothing,
  kind: nothing,
  stored: nothing,
  time: nothing,
  entryOf: nothing,
  flags: nothing,
  openList: nothing,
  openRun: nothing,
  level: nothing,
  next: nothing,
  number: nothing,
  setNumber: nothing,
  introducer: nothing,
  setIntroducer: nothing,
  fresh: nothing,
  setFresh: nothing,
  memo: nothing,
  setMemo: nothing,
};
