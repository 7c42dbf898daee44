import { GitError } from "../../format/errors.ts";
import { MAX_INTRODUCTION_STEPS, MAX_REINTRODUCTIONS } from "../../format/limits.ts";
import { TREE } from "../../format/object.ts";
import { StepBudget } from "../../format/step-budget.ts";
import type { Bitset } from "../../store/numbers/bitset.ts";
import type { CommitGraph } from "../../store/graph/commit-graph.ts";
import { NumberSet } from "../../store/numbers/number-set.ts";
import type { Reintroduction } from "../../store/graph/reachability.ts";
import { ByteCache } from "../pack-bytes/byte-cache.ts";
import type { PushedObjects } from "./pushed-objects.ts";

/** Bytes of the sets of ancestors that are kept. */
const ANCESTOR_BYTES = 16 * 1024 * 1024;

/** Nodes that a walk to ancestors finds in a step of the budget, and that it passes without finding them. */
const NODES_PER_STEP = 8;
const EMPTY_NODES_PER_STEP = 2_048;

/** What is known of a stored object that the push mentions. */
export interface StoredObject {
  /** Object numbers of all nodes that introduced it; empty: none did. */
  readonly introducers: readonly number[];
  /** Whether it is a tree: its entries belong to whatever leads to it. */
  readonly isTree: boolean;
}

/** What the store tells beside the push. */
export interface StoredObjects {
  get(number: number): StoredObject;
  /** Object numbers of a stored tree's entries, or null when the tree has not been read yet. */
  entries(tree: number): readonly number[] | null;
}

/** Which objects each new node of the graph introduces. */
export interface Introductions {
  /** One set per new node, in order of position: it leads to them, and none of its parents does. */
  readonly introduced: NumberSet[];
  /** First introducer of each fresh object, by place in `PushedObjects.fresh`; 0: nothing leads to it. */
  readonly introducers: Uint32Array;
  /** Stored objects that nothing led to so far, and what does now. */
  readonly adopted: { object: number; node: number }[];
  /** Objects that another node introduced before, and a further one that does, in this order. */
  readonly reintroduced: Iterable<Reintroduction>;
  /** Stored trees whose entries must be known: when there are any, the rest is not complete. */
  readonly unread: number[];
}

/**
 * Finds, for the nodes from position `from` on, what each leads to that its parents do not.
 *
 * The walk of a node's tree ends at every object that one of its parents leads to already: that is one bit test, of the
 * object's introducers against the parents' ancestors, since what leads to a tree leads to all below it.
 * @throws GitError "too-large" when commits share too much that none of them has of another
 */
export function introduce(
  pushed: PushedObjects,
  graph: CommitGraph,
  from: number,
  stored: StoredObjects,
): Introductions {
  return new Introducing(pushed, graph, from, stored).run();
}

class Introducing {
  readonly #pushed: PushedObjects;
  readonly #graph: CommitGraph;
  readonly #from: number;
  readonly #stored: StoredObjects;
  readonly #ancestors: AncestorSets;
  /** Position + 1 of each fresh object's first introducer. */
  readonly #first: Uint32Array;
  /** Positions of introducers found now that are not first: by object number. */
  readonly #further = new Map<number, number[]>();
  /** Positions of the introducers of stored objects, by object number. */
  readonly #positions = new Map<number, readonly number[]>();
  readonly #result: Introductions;
  readonly #unread = new Set<number>();
  readonly #budget: StepBudget;
  #reintroductions = 0;
  /** The first node that brought something once more, 0: none did. */
  #firstAgain = 0;

  constructor(pushed: PushedObjects, graph: CommitGraph, from: number, stored: StoredObjects) {
    this.#pushed = pushed;
    this.#graph = graph;
    this.#from = from;
    this.#stored = stored;
    this.#budget = new StepBudget(MAX_INTRODUCTION_STEPS, "what the push's commits lead to (steps)");
    this.#budget.allow(pushed.index.edges.length);
    this.#ancestors = new AncestorSets(graph, from, this.#budget);
    this.#first = new Uint32Array(pushed.fresh.length);
    this.#result = {
      introduced: [],
      introducers: new Uint32Array(pushed.fresh.length),
      adopted: [],
      reintroduced: { [Symbol.iterator]: () => this.#listReintroduced() },
      unread: [],
    };
  }

