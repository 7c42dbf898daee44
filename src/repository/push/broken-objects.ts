import type { Column } from "../../format/kinds.ts";
import type { ObjectNumber } from "../../store/numbers/kinds.ts";
import {
  NODE_TYPE_MASK,
  NO_INDEX,
  type PackIndex,
  type PackNode,
  type ReferenceWords,
  referenceWords,
  STORED,
} from "../../codec/pack-index.ts";
import { OID_BYTES, toHex } from "../../format/oid.ts";

/** The objects of a push that must not be stored. */
export interface BrokenObjects {
  /** 1 for each node that is missing, or reaches a missing one. */
  readonly nodes: Uint8Array;
  /** A missing object for the message, and one that needs it; "": only a ref does. */
  readonly missing: { readonly oid: string; readonly neededBy: string };
}

/** Finds the objects of a pack that reach a missing object, directly or not, by reference or as a
 * delta's base.
 * @param numbers object numbers of the nodes that are stored; 0: not stored
 * @returns null: nothing is missing */
export function findBroken(index: PackIndex, numbers: Column<ObjectNumber>): BrokenObjects | null {
  return new Search(index, numbers).run();
}

/** Words of a frame: its node; its next reference and their end; the same within a run; whether its
 * base was visited. */
const FRAME_WORDS = 6;
const AT = 1;
const END = 2;
const RUN_AT = 3;
const RUN_END = 4;
const BASE_SEEN = 5;

/** Tarjan's search for strongly connected components, without recursion: an object may be stored as
 * a delta on one that reaches it, and such a component is broken as a whole. Each reference is
 * followed once. Memory is at most 40 bytes per node, whatever the nodes name. */
class Search {
  readonly #index: PackIndex;
  readonly #numbers: Column<ObjectNumber>;
  readonly #broken: Uint8Array;
  /** When each node was found, from 1 on; 0: not yet. */
  readonly #found: Uint32Array;
  /** The earliest node of an incomplete component that it is known to reach; 0: its own component
   * is complete. */
  readonly #low: Uint32Array;
  /** Nodes whose component is incomplete. */
  readonly #open: Column<PackNode>;
  #openCount = 0;
  #frames = new Uint32Array(1024 * FRAME_WORDS);
  #depth = 0;
  #foundCount = 0;
  readonly #words: ReferenceWords = { at: 0, end: 0, isRuns: false };

  constructor(index: PackIndex, numbers: Column<ObjectNumber>) {
    const { nodeCount } = index;
    this.#index = index;
    this.#numbers = numbers;
    const hasMissing = this.#firstMissing() < nodeCount;
    const size = hasMissing ? nodeCount : 0;
    this.#broken = new Uint8Array(size);
    this.#found = new Uint32Array(size);
    this.#low = new Uint32Array(size);
    this.#open = new Uint32Array(size);
  }

