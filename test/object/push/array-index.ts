import { EMPTY_INDEX, NO_INDEX, type PackIndex, STORED } from "../../../src/base/codec/pack-index.ts";

/** An index of a pack, given by its columns. */
export interface IndexColumns extends Partial<Pick<PackIndex, "made" | "end">> {
  readonly count: number;
  readonly nodeCount: number;
  readonly offsets?: ArrayLike<number>;
  readonly sizes?: ArrayLike<number>;
  readonly bases?: ArrayLike<number>;
  /** Default: each entry is the node of its number. */
  readonly entryNodes?: ArrayLike<number>;
  readonly kinds?: ArrayLike<number>;
  readonly stored?: ArrayLike<number>;
  readonly oids?: Uint8Array;
  readonly flags?: ArrayLike<number>;
  /** Object numbers of nodes. */
  readonly numbers?: ArrayLike<number>;
  /** The list of each entry's references, and those that are runs. */
  readonly lists?: readonly List[];
  readonly runs?: readonly List[];
}

/** Words, which at level 0 are nodes, else runs. */
export interface List {
  readonly level: number;
  readonly words: ArrayLike<number>;
}

const NO_LIST: List = { level: 0, words: [] };

/** Makes an index out of columns. */
export function arrayIndex(columns: IndexColumns): PackIndex {
  const { count, nodeCount, lists = [], runs = [] } = columns;
  const nodeOf = (entry: number): number => columns.entryNodes?.[entry] ?? entry;
  const numbers = Uint32Array.from({ length: nodeCount }, (_, i) => columns.numbers?.[i] ?? 0);
  const introducers = new Uint32Array(count);
  const fresh = new Uint32Array(count);
  const entryOf = new Map(Array.from({ length: count }, (_, entry) => [nodeOf(entry), entry]));
  // The words of an open list: which one it is, what is left of it, its level.
  const open = ({ level, words }: List, id: number, state: Uint32Array, at: number): number => {
    state[at] = id;
    state[at + 1] = words.length;
    state[at + 2] = level;
    return level;
  };
  const listOf = (id: number): List => (id < count ? (lists[id] ?? NO_LIST) : runs[id - count]!);
  return {
    ...EMPTY_INDEX,
    count,
    nodeCount,
    end: columns.end ?? 0,
    made: columns.made ?? new Map(),
    runCount: runs.length,
    offset: (entry) => columns.offsets![entry]!,
    size: (entry) => columns.sizes![entry]!,
    base: (entry) => columns.bases?.[entry] ?? NO_INDEX,
    nodeOf,
    kind: (entry) => columns.kinds![entry]!,
    stored: (entry) => columns.stored?.[entry] ?? STORED.plain,
    entryOf: (node) => entryOf.get(node) ?? NO_INDEX,
    flags: (node) => columns.flags?.[node] ?? 0,
    oids: (from, end) => columns.oids!.slice(20 * from, 20 * end),
    copyOid: (node, into, at) => into.set(columns.oids!.subarray(20 * node, 20 * node + 20), at),
    openList: (entry, state, at) => open(listOf(entry), entry, state, at),
    openRun: (run, state, at) => open(listOf(count + run), count + run, state, at),
    level: (state, at) => state[at + 2]!,
    next: (state, at) => {
      const { words } = listOf(state[at]!);
      const left = state[at + 1]!;
      if (left === 0) return -1;
      state[at + 1] = left - 1;
      return words[words.length - left]!;
    },
    number: (node) => numbers[node]!,
    setNumber: (node, value) => void (numbers[node] = value),
    introducer: (entry) => introducers[entry]!,
    setIntroducer: (entry, value) => void (introducers[entry] = value),
    fresh: (i) => fresh[i]!,
    setFresh: (i, value) => void (fresh[i] = value),
  };
}
