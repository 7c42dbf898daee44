import type { Column } from "../../base/format/kinds.ts";
import type { GraphPosition, ObjectNumber } from "../../base/numbers/kinds.ts";
import { LIST_WORDS, MAX_LISTS } from "../../base/codec/pack-index.ts";
import { GitError } from "../../base/format/errors.ts";
import { MAX_INTRODUCTION_STEPS, MAX_REINTRODUCTIONS } from "../../base/format/limits.ts";
import { TREE } from "../../base/format/object.ts";
import { StepBudget } from "../../base/format/step-budget.ts";
import type { CommitGraph, PositionSet } from "../store/graph/commit-graph.ts";
import { Bitset } from "../../base/numbers/bitset.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { Reintroduction } from "../store/graph/reachability.ts";
import { ByteCache } from "../../base/bytes/byte-cache.ts";
import type { PushedObjects } from "./pushed-objects.ts";

/** Bytes of ancestor sets that are cached. */
const ANCESTOR_BYTES = 16 * 1024 * 1024;

/** Nodes that one budget step pays for in a walk to ancestors: those found, and those passed
 * without being found. */
const NODES_PER_STEP = 8;
const EMPTY_NODES_PER_STEP = 2_048;

/** Numbers that are kept in a list, at most: a commit may introduce millions. */
const MANY_NUMBERS = 65_536;

/** Objects that are visited in a step: less than a millisecond. */
const VISITS_PER_STEP = 512;

/** A stored object that the push mentions. */
export interface StoredObject {
  /** Object numbers of all nodes that introduced it; empty: none. */
  readonly introducers: readonly ObjectNumber[];
  /** Whether it is a tree: whatever reaches it reaches its entries. */
  readonly isTree: boolean;
}

/** The stored objects, as far as the push needs them. */
export interface StoredObjects {
  get(number: ObjectNumber): StoredObject;
  /** Object numbers of a stored tree's entries; null when the tree has not been read yet. */
  entries(tree: ObjectNumber): readonly ObjectNumber[] | null;
}

/** Which objects each new node of the graph introduces. */
export interface Introductions {
  /** One set per new node, in order of position: the objects that it reaches and none of its
   * parents does. */
  readonly introduced: NumberSet[];
  /** Stored objects that were unreachable so far, and the node that reaches them now. */
  readonly adopted: Reintroduction[];
  /** Objects that another node introduced before, and the further node, in this order. */
  readonly reintroduced: Iterable<Reintroduction>;
  /** Stored trees whose entries are needed. If there are any, the rest is incomplete. */
  readonly unread: ObjectNumber[];
}

/** Finds, for the nodes from position `from` on, the objects that each reaches and its parents do
 * not.
 *
 * The walk of a node's tree ends at every object that one of its parents already reaches. One bit
 * test finds that, of the object's introducers against the parents' ancestors, because a node that
 * reaches a tree reaches everything below it. So it is with the runs of entries that trees share.
 *
 * The first introducer of each fresh object, 0 if nothing reaches it, is then in the index
 * (`introducer`, by entry). Yields between steps.
 * @throws GitError "too-large" when unrelated commits share too much */
export function* introduce(
  pushed: PushedObjects,
  graph: CommitGraph,
  from: GraphPosition,
  stored: StoredObjects,
): Generator<void, Introductions> {
  return yield* new Introducing(pushed, graph, from, stored).run();
}

class Introducing {
  readonly #pushed: PushedObjects;
  readonly #graph: CommitGraph;
  readonly #from: GraphPosition;
  readonly #stored: StoredObjects;
  readonly #ancestors: AncestorSets;
  /** Positions of the further introducers found now, by object number. */
  readonly #further = new Map<ObjectNumber, GraphPosition[]>();
  /** Positions of the introducers of stored objects, by object number. */
  readonly #positions = new Map<ObjectNumber, readonly GraphPosition[]>();
  readonly #result: Introductions;
  readonly #unread = new Set<ObjectNumber>();
  readonly #budget: StepBudget;
  readonly #lists = new Uint32Array(MAX_LISTS * LIST_WORDS);
  #visits = 0;
  #reintroductions = 0;
  /** The first node that introduced something again; 0: none. */
  #firstAgain: ObjectNumber = 0;

  constructor(pushed: PushedObjects, graph: CommitGraph, from: GraphPosition, stored: StoredObjects) {
    this.#pushed = pushed;
    this.#graph = graph;
    this.#from = from;
    this.#stored = stored;
    this.#budget = new StepBudget(MAX_INTRODUCTION_STEPS, "the walk over what the push's commits reach (steps)");
    this.#budget.allow(pushed.index.referenceCount);
    this.#ancestors = new AncestorSets(graph, from, this.#budget);
    this.#result = {
      introduced: [],
      adopted: [],
      reintroduced: { [Symbol.iterator]: () => this.#listReintroduced() },
      unread: [],
    };
  }

