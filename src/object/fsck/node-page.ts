import type { CommitGraph } from "../store/graph/commit-graph.ts";
import type { Column } from "../../base/format/kinds.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { TREE } from "../../base/format/object.ts";
import { concatOids, OID_BYTES, toHex } from "../../base/format/oid.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { ObjectRow } from "../store/index/object-columns.ts";
import type { FsckRun } from "./fsck-run.ts";
import { type CheckedNode, type KnownObject, KnownObjects } from "./known-objects.ts";

/** What the nodes of a page introduced, unless one introduced more: different objects, the same
 * counted once for each node, and bytes of the trees among the objects. */
const PAGE_OBJECTS = 5_000;
const PAGE_LISTED = 500_000;
const PAGE_TREE_BYTES = 2 * 1024 * 1024;

/** Rows that are in memory at once while trees are looked for. */
const ROWS_AT_ONCE = 8_192;

/** Ids in trees that are looked up together, unless one tree has more. */
const LOOKUP_IDS = 20_000;

/** Objects that are looked at between two pauses. */
const LOOKS_PER_PAUSE = 16_384;

/** A node and what it introduced, according to its row; null: that cannot be read. */
interface ListedNode {
  readonly number: ObjectNumber;
  readonly introduced: NumberSet | null;
}

/** Some nodes, and the objects that they introduced. */
export class NodePage {
  readonly #run: FsckRun;
  readonly nodes: readonly ListedNode[];
  /** The trees that a node introduced. */
  readonly #rows: readonly ObjectRow[];
  /** The different objects in trees; null: the tree cannot be read. */
  readonly #trees = new Map<ObjectNumber, Column<ObjectNumber> | null>();
  #known: KnownObjects | null = null;

  /** @param numbers of nodes: the page has as many of the first as the limits allow
   * @throws GitError "storage-failed" when rows cannot be read */
  constructor(run: FsckRun, numbers: readonly ObjectNumber[]) {
    this.#run = run;
    const rows = run.audit.nodes(numbers);
    const end = run.tables.objects.lastNumber() + 1;
    const nodes: ListedNode[] = [];
    let listed = NumberSet.EMPTY;
    for (let i = 0, sum = 0; i < numbers.length && listed.size < PAGE_OBJECTS && sum < PAGE_LISTED; i++) {
      const number = numbers[i]!;
      let introduced = rows.get(number)?.introduced ?? null;
      // A damaged set of billions of numbers must not be walked.
      if (introduced !== null && (introduced.runs.at(-1) ?? 0) > end) introduced = null;
      nodes.push({ number, introduced });
      if (introduced === null) continue;
      listed = listed.union(introduced);
      sum += introduced.size;
    }
    const trees = this.#treesOf(nodes, listed);
    this.nodes = nodes.slice(0, trees.end);
    this.#rows = trees.rows;
  }

