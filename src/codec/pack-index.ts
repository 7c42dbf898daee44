/** The result of the pack indexer: `wasm/src/indexer` fills it, `pack-indexer.ts` drives it. */

import type { Column, Kind } from "../format/kinds.ts";
import type { LfsOid } from "../format/lfs.ts";
import { COMMIT } from "../format/object.ts";

/** An object that a pack holds or mentions, which has one node however many entries have its id;
 * −1: none. (The commit graph has nodes, too: those go by their position.) */
export type PackNode = Kind<"pack node">;

/** An entry of a pack, or an external base behind them: its place in the order of the pack. */
export type PackEntry = Kind<"pack entry">;

/** How an entry is stored: the numbers of `Stored` in entries.zig. */
export const STORED = { plain: 0, ofsDelta: 1, refDelta: 2, external: 3, made: 4 } as const;

/** Bits of `PackIndex.nodeFlags`: the low four are the types (1 << type − 1) that references claim
 * for an object. */
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

/** An indexed pack, as views into the module's memory, valid until the indexer is used again.
 * Entries are in pack order, followed by external entries (bases of a thin pack). A node is an
 * object id that the pack contains or mentions. */
export interface PackIndex {
  /** Entries of the pack itself. */
  readonly count: number;
  /** Offset in the pack of each entry (bytes); the last ends at `end`. */
  readonly offsets: Float64Array;
  readonly end: number;
  /** Inflated size of each object (bytes). */
  readonly sizes: Float64Array;
  /** Base entry of each delta; `NO_INDEX` for others. */
  readonly bases: Column<PackEntry>;
  readonly entryNodes: Column<PackNode>;
  /** Where each entry's record begins in `edges`; 0: none. */
  readonly entryEdges: Uint32Array;
  /** Object types, 1–4. */
  readonly kinds: Uint8Array;
  readonly stored: Uint8Array;
  /** Entries that were pushed as deltas and stored undeltified after the pack (`STORED.made`). By
   * entry, in the order of their offsets. */
  readonly made: ReadonlyMap<PackEntry, MadeEntry>;
  /** Number of distinct ids. */
  readonly nodeCount: number;
  readonly oids: Uint8Array;
  /** First entry of each node; `NO_INDEX`: not in the pack; ≥ `count`: external. */
  readonly nodeEntries: Column<PackEntry>;
  readonly nodeFlags: Uint8Array;
  /** The pointer files of Git LFS among the blobs: `Pointer` of pointers.zig, one after the
   * other. */
  readonly pointers: Uint32Array;
  /** The whole memory, which contains the records. A record is the number of words that follow; for
   * a commit its time (low, high word); then nodes: a commit's tree before its parents, a tree's
   * entries in order. If the highest bit of the number is set, the words are addresses of runs,
   * which large trees share; each run is a count and that many nodes. */
  readonly edges: Uint32Array;
}

/** Marks a record that consists of runs. */
const IN_RUNS = 0x8000_0000;

/** The nodes that an entry's object refers to: a commit's tree before its parents, a tree's entries
 * in order. */
export function readReferences({ entryEdges, edges, kinds }: PackIndex, entry: PackEntry): Column<PackNode> {
  const start = entryEdges[entry]!;
  if (start === 0) return edges.subarray(0, 0);
  const count = edges[start]!;
  if (count < IN_RUNS) return edges.subarray(start + (kinds[entry] === COMMIT ? 3 : 1), start + 1 + count);
  const runs = edges.subarray(start + 1, start + 1 + (count - IN_RUNS));
  const nodes = new Uint32Array(runs.reduce((sum, run) => sum + edges[run]!, 0));
  let at = 0;
  for (const run of runs) {
    const length = edges[run]!;
    nodes.set(edges.subarray(run + 1, run + 1 + length), at);
    at += length;
  }
  return nodes;
}

/** Where the references of an entry's object are in `PackIndex.edges`: a range of words, each a
 * node or the address of a run. */
export interface ReferenceWords {
  at: number;
  end: number;
  isRuns: boolean;
}

/** Finds the words of `readReferences`, for loops over many of them without allocation.
 * @param words changed and returned */
export function referenceWords(
  { entryEdges, edges, kinds }: PackIndex,
  entry: PackEntry,
  words: ReferenceWords,
): ReferenceWords {
  const start = entryEdges[entry]!;
  const count = start === 0 ? 0 : edges[start]!;
  words.isRuns = count >= IN_RUNS;
  words.at = start + (kinds[entry] === COMMIT && start !== 0 ? 3 : 1);
  words.end = start + 1 + (words.isRuns ? count - IN_RUNS : count);
  return words;
}

/** Time of an entry's commit, seconds; 0 for other objects. */
export function readTime({ entryEdges, edges, kinds }: PackIndex, entry: PackEntry): number {
  const start = entryEdges[entry]!;
  return kinds[entry] === COMMIT ? edges[start + 2]! * 2 ** 32 + edges[start + 1]! : 0;
}

/** A pointer file of Git LFS. */
export interface PackPointer {
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

/** The index of a push without a pack: it only deletes refs, or points them at stored objects. */
export const EMPTY_INDEX: PackIndex = {
  count: 0,
  offsets: new Float64Array(),
  end: 0,
  sizes: new Float64Array(),
  bases: new Uint32Array(),
  entryNodes: new Uint32Array(),
  entryEdges: new Uint32Array(),
  kinds: new Uint8Array(),
  stored: new Uint8Array(),
  made: new Map(),
  nodeCount: 0,
  oids: new Uint8Array(),
  nodeEntries: new Uint32Array(),
  nodeFlags: new Uint8Array(),
  pointers: new Uint32Array(),
  edges: new Uint32Array(),
};
