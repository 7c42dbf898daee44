import {
  isHeld,
  LIST_WORDS,
  MAX_LISTS,
  NO_INDEX,
  NODE_TYPE_MASK,
  oidOf,
  type PackIndex,
  type PackNode,
  STORED,
} from "../../base/codec/pack-index.ts";
import type { Column } from "../../base/format/kinds.ts";
import { packTooLarge } from "../../base/format/errors.ts";
import { toHex } from "../../base/format/oid.ts";

/** Objects of a pack among which those that reach a missing one are told from the others. They take
 * memory that is not in pages. */
const MAX_SEARCHED = 500_000;

/** Nodes that are visited in a step. */
const NODES_PER_STEP = 4_096;

/** The objects of a push that must not be stored. */
interface BrokenObjects {
  /** 1 for each node that is missing, or reaches a missing one. */
  readonly nodes: Uint8Array;
  /** A missing object for the message, and one that needs it; "": only a ref does. */
  readonly missing: { readonly oid: string; readonly neededBy: string };
}

/** Finds the objects of a pack that reach a missing object, directly or not, by reference or as a
 * delta's base, in steps.
 * @param index with the object numbers of the nodes that are stored; 0: not stored
 * @returns null: nothing is missing
 * @throws GitError "missing-object" when something is, and the pack is too large to tell what needs
 * it */
export function* findBroken(index: PackIndex): Generator<void, BrokenObjects | null> {
  for (let packNode: PackNode = 0; packNode < index.nodeCount; packNode++) {
    if (packNode % NODES_PER_STEP === 0) yield;
    if (isMissing(index, packNode)) return yield* new Search(index, packNode).run();
  }
  return null;
}

/** Whether the pack mentions an object that is neither in it nor stored. */
function isMissing(index: PackIndex, packNode: PackNode): boolean {
  if (index.number(packNode) !== 0 || isHeld(index, packNode)) return false;
  // Referenced, or read as the base of a delta while the pack was indexed: it may have been removed
  // since.
  return (index.flags(packNode) & NODE_TYPE_MASK) !== 0 || index.entryOf(packNode) !== NO_INDEX;
}

/** Words of a frame: where the frame below begins, its node, how many lists are open and whether
 * its base was visited; then the open lists. */
const BELOW = 0;
const NODE = 1;
const STATE = 2;
const LISTS = 3;
const MAX_FRAME_WORDS = LISTS + MAX_LISTS * LIST_WORDS;

/** Set in a frame's state. */
const BASE_SEEN = 16;

/** Tarjan's search for strongly connected components, without recursion: an object may be stored as
 * a delta on one that reaches it, and such a component is broken as a whole. Each reference is
 * followed once. Memory is at most 40 bytes per node, whatever the nodes name, but for runs of
 * runs. */
class Search {
  readonly #index: PackIndex;
  readonly #first: PackNode;
  readonly #broken: Uint8Array;
  /** When each node was found, from 1 on; 0: not yet. */
  readonly #found: Uint32Array;
  /** The earliest node of an incomplete component that it is known to reach; 0: its own component
   * is complete. */
  readonly #low: Uint32Array;
  /** Nodes whose component is incomplete. */
  readonly #open: Column<PackNode>;
  #openCount = 0;
  #frames = new Uint32Array(1024 * MAX_FRAME_WORDS);
  /** Where the top frame begins; −1: there is none. */
  #top = -1;
  #foundCount = 0;

  /** @param first the first missing node */
  constructor(index: PackIndex, first: PackNode) {
    const { nodeCount } = index;
    if (nodeCount > MAX_SEARCHED) {
      const what = `objects of a pack that lacks an object (${toHex(oidOf(index, first))})`;
      throw packTooLarge(what, MAX_SEARCHED, nodeCount);
    }
    this.#index = index;
    this.#first = first;
    this.#broken = new Uint8Array(nodeCount);
    this.#found = new Uint32Array(nodeCount);
    this.#low = new Uint32Array(nodeCount);
    this.#open = new Uint32Array(nodeCount);
  }

  *run(): Generator<void, BrokenObjects> {
    const { nodeCount } = this.#index;
    const first = this.#first;
    for (let packNode = first; packNode < nodeCount; packNode++)
      if (isMissing(this.#index, packNode)) this.#broken[packNode] = 1;
    let steps = 0;
    for (let packNode: PackNode = 0; packNode < nodeCount; packNode++) {
      if (this.#found[packNode] !== 0) continue;
      this.#enter(packNode);
      for (; this.#top >= 0; this.#step()) if (++steps % NODES_PER_STEP === 0) yield;
    }
    const needer = this.#firstNeeding(first);
    return {
      nodes: this.#broken,
      missing: { oid: this.#oid(first), neededBy: needer === nodeCount ? "" : this.#oid(needer) },
    };
  }

  #oid(packNode: PackNode): string {
    return toHex(oidOf(this.#index, packNode));
  }

  /** The first node that names another, or is a delta on it. */
  #firstNeeding(wanted: PackNode): PackNode {
    const { nodeCount } = this.#index;
    for (let packNode: PackNode = 0; packNode < nodeCount; packNode++) {
      this.#top = -1;
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
    const packNode = this.#frames[this.#top + NODE]!;
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
    this.#top = this.#below(this.#top);
    if (this.#low[packNode] === this.#found[packNode]) this.#complete(packNode);
    if (this.#top >= 0) this.#note(this.#frames[this.#top + NODE]!, packNode);
  }

  /** Where the frame below one begins; −1: there is none. */
  #below(frame: number): number {
    return this.#frames[frame + BELOW]! - 1;
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
    const below = this.#top;
    const frame = below < 0 ? 0 : below + LISTS + (this.#frames[below + STATE]! % BASE_SEEN) * LIST_WORDS;
    if (frame + MAX_FRAME_WORDS > this.#frames.length) {
      const grown = new Uint32Array(2 * this.#frames.length);
      grown.set(this.#frames);
      this.#frames = grown;
    }
    this.#top = frame;
    const frames = this.#frames;
    frames[frame + BELOW] = below + 1;
    frames[frame + NODE] = packNode;
    // What a stored object reaches does not matter.
    if (!isHeld(this.#index, packNode) || this.#index.number(packNode) !== 0) {
      frames[frame + STATE] = BASE_SEEN;
      return;
    }
    this.#index.openList(this.#index.entryOf(packNode), frames, frame + LISTS);
    frames[frame + STATE] = 1;
  }

  /** The next node that the top one needs; −1: none. */
  #next(): PackNode {
    const frames = this.#frames;
    const frame = this.#top;
    for (;;) {
      const open = frames[frame + STATE]! % BASE_SEEN;
      if (open === 0) break;
      const list = frame + LISTS + (open - 1) * LIST_WORDS;
      const word = this.#index.next(frames, list);
      if (word < 0) frames[frame + STATE]! -= 1;
      else if (this.#index.level(frames, list) === 0) return word;
      else {
        this.#index.openRun(word, frames, list + LIST_WORDS);
        frames[frame + STATE]! += 1;
      }
    }
    if (frames[frame + STATE]! >= BASE_SEEN) return -1;
    frames[frame + STATE] = BASE_SEEN;
    return this.#base(frames[frame + NODE]!);
  }

  /** The node of a delta's base; −1: not a delta. */
  #base(packNode: PackNode): PackNode {
    const index = this.#index;
    const entry = index.entryOf(packNode);
    const stored = index.stored(entry);
    const isDelta = stored === STORED.ofsDelta || stored === STORED.refDelta;
    return isDelta && index.base(entry) !== NO_INDEX ? index.nodeOf(index.base(entry)) : -1;
  }
}