  /** The trees that nodes introduced, until there are too many.
   * @returns also the number of nodes that are left */
  #treesOf(nodes: readonly ListedNode[], listed: NumberSet): { rows: ObjectRow[]; end: number } {
    const rows = new Map<ObjectNumber, ObjectRow>();
    for (let from = 0; from < listed.size; from += ROWS_AT_ONCE) {
      const { number, type } = this.#run.audit.columns(
        NumberSet.fromSorted(listed.slice(from, Math.min(listed.size, from + ROWS_AT_ONCE))),
      );
      const trees = number.filter((_, i) => type[i] === TREE);
      for (const [tree, row] of this.#run.audit.namedObjects(trees)) rows.set(tree, row);
    }
    const trees = NumberSet.fromSorted(rows.keys());
    const taken: ObjectRow[] = [];
    let bytes = 0;
    for (const [end, { introduced }] of nodes.entries()) {
      if (bytes >= PAGE_TREE_BYTES) return { rows: taken, end };
      for (const tree of introduced?.intersection(trees).toArray() ?? []) {
        const row = rows.get(tree);
        // Many nodes may have introduced the same tree.
        if (row === undefined) continue;
        rows.delete(tree);
        taken.push(row);
        bytes += row.size;
      }
    }
    return { rows: taken, end: nodes.length };
  }

  /** Reads the trees, and the rows of everything in them.
   * @param nodes those of the page, in order
   * @throws GitError "storage-failed" when rows cannot be read */
  async prepare(graph: CommitGraph, nodes: readonly CheckedNode[]): Promise<void> {
    this.#known = new KnownObjects(this.#run, graph, nodes);
    let listed = NumberSet.fromUnsorted(nodes.map(({ number }) => number));
    for (const { introduced } of this.nodes) if (introduced !== null) listed = listed.union(introduced);
    await this.#readTrees(this.#rows, listed);
  }

  /** Walks from a node to all objects that its parents do not reach, and compares them with its
   * row.
   * @param index of the node in the page
   * @param root its tree, 0: none
   * @param introduced the objects that its row lists
   * @returns how many objects were looked at */
  async check(index: number, root: ObjectNumber, introduced: NumberSet): Promise<number> {
    const node = this.nodes[index]!.number;
    const brought = new Set<ObjectNumber>();
    const pending = root === 0 ? [node] : [node, root];
    let looks = 0;
    for (let object = pending.pop(); object !== undefined; object = pending.pop()) {
      if (++looks % LOOKS_PER_PAUSE === 0) await this.#run.look(LOOKS_PER_PAUSE);
      if (brought.has(object)) continue;
      const known = await this.#get(object);
      if (this.#known!.isInherited(known, index)) continue;
      brought.add(object);
      if (known.type !== TREE) continue;
      const entries = await this.#entries(object);
      if (entries === null) {
        this.#run.checked.skippedNodes += 1;
        return looks;
      }
      for (const entry of entries) pending.push(entry);
    }
    this.#run.checked.nodes += 1;
    this.#compare(index, NumberSet.fromUnsorted(brought), introduced);
    await this.#run.look((looks % LOOKS_PER_PAUSE) + introduced.size);
    return looks;
  }

  #compare(index: number, brought: NumberSet, introduced: NumberSet): void {
    const node = this.nodes[index]!.number;
    const say = (numbers: Column<ObjectNumber>, detail: string): void => {
      if (numbers.length === 0) return;
      const rows = this.#run.audit.namedObjects(numbers);
      for (const number of numbers) {
        const oid = rows.get(number)?.oid;
        const subject = oid === undefined ? {} : { oid: toHex(oid) };
        this.#run.report({ kind: "reachability", ...subject, detail: `object number ${number}: ${detail}` });
      }
    };
    say(brought.difference(introduced).toArray(), `node ${node} introduced it, but does not list it`);
    say(introduced.difference(brought).toArray(), `node ${node} lists it, but did not introduce it`);
    const both = brought.intersection(introduced).toArray();
    const unsaid = both.filter((object) => !this.#known!.isIntroduced(this.#known!.get(object)!, index));
    say(unsaid, `node ${node} introduced it, but its row does not say so`);
  }

  async #entries(tree: ObjectNumber): Promise<Column<ObjectNumber> | null> {
    if (!this.#trees.has(tree)) {
      // No node of the page lists this tree.
      await this.#readTrees([...this.#run.audit.namedObjects([tree]).values()], NumberSet.EMPTY);
    }
    return this.#trees.get(tree) ?? null;
  }

  async #get(object: ObjectNumber): Promise<KnownObject> {
    const known = this.#known!;
    if (known.get(object) === undefined) await known.learn(NumberSet.of(object));
    return known.get(object)!;
  }

  /** Reads trees in the order in which they are stored, and learns what is in them.
   * @param more objects that are learned with them */
  async #readTrees(rows: readonly ObjectRow[], more: NumberSet): Promise<void> {
    const inOrder = rows.toSorted((a, b) => a.number - b.number);
    this.#run.entries.prepare(inOrder);
    const objects = [more.toArray()];
    let batch: TreeIds[] = [];
    let ids = 0;
    for (const [i, row] of inOrder.entries()) {
      const oids = await this.#readTree(row);
      if (oids === null) this.#trees.set(row.number, null);
      else batch.push({ tree: row.number, oids });
      ids += (oids?.length ?? 0) / OID_BYTES;
      if (ids < LOOKUP_IDS && i < inOrder.length - 1) continue;
      for (const entries of await this.#findEntries(batch)) objects.push(entries);
      batch = [];
      ids = 0;
    }
    await this.#known!.learn(NumberSet.fromUnsorted(joinNumbers(objects)));
  }

  /** Looks up what is in trees.
   * @returns the different objects of each */
  async #findEntries(batch: readonly TreeIds[]): Promise<Column<ObjectNumber>[]> {
    const { number } = await this.#run.lookup(concatOids(batch.map(({ oids }) => oids)));
    let at = 0;
    return batch.map(({ tree, oids }) => {
      // Missing objects were reported with the tree.
      const there = number.subarray(at, (at += oids.length / OID_BYTES)).filter((entry) => entry !== 0);
      const entries = NumberSet.fromUnsorted(there).toArray();
      this.#trees.set(tree, entries);
      return entries;
    });
  }

  /** The ids in a tree, null: it cannot be read. */
  async #readTree(row: ObjectRow): Promise<Uint8Array | null> {
    await this.#run.step(row.size);
    try {
      const { bytes } = await this.#run.entries.readObject(row);
      return this.#run.repository.state.platform.codec.checkObject("tree", bytes).named.oids;
    } catch (error) {
      await this.#run.damageOf(error);
      return null;
    }
  }
}

/** The ids in a tree, packed. */
interface TreeIds {
  readonly tree: ObjectNumber;
  readonly oids: Uint8Array;
}

function joinNumbers(parts: readonly Column<ObjectNumber>[]): Column<ObjectNumber> {
  const joined = new Uint32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const part of parts) {
    joined.set(part, end);
    end += part.length;
  }
  return joined;
}
