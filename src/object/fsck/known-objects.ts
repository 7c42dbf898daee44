import type { PositionSet, CommitGraph } from "../store/graph/commit-graph.ts";
import type { NumberSet } from "../../base/numbers/number-set.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import type { FsckRun } from "./fsck-run.ts";
import { IntroducerReader } from "./introducers.ts";

/** What the row of an object says. */
export interface KnownObject {
  /** 0: there is no row. */
  readonly type: number;
  /** The first introducer, 0: none. */
  readonly introducer: ObjectNumber;
  /** Where its marks are if it has several introducers, −1: it has one. */
  marks: number;
}

/** A node that is checked. */
export interface CheckedNode {
  readonly number: ObjectNumber;
  /** Its ancestors without itself, null: it has none. */
  readonly ancestors: PositionSet | null;
}

/** What rows say of objects, for a few hundred nodes. An object may have as many introducers as
 * there are nodes, and so may thousands of others: they are not kept, but two bits for each node
 * that is checked, its **marks**. They tell whether an introducer is an ancestor of the node, and
 * whether the node is an introducer. */
export class KnownObjects {
  readonly #run: FsckRun;
  readonly #graph: CommitGraph;
  readonly #nodes: readonly CheckedNode[];
  /** The nodes that have ancestors, by index; and all by number. */
  readonly #heirs: readonly (readonly [index: number, ancestors: PositionSet])[];
  readonly #indexes: ReadonlyMap<ObjectNumber, number>;
  readonly #objects = new Map<ObjectNumber, KnownObject>();
  readonly #introducers: IntroducerReader;
  /** Where the marks are that an introducer gives to its objects. */
  readonly #given = new Map<ObjectNumber, number>();
  /** Words of all marks, and of each kind of one object's: first inherited, then introduced. */
  #marks = new Uint32Array(1_024);
  #length = 0;
  readonly #words: number;

  /** @param nodes at least one */
  constructor(run: FsckRun, graph: CommitGraph, nodes: readonly CheckedNode[]) {
    this.#run = run;
    this.#graph = graph;
    this.#nodes = nodes;
    this.#words = Math.ceil(nodes.length / 32);
    this.#heirs = nodes.flatMap(({ ancestors }, i) => (ancestors === null ? [] : [[i, ancestors] as const]));
    this.#indexes = new Map(nodes.map(({ number }, i) => [number, i]));
    this.#introducers = new IntroducerReader(run);
  }

  /** What is known of an object, undefined: it was not learned. */
  get(object: ObjectNumber): KnownObject | undefined {
    return this.#objects.get(object);
  }

  /** Whether an ancestor of the node with an index is said to introduce an object. */
  isInherited({ introducer, marks }: KnownObject, index: number): boolean {
    if (marks >= 0) return this.#isMarked(marks, index);
    const { ancestors } = this.#nodes[index]!;
    if (ancestors === null) return false;
    const position = this.#graph.position(introducer);
    return position >= 0 && ancestors.has(position);
  }

  /** Whether the node with an index is said to introduce an object. */
  isIntroduced({ introducer, marks }: KnownObject, index: number): boolean {
    return marks >= 0 ? this.#isMarked(marks + this.#words, index) : introducer === this.#nodes[index]!.number;
  }

  /** Reads the rows of objects, and their introducers, with pauses.
   * @throws GitError "storage-failed" when they cannot be read */
  async learn(objects: NumberSet): Promise<void> {
    const numbers = objects.toArray();
    for (let from = 0; from < numbers.length;) {
      const { end, objects: slice, pairs } = this.#introducers.next(numbers, from);
      // Nothing may change between the rows and their further introducers.
      const { number, type, introducer } = this.#run.audit.columns(slice);
      number.forEach((object, i) =>
        this.#objects.set(object, { type: type[i]!, introducer: introducer[i]!, marks: -1 }),
      );
      for (; from < end; from++) {
        const object = numbers[from]!;
        if (!this.#objects.has(object)) this.#objects.set(object, { type: 0, introducer: 0, marks: -1 });
      }
      for (const [object, node] of pairs) this.#mark(object, node);
      await this.#run.readRows(slice.size + pairs.length);
    }
  }

  #mark(object: ObjectNumber, introducer: ObjectNumber): void {
    const known = this.#objects.get(object)!;
    if (known.type === 0) return;
    if (known.marks < 0) {
      known.marks = this.#newMarks();
      this.#give(known.introducer, known.marks);
    }
    this.#give(introducer, known.marks);
  }

  /** Adds to an object's marks those that an introducer gives. */
  #give(introducer: ObjectNumber, marks: number): void {
    let given = this.#given.get(introducer);
    if (given === undefined) this.#given.set(introducer, (given = this.#marksOf(introducer)));
    for (let w = 0; w < 2 * this.#words; w++) this.#marks[marks + w]! |= this.#marks[given + w]!;
  }

  #marksOf(introducer: ObjectNumber): number {
    const marks = this.#newMarks();
    const position = this.#graph.position(introducer);
    const set = (first: number, index: number): void => {
      this.#marks[first + (index >>> 5)]! |= 1 << (index & 31);
    };
    if (position >= 0) for (const [index, ancestors] of this.#heirs) if (ancestors.has(position)) set(marks, index);
    const own = this.#indexes.get(introducer);
    if (own !== undefined) set(marks + this.#words, own);
    return marks;
  }

  #newMarks(): number {
    const marks = this.#length;
    this.#length += 2 * this.#words;
    if (this.#length > this.#marks.length) {
      const grown = new Uint32Array(Math.max(this.#length, 2 * this.#marks.length));
      grown.set(this.#marks);
      this.#marks = grown;
    }
    return marks;
  }

  #isMarked(first: number, index: number): boolean {
    return ((this.#marks[first + (index >>> 5)]! >>> (index & 31)) & 1) === 1;
  }
}
