// The graph of commits, annotated tags, and of trees or blobs that refs point to directly. It is
// held in memory, loaded once per life of the repository object. A node's position is its index
// here. Positions are topological (parents before children), so that every walk is one descending
// scan, without stack, heap or recursion. Positions are valid for one life only; stored rows use
// object numbers.
//
// Columns hold the data of nodes. The nodes that were read have the first rows, by number, in their
// stored order, so that nothing is hashed or moved for them. Nodes that were appended later have
// the row of their position, and are found by a hash table.
import type { Column } from "../../../base/format/kinds.ts";
import type { GraphPosition, ObjectNumber } from "../../../base/numbers/kinds.ts";
import { Bitset } from "../../../base/numbers/bitset.ts";
import { NumberSet, finishAtOnce } from "../../../base/numbers/number-set.ts";
import type { PreparedPage } from "../index/record-pages.ts";
import { inconsistent, type NewNode, sortParentsFirst } from "./parents-first.ts";
import { type NodeColumns, openNodes, readAllNodes, type StoredNode } from "../index/node-pages.ts";
import { SortedNumbers } from "./sorted-numbers.ts";
import type { Sql } from "../sql/sql.ts";

/** A set of positions. */
export type PositionSet = Bitset<GraphPosition>;

/** 2^32 divided by the golden ratio: the products of consecutive numbers lie far from each
 * other. */
const HASH_FACTOR = 0x9e3779b1;

/** Nodes per step; each takes a microsecond or two. */
const NODES_PER_STEP = 512;

/** The graph; the file's header explains positions. */
export class CommitGraph {
  #length = 0;
  /** Columns by row. */
  #numbers: Column<ObjectNumber> = new Uint32Array(0);
  #trees: Column<ObjectNumber> = new Uint32Array(0);
  #times: Float64Array = new Float64Array(0);
  /** Index of the nodes that were read: the row at each position, the position of each row, and
   * the rows by number. Never changed, so copies of the graph share them. */
  #rows: Uint32Array = new Uint32Array(0);
  #positions: Column<GraphPosition> = new Uint32Array(0);
  #sorted = new SortedNumbers(new Uint32Array(0), 0);
  /** Columns by position. */
  #generations = new Uint32Array(0);
  /** The parents of position p are `#parents[#parentStarts[p]]` to `#parents[#parentStarts[p + 1] -
   * 1]`. */
  #parentStarts = new Uint32Array(1);
  #parents: Column<GraphPosition> = new Uint32Array(0);
  /** Hash table of the appended nodes by number, with open addressing: position + 1, or 0 if free.
   * At most half full. */
  #slots = new Uint32Array(8);
  /** Factor of the hash function. Partly random, so that nobody can choose numbers that collide
   * in one slot. */
  #factor = HASH_FACTOR ^ (crypto.getRandomValues(new Uint16Array(1))[0]! & ~1);

  /** Reads the whole graph. */
  static load(sql: Sql): CommitGraph {
    const graph = new CommitGraph();
    graph.#take(readAllNodes(sql));
    return graph;
  }

  /** Number of nodes. */
  get length(): GraphPosition {
    return this.#length;
  }

  /** Bytes held by the graph's arrays. */
  get byteLength(): number {
    const arrays = [
      this.#numbers,
      this.#trees,
      this.#times,
      this.#rows,
      this.#positions,
      this.#sorted,
      this.#generations,
      this.#parentStarts,
      this.#parents,
      this.#slots,
    ];
    return arrays.reduce((sum, array) => sum + array.byteLength, 0);
  }

  /** Finds the position of an object number; −1: it is not a node. */
  position(number: ObjectNumber): GraphPosition {
    const row = this.#sorted.find(this.#numbers, number);
    return row >= 0 ? this.#positions[row]! : this.#slots[this.#slot(number)]! - 1;
  }

  /** The object number at a position. */
  number(position: GraphPosition): ObjectNumber {
    return this.#numbers[this.#row(position)]!;
  }

  /** Number of the root tree; 0: none. */
  tree(position: GraphPosition): ObjectNumber {
    return this.#trees[this.#row(position)]!;
  }

  /** 1 for a root, else one more than the highest of its parents. */
  generation(position: GraphPosition): number {
    return this.#generations[position]!;
  }

  /** Commit or tag time, seconds. */
  time(position: GraphPosition): number {
    return this.#times[this.#row(position)]!;
  }

  /** Positions of the parents, in order: a view, valid until the next append. */
  parents(position: GraphPosition): Column<GraphPosition> {
    return this.#parents.subarray(this.#parentStarts[position], this.#parentStarts[position + 1]);
  }

  /** Position of the first parent; −1: none. */
  firstParent(position: GraphPosition): GraphPosition {
    const start = this.#parentStarts[position]!;
    return start === this.#parentStarts[position + 1] ? -1 : this.#parents[start]!;
  }

  /** Collects the object numbers at some positions, in any order. */
  numbers(positions: Iterable<GraphPosition>): NumberSet {
    return NumberSet.fromUnsorted(Uint32Array.from(positions, (position) => this.number(position)));
  }