  run(): BrokenObjects | null {
    const { nodeCount } = this.#index;
    const first = this.#firstMissing();
    if (first === nodeCount) return null;
    for (let packNode: PackNode = first; packNode < nodeCount; packNode++)
      if (this.#isMissing(packNode)) this.#broken[packNode] = 1;
    for (let packNode: PackNode = 0; packNode < nodeCount; packNode++) {
      if (this.#found[packNode] !== 0) continue;
      this.#enter(packNode);
      while (this.#depth > 0) this.#step();
    }
    const needer = this.#firstNeeding(first);
    return {
      nodes: this.#broken,
      missing: { oid: this.#oid(first), neededBy: needer === nodeCount ? "" : this.#oid(needer) },
    };
  }

  #oid(packNode: PackNode): string {
    return toHex(this.#index.oids, packNode * OID_BYTES);
  }

  #inPack(packNode: PackNode): boolean {
    return this.#index.nodeEntries[packNode]! < this.#index.count;
  }

  #isMissing(packNode: PackNode): boolean {
    if (this.#numbers[packNode] !== 0 || this.#inPack(packNode)) return false;
    // Referenced, or read as the base of a delta while the pack was indexed: it may have been
    // removed since.
    return (this.#index.nodeFlags[packNode]! & NODE_TYPE_MASK) !== 0 || this.#index.nodeEntries[packNode] !== NO_INDEX;
  }

  #firstMissing(): PackNode {
    const { nodeCount } = this.#index;
    for (let packNode: PackNode = 0; packNode < nodeCount; packNode++) if (this.#isMissing(packNode)) return packNode;
    return nodeCount;
  }

  /** The first node that names another, or is a delta on it. */
  #firstNeeding(wanted: PackNode): PackNode {
    const { nodeCount } = this.#index;
    for (let packNode: PackNode = 0; packNode < nodeCount; packNode++) {
      this.#depth = 0;
      this.#push(packNode);
      for (let target = this.#next(); target >= 0; target = this.#next()) if (target === wanted) return packNode;
    }
    return nodeCount;
  }

  #enter(packNode: PackNode): void {
    this.#found[packNode] = this.#low[packNode] = ++this.#foundCount;
    this.#open[this.#openCount++] = packNode;
    this.#push(packNode);
  }

  #step(): void {
    const frame = (this.#depth - 1) * FRAME_WORDS;
    const packNode = this.#frames[frame]!;
    const target = this.#next();
    if (target < 0) return this.#leave(packNode);
    if (this.#found[target] === 0) this.#enter(target);
    else this.#note(packNode, target);
  }

  /** Updates a node by what is known of one that it reaches. */
  #note(packNode: PackNode, target: PackNode): void {
    if (this.#broken[target] === 1) this.#broken[packNode] = 1;
    const low = this.#low[target]!;
    if (low !== 0 && low < this.#low[packNode]!) this.#low[packNode] = low;
  }

  /** Everything that a node reaches has been visited. */
  #leave(packNode: PackNode): void {
    this.#depth -= 1;
    if (this.#low[packNode] === this.#found[packNode]) this.#complete(packNode);
    if (this.#depth > 0) this.#note(this.#frames[(this.#depth - 1) * FRAME_WORDS]!, packNode);
  }

  /** Completes the component whose first found node is `first`. */
  #complete(first: PackNode): void {
    let from = this.#openCount;
    let isBroken = 0;
    do isBroken |= this.#broken[this.#open[--from]!]!;
    while (this.#open[from] !== first);
    for (let i = from; i < this.#openCount; i++) {
      this.#broken[this.#open[i]!] = isBroken;
      this.#low[this.#open[i]!] = 0;
    }
    this.#openCount = from;
  }

  #push(packNode: PackNode): void {
    const frame = this.#depth * FRAME_WORDS;
    if (frame === this.#frames.length) {
      const grown = new Uint32Array(2 * frame);
      grown.set(this.#frames);
      this.#frames = grown;
    }
    this.#depth += 1;
    const frames = this.#frames;
    frames.fill(0, frame, frame + FRAME_WORDS);
    frames[frame] = packNode;
    // What a stored object reaches does not matter.
    if (!this.#inPack(packNode) || this.#numbers[packNode] !== 0) {
      frames[frame + BASE_SEEN] = 1;
      return;
    }
    const words = referenceWords(this.#index, this.#index.nodeEntries[packNode]!, this.#words);
    const place = words.isRuns ? AT : RUN_AT;
    frames[frame + place] = words.at;
    frames[frame + place + 1] = words.end;
  }

  /** The next node that the top one needs; −1: none. */
  #next(): PackNode {
    const frames = this.#frames;
    const frame = (this.#depth - 1) * FRAME_WORDS;
    const { edges } = this.#index;
    for (;;) {
      if (frames[frame + RUN_AT]! < frames[frame + RUN_END]!) return edges[frames[frame + RUN_AT]!++]!;
      if (frames[frame + AT]! >= frames[frame + END]!) break;
      const run = edges[frames[frame + AT]!++]!;
      frames[frame + RUN_AT] = run + 1;
      frames[frame + RUN_END] = run + 1 + edges[run]!;
    }
    if (frames[frame + BASE_SEEN] === 1) return -1;
    frames[frame + BASE_SEEN] = 1;
    return this.#base(frames[frame]!);
  }

  /** The node of a delta's base; −1: not a delta. */
  #base(packNode: PackNode): PackNode {
    const { nodeEntries, stored, bases, entryNodes } = this.#index;
    const entry = nodeEntries[packNode]!;
    const isDelta = stored[entry] === STORED.ofsDelta || stored[entry] === STORED.refDelta;
    return isDelta && bases[entry] !== NO_INDEX ? entryNodes[bases[entry]!]! : -1;
  }
}