  *run(): Generator<void, Introductions> {
    yield* this.#begin();
    for (let position = this.#from; position < this.#graph.length; position++) {
      const reached = this.#ancestors.ofParents(position);
      this.#result.introduced.push(yield* this.#walk(position, reached));
      this.#ancestors.finish(position, reached);
    }
    const { index, freshCount } = this.#pushed;
    for (let i = 0; i < freshCount; i++) {
      if (i % VISITS_PER_STEP === 0) yield;
      const entry = index.fresh(i);
      const first = index.introducer(entry);
      if (first !== 0) index.setIntroducer(entry, this.#graph.number(first - 1));
    }
    for (const tree of this.#unread) this.#result.unread.push(tree);
    return this.#result;
  }

  /** Nothing has an introducer yet. From here to the end of `run` it is a position, plus 1. */
  *#begin(): Generator<void> {
    const { index } = this.#pushed;
    for (let i = 0; i < index.count; i++) {
      if (i % VISITS_PER_STEP === 0) yield;
      index.setIntroducer(i, 0);
    }
    for (let run = 0; run < index.runCount; run++) {
      if (run % VISITS_PER_STEP === 0) yield;
      if (index.memo(run) !== 0) index.setMemo(run, 0);
    }
  }

  /** All objects that the node at `position` introduces, itself included. */
  *#walk(position: GraphPosition, reached: PositionSet | null): Generator<void, NumberSet> {
    const introduced: ObjectNumber[] = [];
    let many: Bitset<ObjectNumber> | null = null;
    const root = this.#graph.tree(position);
    const pending = root === 0 ? [this.#graph.number(position)] : [this.#graph.number(position), root];
    for (let number = pending.pop(); number !== undefined; number = pending.pop()) {
      this.#budget.spend(1);
      if (++this.#visits % VISITS_PER_STEP === 0) yield;
      if (!this.#claim(number, position, reached)) continue;
      introduced.push(number);
      if (introduced.length === MANY_NUMBERS) {
        many ??= new Bitset(this.#pushed.firstNumber + this.#pushed.freshCount);
        for (const one of introduced.splice(0)) many.add(one);
      }
      this.#addEntries(number, pending, position, reached);
    }
    const few = NumberSet.fromSorted(introduced.sort((a, b) => a - b));
    return many === null ? few : NumberSet.fromBitset(many).union(few);
  }

  /** Makes the node an introducer of the object, unless it already is one or a parent reaches the
   * object. */
  #claim(number: ObjectNumber, position: GraphPosition, reached: PositionSet | null): boolean {
    const fresh = number - this.#pushed.firstNumber;
    let first = 0;
    if (fresh >= 0) {
      // Most of what trees name is known after a look at its first introducer.
      const { index } = this.#pushed;
      const entry = index.fresh(fresh);
      first = index.introducer(entry);
      if (first === 0) {
        index.setIntroducer(entry, position + 1);
        return true;
      }
      if (first - 1 === position || reached?.has(first - 1) === true) return false;
    }
    const known = fresh >= 0 ? [first - 1] : this.#storedIntroducers(number);
    const further = this.#further.get(number);
    if (this.#isAmong(known, position, reached)) return false;
    if (further !== undefined && this.#isAmong(further, position, reached)) return false;
    const introducer = this.#graph.number(position);
    if (known.length === 0 && further === undefined) this.#result.adopted.push({ object: number, introducer });
    else this.#countReintroduction(introducer);
    if (further === undefined) this.#further.set(number, [position]);
    else further.push(position);
    return true;
  }

  /** Whether the node, or anything that its parents reach, is among introducers. The last one is
   * usually the closest. */
  #isAmong(introducers: readonly GraphPosition[], position: GraphPosition, reached: PositionSet | null): boolean {
    if (introducers.at(-1) === position) return true;
    if (reached === null) return false;
    this.#budget.spend(introducers.length >>> 4);
    for (let i = introducers.length - 1; i >= 0; i--) if (reached.has(introducers[i]!)) return true;
    return false;
  }

  #countReintroduction(introducer: ObjectNumber): void {
    this.#firstAgain ||= introducer;
    // A single commit may introduce any amount.
    if (++this.#reintroductions > MAX_REINTRODUCTIONS && introducer !== this.#firstAgain) throw tooMany();
  }

  *#listReintroduced(): Generator<Reintroduction> {
    const adopted = new Set(this.#result.adopted.map(({ object }) => object));
    const objects: Column<ObjectNumber> = Uint32Array.from(this.#further.keys()).sort();
    for (const object of objects) {
      const positions = this.#further.get(object)!;
      const again = adopted.has(object) ? positions.slice(1) : positions;
      for (const introducer of this.#graph.numbers(again).toArray()) yield { object, introducer };
    }
  }

  /** Positions of the introducers that were stored before. */
  #storedIntroducers(number: ObjectNumber): readonly GraphPosition[] {
    let positions = this.#positions.get(number);
    if (positions === undefined) {
      positions = this.#stored.get(number).introducers.map((introducer) => this.#graph.position(introducer));
      this.#positions.set(number, positions);
    }
    return positions;
  }

  /** Adds the numbers of a tree's entries; nothing for other objects, whose parents and targets are
   * nodes of the graph. */
  #addEntries(
    number: ObjectNumber,
    pending: ObjectNumber[],
    position: GraphPosition,
    reached: PositionSet | null,
  ): void {
    const fresh = number - this.#pushed.firstNumber;
    if (fresh < 0) {
      if (!this.#stored.get(number).isTree) return;
      const entries = this.#stored.entries(number);
      if (entries === null) this.#unread.add(number);
      else for (const entry of entries) pending.push(entry);
      return;
    }
    const { index } = this.#pushed;
    const entry = index.fresh(fresh);
    if (index.kind(entry) !== TREE) return;
    const lists = this.#lists;
    index.openList(entry, lists, 0);
    for (let top = 0; top >= 0;) {
      const word = index.next(lists, top);
      if (word < 0) top -= LIST_WORDS;
      else if (index.level(lists, top) === 0) pending.push(index.number(word));
      else if (this.#claimRun(word, position, reached)) index.openRun(word, lists, (top += LIST_WORDS));
    }
  }

  /** Notes that the node reaches all that a run names, unless it or a parent is known to. */
  #claimRun(run: number, position: GraphPosition, reached: PositionSet | null): boolean {
    this.#budget.spend(1);
    const { index } = this.#pushed;
    const last = index.memo(run);
    if (last !== 0 && (last - 1 === position || reached?.has(last - 1) === true)) return false;
    index.setMemo(run, position + 1);
    return true;
  }
}

function tooMany(): GitError {
  return new GitError("too-large", {
    what: "what unrelated commits of one push share (files and directories, counted once for each such commit)",
    limit: MAX_REINTRODUCTIONS,
    reason: "push fewer branches or tags at a time",
  });
}

/** The ancestors of nodes, as they are needed while walking in order of position. A set lives until
 * the last child of its node was visited, and the last child takes it over: a linear history needs
 * one set, a leaf none. If more are needed than fit the memory, which takes thousands of branches
 * that meet in one merge, they are computed again. */
class AncestorSets {
  readonly #graph: CommitGraph;
  readonly #budget: StepBudget;
  /** For each node, old or new: its new children that have not been visited. */
  readonly #childrenLeft: Uint32Array;
  readonly #sets = new ByteCache<PositionSet>(ANCESTOR_BYTES);
  /** The set that was kept last, and its node: along a line of history, the next node takes it. The
   * others are in `#sets`. */
  #last: { readonly position: GraphPosition; readonly set: PositionSet } | null = null;

  constructor(graph: CommitGraph, from: GraphPosition, budget: StepBudget) {
    this.#graph = graph;
    this.#budget = budget;
    this.#childrenLeft = new Uint32Array(graph.length);
    for (let position = from; position < graph.length; position++) {
      for (const parent of graph.parents(position)) this.#childrenLeft[parent]! += 1;
    }
  }

  /** Everything that the node's parents reach; null without parents. Must not be changed. */
  ofParents(position: GraphPosition): PositionSet | null {
    const parents = this.#graph.parents(position);
    if (parents.length === 0) return null;
    const known = Array.from(parents, (parent) => this.#get(parent));
    if (known.includes(undefined)) {
      // One walk finds the ancestors of all of them.
      const all = this.#find(parents);
      if (parents.length === 1 && this.#childrenLeft[parents[0]!]! > 1) this.#keep(parents[0]!, all);
      return all;
    }
    if (known.length === 1) return known[0]!;
    this.#budget.spend(Math.ceil((known.length * this.#graph.length) / EMPTY_NODES_PER_STEP));
    const all = known[0]!.clone();
    for (const set of known.slice(1)) all.addAll(set!);
    return all;
  }

  /** Ends the visit of a node.
   * @param reached the result of `ofParents` for it */
  finish(position: GraphPosition, reached: PositionSet | null): void {
    let isFree = this.#graph.parents(position).length > 1;
    for (const parent of this.#graph.parents(position)) {
      if (--this.#childrenLeft[parent]! > 0) continue;
      if (this.#last?.position === parent) this.#last = null;
      else this.#sets.delete(String(parent));
      isFree = true;
    }
    // A root's set is quickly computed on demand.
    if (this.#childrenLeft[position] === 0 || reached === null) return;
    const own = isFree ? reached : reached.clone();
    own.add(position);
    this.#keep(position, own);
  }

  #get(position: GraphPosition): PositionSet | undefined {
    return this.#last?.position === position ? this.#last.set : this.#sets.get(String(position));
  }

  #keep(position: GraphPosition, set: PositionSet): void {
    if (this.#last !== null) this.#sets.set(String(this.#last.position), this.#last.set, this.#last.set.length / 8);
    this.#last = { position, set };
  }

  #find(positions: Iterable<GraphPosition>): PositionSet {
    const found = this.#graph.ancestors(positions);
    this.#budget.spend(Math.ceil(found.count() / NODES_PER_STEP + this.#graph.length / EMPTY_NODES_PER_STEP));
    return found;
  }
}