  /** Appends the nodes of one push, given in any order. They take the positions from the old length
   * on, parents before children.
   * @throws GitError "storage-failed" when a parent is neither in the graph nor among the nodes, a
   * node exists already, or nodes form a cycle; the graph is then unchanged */
  append(nodes: readonly NewNode[]): void {
    finishAtOnce(this.appendInSteps(nodes));
  }

  /** As `append`, in steps. Nothing else may be appended meanwhile. */
  *appendInSteps(nodes: readonly NewNode[]): Generator<void> {
    const before = this.#length;
    this.#reserve(
      before + nodes.length,
      this.#parentStarts[before]! + nodes.reduce((sum, node) => sum + node.parents.length, 0),
    );
    try {
      for (const [i, node] of (yield* sortParentsFirst(nodes)).entries()) {
        if (i % NODES_PER_STEP === 0) yield;
        if (this.position(node.number) >= 0) throw inconsistent(node.number, "is in the graph already");
        this.#push(node);
      }
    } catch (error) {
      this.truncate(before);
      throw error;
    }
  }

  /** Removes the nodes from position `length` on, to undo a failed append. Nodes that were read
   * stay. */
  truncate(length: GraphPosition): void {
    // Removes nodes in reverse order of insertion, so that no probe sequence is broken.
    for (let p = this.#length - 1; p >= length; p--) this.#slots[this.#slot(this.#numbers[p]!)] = 0;
    this.#length = length;
  }

  /** Finds the nodes at `positions` and all their ancestors.
   * @param cut nodes whose parents are ignored, as in a shallow clone */
  ancestors(positions: Iterable<GraphPosition>, cut: PositionSet | null = null): PositionSet {
    const reached = new Bitset<GraphPosition>(this.#length);
    for (const position of positions) reached.add(position);
    this.#descend(reached, this.#length, 0, cut);
    return reached;
  }

  /** Whether `ancestor` is reachable from `descendant`; every node is its own ancestor. */
  isAncestor(ancestor: GraphPosition, descendant: GraphPosition): boolean {
    if (ancestor >= descendant) return ancestor === descendant;
    const reached = new Bitset<GraphPosition>(descendant + 1);
    reached.add(descendant);
    this.#descend(reached, descendant + 1, ancestor);
    return reached.has(ancestor);
  }

  /** Stores the nodes from position `from` on.
   * @param introduced one set per node, in order of position
   * @throws GitError "too-large" when a set does not fit into a row */
  write(sql: Sql, from: GraphPosition, introduced: readonly NumberSet[]): void {
    openNodes(sql).write(finishAtOnce(this.#storedFrom(from, introduced)));
  }

  /** Encodes the nodes that `write` would store, page by page.
   * @throws as `write` */
  *prepare(sql: Sql, from: GraphPosition, introduced: readonly NumberSet[]): Generator<void, PreparedPage[]> {
    return yield* openNodes(sql).prepare(yield* this.#storedFrom(from, introduced));
  }

  /** Yields the nodes from position `from` on, by number. */
  *#storedFrom(from: GraphPosition, introduced: readonly NumberSet[]): Generator<void, StoredNode[]> {
    const nodes: StoredNode[] = [];
    for (let p = from; p < this.#length; p++) {
      nodes.push({
        number: this.number(p),
        parents: Array.from(this.parents(p), (parent) => this.number(parent)),
        tree: this.tree(p),
        generation: this.generation(p),
        time: this.time(p),
        introduced: introduced[p - from]!.encode(),
      });
      if (nodes.length % NODES_PER_STEP === 0) yield;
    }
    return nodes.toSorted((a, b) => a.number - b.number);
  }

  /** Copies the graph. Later changes of the copy do not affect this one. */
  copy(): CommitGraph {
    const copy = new CommitGraph();
    copy.adopt(this);
    copy.#numbers = this.#numbers.slice();
    copy.#trees = this.#trees.slice();
    copy.#times = this.#times.slice();
    copy.#generations = this.#generations.slice();
    copy.#parentStarts = this.#parentStarts.slice();
    copy.#parents = this.#parents.slice();
    copy.#slots = this.#slots.slice();
    return copy;
  }

  /** Takes over the nodes of another graph, which is a copy of this one with more nodes. The
   * other must not be used any more. */
  adopt(other: CommitGraph): void {
    this.#length = other.#length;
    this.#numbers = other.#numbers;
    this.#trees = other.#trees;
    this.#times = other.#times;
    this.#rows = other.#rows;
    this.#positions = other.#positions;
    this.#sorted = other.#sorted;
    this.#generations = other.#generations;
    this.#parentStarts = other.#parentStarts;
    this.#parents = other.#parents;
    this.#slots = other.#slots;
    this.#factor = other.#factor;
  }

  /** Adds the parents of every member below `end`, down to position `floor`. */
  #descend(reached: PositionSet, end: number, floor: number, cut: PositionSet | null = null): void {
    for (let p = reached.previous(end); p > floor; p = reached.previous(p)) {
      if (cut !== null && cut.has(p)) continue;
      const last = this.#parentStarts[p + 1]!;
      for (let i = this.#parentStarts[p]!; i < last; i++) reached.add(this.#parents[i]!);
    }
  }

  /** Finds the row of the node at a position. */
  #row(position: GraphPosition): number {
    return position < this.#rows.length ? this.#rows[position]! : position;
  }

  /** Fills the empty graph. */
  #take({ length, numbers, trees, times, generations, parents, parentStarts }: NodeColumns): void {
    this.#numbers = numbers;
    this.#trees = trees;
    this.#times = times;
    this.#sorted = new SortedNumbers(numbers, length);
    this.#sort(generations);
    // Allocates as much room as the columns have.
    this.#generations = new Uint32Array(numbers.length);
    this.#parentStarts = new Uint32Array(numbers.length + 1);
    this.#parents = new Uint32Array(parents.length);
    for (let p = 0; p < length; p++) {
      const row = this.#rows[p]!;
      this.#setParents(p, parents, parentStarts[row]!, parentStarts[row + 1]!);
    }
    this.#length = length;
  }

  /** Assigns positions to rows by generation, so that parents come before children. No
   * generation is above the number of nodes, since a node has an ancestor of each lower
   * generation. */
  #sort(generations: Uint32Array): void {
    const { length } = generations;
    const next = new Uint32Array(length + 2);
    for (let row = 0; row < length; row++) {
      if (generations[row]! > length) throw inconsistent(this.#numbers[row]!, "has too high a generation");
      next[generations[row]! + 1]! += 1;
    }
    for (let g = 1; g <= length; g++) next[g]! += next[g - 1]!;
    this.#rows = new Uint32Array(length);
    this.#positions = new Uint32Array(length);
    for (let row = 0; row < length; row++) {
      const position = next[generations[row]!]!++;
      this.#positions[row] = position;
      this.#rows[position] = row;
    }
  }

  /** Adds one node whose parents are in the graph. Space must have been reserved. */
  #push({ number, parents, tree, time }: NewNode): void {
    const position = this.#length;
    this.#numbers[position] = number;
    this.#trees[position] = tree;
    this.#times[position] = time;
    this.#setParents(position, parents, 0, parents.length);
    this.#slots[this.#slot(number)] = position + 1;
    this.#length = position + 1;
  }

  /** Sets the parents of the node at a position, and its generation.
   * @param from index in `parents` of its first parent; `until`: index after the last */
  #setParents(
    position: GraphPosition,
    parents: { readonly [index: number]: ObjectNumber },
    from: number,
    until: number,
  ): void {
    let end = this.#parentStarts[position]!;
    let generation = 0;
    for (let i = from; i < until; i++) {
      const at = this.position(parents[i]!);
      // Checks the order, because nodes that were read are sorted by their stored generations,
      // which may be wrong.
      if (at < 0 || at >= position) {
        throw inconsistent(this.number(position), `has a parent ${parents[i]!} that is not in the graph`);
      }
      generation = Math.max(generation, this.#generations[at]!);
      this.#parents[end++] = at;
    }
    this.#generations[position] = generation + 1;
    this.#parentStarts[position + 1] = end;
  }

  /** Finds the slot of `number`, or the free slot where it belongs. A multiplicative hash is
   * needed: a push's commits have consecutive numbers, so with the lowest bits as hash, the
   * slots of two pushes could overlap, and a search in one would step over all of the other's. */
  #slot(number: ObjectNumber): number {
    const mask = this.#slots.length - 1;
    let slot = Math.imul(number, this.#factor) >>> Math.clz32(mask);
    while (this.#slots[slot] !== 0 && this.#numbers[this.#slots[slot]! - 1] !== number) slot = (slot + 1) & mask;
    return slot;
  }

  /** Grows the arrays to this total of nodes and parents. */
  #reserve(nodes: number, parents: number): void {
    if (nodes > this.#numbers.length) {
      const capacity = this.#length === 0 ? nodes : Math.max(nodes, this.#length * 2);
      this.#numbers = grown(this.#numbers, new Uint32Array(capacity));
      this.#trees = grown(this.#trees, new Uint32Array(capacity));
      this.#times = grown(this.#times, new Float64Array(capacity));
      this.#generations = grown(this.#generations, new Uint32Array(capacity));
      this.#parentStarts = grown(this.#parentStarts, new Uint32Array(capacity + 1));
    }
    if (parents > this.#parents.length) {
      this.#parents = grown(
        this.#parents,
        new Uint32Array(this.#length === 0 ? parents : Math.max(parents, this.#parents.length * 2)),
      );
    }
    const appended = nodes - this.#rows.length;
    if (appended * 2 <= this.#slots.length) return;
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2(appended * 2)));
    for (let p = this.#rows.length; p < this.#length; p++) this.#slots[this.#slot(this.#numbers[p]!)] = p + 1;
  }
}

function grown<A extends Uint32Array | Float64Array>(from: A, to: A): A {
  to.set(from);
  return to;
}