  run(): Introductions {
    for (let position = this.#from; position < this.#graph.length; position++) {
      const reached = this.#ancestors.ofParents(position);
      const numbers = this.#walk(position, reached).sort((a, b) => a - b);
      this.#result.introduced.push(NumberSet.fromSorted(numbers));
      this.#ancestors.finish(position, reached);
    }
    for (let i = 0; i < this.#first.length; i++) {
      if (this.#first[i] !== 0) this.#result.introducers[i] = this.#graph.number(this.#first[i]! - 1);
    }
    for (const tree of this.#unread) this.#result.unread.push(tree);
    return this.#result;
  }

  /** Everything that the node at `position` introduces, itself included. */
  #walk(position: number, reached: Bitset | null): number[] {
    const introduced: number[] = [];
    const root = this.#graph.tree(position);
    const pending = root === 0 ? [this.#graph.number(position)] : [this.#graph.number(position), root];
    for (let number = pending.pop(); number !== undefined; number = pending.pop()) {
      this.#budget.spend(1);
      if (!this.#claim(number, position, reached)) continue;
      introduced.push(number);
      for (const entry of this.#entries(number)) pending.push(entry);
    }
    return introduced;
  }

  /** Makes the node an introducer of the object, unless it is one or a parent of it leads there. */
  #claim(number: number, position: number, reached: Bitset | null): boolean {
    const fresh = number - this.#pushed.firstNumber;
    const known = fresh >= 0 ? this.#freshIntroducers(fresh) : this.#storedIntroducers(number);
    const further = this.#further.get(number);
    if (this.#isAmong(known, position, reached)) return false;
    if (further !== undefined && this.#isAmong(further, position, reached)) return false;
    if (fresh >= 0 && this.#first[fresh] === 0) {
      this.#first[fresh] = position + 1;
      return true;
    }
    const node = this.#graph.number(position);
    if (known.length === 0 && further === undefined) this.#result.adopted.push({ object: number, node });
    else this.#countReintroduction(node);
    if (further === undefined) this.#further.set(number, [position]);
    else further.push(position);
    return true;
  }

  /** Whether the node, or what its parents lead to, is among introducers. The last is most often the next before it. */
  #isAmong(introducers: readonly number[], position: number, reached: Bitset | null): boolean {
    if (introducers.at(-1) === position) return true;
    if (reached === null) return false;
    this.#budget.spend(introducers.length >>> 4);
    for (let i = introducers.length - 1; i >= 0; i--) if (reached.has(introducers[i]!)) return true;
    return false;
  }

  #countReintroduction(node: number): void {
    this.#firstAgain ||= node;
    // A single commit may bring as much as there is.
    if (++this.#reintroductions > MAX_REINTRODUCTIONS && node !== this.#firstAgain) throw tooMany();
  }

  *#listReintroduced(): Generator<Reintroduction> {
    const adopted = new Set(this.#result.adopted.map(({ object }) => object));
    for (const object of Uint32Array.from(this.#further.keys()).sort()) {
      const positions = this.#further.get(object)!;
      const again = adopted.has(object) ? positions.slice(1) : positions;
      for (const node of Uint32Array.from(again, (position) => this.#graph.number(position)).sort()) {
        yield { object, node };
      }
    }
  }

  #freshIntroducers(fresh: number): readonly number[] {
    return this.#first[fresh] === 0 ? [] : [this.#first[fresh]! - 1];
  }

  /** Positions before those of the push. */
  #storedIntroducers(number: number): readonly number[] {
    let positions = this.#positions.get(number);
    if (positions === undefined) {
      positions = this.#stored.get(number).introducers.map((node) => this.#graph.position(node));
      this.#positions.set(number, positions);
    }
    return positions;
  }

  /** Numbers of a tree's entries; nothing for other objects: parents and targets are nodes of the graph. */
  *#entries(number: number): Generator<number> {
    const fresh = number - this.#pushed.firstNumber;
    if (fresh < 0) {
      if (!this.#stored.get(number).isTree) return;
      const entries = this.#stored.entries(number);
      if (entries === null) this.#unread.add(number);
      else yield* entries;
      return;
    }
    const { index, fresh: entries, numbers } = this.#pushed;
    const entry = entries[fresh]!;
    if (index.kinds[entry] !== TREE) return;
    for (const node of this.#pushed.references(index.entryNodes[entry]!)) yield numbers[node]!;
  }
}

function tooMany(): GitError {
  return new GitError("too-large", {
    what: "what unrelated commits of one push share (files and directories, counted once for each such commit)",
    limit: MAX_REINTRODUCTIONS,
    reason: "push fewer branches or tags at a time",
  });
}

/**
 * The ancestors of nodes as they are needed while walking in order of position. A set lives until the last child of its
 * node was visited, and the last child takes it over: a linear history needs one set, a leaf none. Where more are needed than fit
 * the memory, which takes thousands of lines that meet in one merge, they are found anew.
 */
class AncestorSets {
  readonly #graph: CommitGraph;
  readonly #budget: StepBudget;
  /** Of each node, old or new: new children that have not been visited. */
  readonly #childrenLeft: Uint32Array;
  readonly #sets = new ByteCache<Bitset>(ANCESTOR_BYTES);

  constructor(graph: CommitGraph, from: number, budget: StepBudget) {
    this.#graph = graph;
    this.#budget = budget;
    this.#childrenLeft = new Uint32Array(graph.length);
    for (let position = from; position < graph.length; position++) {
      for (const parent of graph.parents(position)) this.#childrenLeft[parent]! += 1;
    }
  }

  /** All that the node's parents lead to; null without parents. Not to be changed. */
  ofParents(position: number): Bitset | null {
    const parents = this.#graph.parents(position);
    if (parents.length === 0) return null;
    const known = Array.from(parents, (parent) => this.#sets.get(String(parent)));
    if (known.includes(undefined)) {
      // One walk finds what all of them lead to.
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
   * @param reached what `ofParents` gave for it */
  finish(position: number, reached: Bitset | null): void {
    let isFree = this.#graph.parents(position).length > 1;
    for (const parent of this.#graph.parents(position)) {
      if (--this.#childrenLeft[parent]! > 0) continue;
      this.#sets.delete(String(parent));
      isFree = true;
    }
    // A root's is found at once when it is asked for.
    if (this.#childrenLeft[position] === 0 || reached === null) return;
    const own = isFree ? reached : reached.clone();
    own.add(position);
    this.#keep(position, own);
  }

  #keep(position: number, set: Bitset): void {
    this.#sets.set(String(position), set, set.length / 8);
  }

  #find(positions: Uint32Array): Bitset {
    const found = this.#graph.ancestors(positions);
    this.#budget.spend(Math.ceil(found.count() / NODES_PER_STEP + this.#graph.length / EMPTY_NODES_PER_STEP));
    return found;
  }
}
