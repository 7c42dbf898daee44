import type { PositionSet, CommitGraph } from "../store/graph/commit-graph.ts";
import type { Column } from "../../base/format/kinds.ts";
import type { GraphPosition, ObjectNumber } from "../../base/numbers/kinds.ts";
import { TREE, isObjectType } from "../../base/format/object.ts";
import { concatOids, type Oid, toHex } from "../../base/format/oid.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { ObjectRow } from "../store/index/object-columns.ts";
import { ByteCache } from "../../base/bytes/byte-cache.ts";
import type { FsckRun, FsckStage } from "./fsck-run.ts";

/** Graph nodes that are checked together, the objects that they introduced, and the bytes of the
 * trees among these, unless one node introduced more. */
const PAGE_NODES = 500;
const PAGE_OBJECTS = 5_000;
const PAGE_TREE_BYTES = 2 * 1024 * 1024;

/** Bytes of ancestor sets that are cached: 12.5 KB each per 100,000 nodes. */
const ANCESTOR_BYTES = 16 * 1024 * 1024;

/** Checks the nodes of the graph, parents before children. For each, the objects that it reaches
 * and none of its parents does are found again by walking its trees, and compared with the rows. */
export const checkReachability: FsckStage = async (run, after) => {
  const { graph } = run.tables;
  const order = orderNodes(graph, after);
  const ancestors = new AncestorSets(graph);
  for (let at = 0; at < order.length;) {
    const nodes = order.slice(at, at + PAGE_NODES).map((position) => graph.number(position));
    const page = await run.attempt("rows of reachability", () => new Page(run, nodes), null);
    at += page?.length ?? nodes.length;
    if (page === null) run.checked.skippedNodes += nodes.length;
    else await run.attempt("what nodes introduced", () => checkPage(page, graph, ancestors), undefined);
    if (run.isSpent) return placeOf(graph, order[at - 1]!);
  }
  return null;
};

async function checkPage(page: Page, graph: CommitGraph, ancestors: AncestorSets): Promise<void> {
  await page.readTrees();
  for (const [number, introduced] of page.nodes) {
    // A push may have arrived while trees were read, so positions are looked up again.
    const position = graph.position(number);
    const isInherited = ancestors.of(position);
    await page.check(number, graph.tree(position), introduced, (node) => isInherited(graph.position(node)));
  }
}

/** Positions after a place, by generation and number: an order that does not depend on when the
 * graph was loaded. */
function orderNodes(graph: CommitGraph, after: string): GraphPosition[] {
  const [generation = 0, number = 0] = after.split(".").map(Number);
  const isBehind = (position: GraphPosition): boolean =>
    graph.generation(position) > generation ||
    (graph.generation(position) === generation && graph.number(position) > number);
  return Array.from({ length: graph.length }, (_, position) => position)
    .filter(isBehind)
    .toSorted((a, b) => graph.generation(a) - graph.generation(b) || graph.number(a) - graph.number(b));
}

function placeOf(graph: CommitGraph, position: GraphPosition): string {
  return `${graph.generation(position)}.${graph.number(position)}`;
}

/** What is known of an object. */
interface Known {
  readonly type: number;
  /** Object numbers of graph nodes. */
  readonly introducers: readonly ObjectNumber[];
}

/** Some nodes, and the objects that they introduced. */
class Page {
  readonly #run: FsckRun;
  /** The objects that each node introduced, according to its row. */
  readonly nodes = new Map<ObjectNumber, NumberSet>();
  /** The trees among these objects. */
  #rows: ObjectRow[] = [];
  /** Object numbers in trees; null: the tree cannot be read. */
  readonly #trees = new Map<ObjectNumber, readonly ObjectNumber[] | null>();
  readonly #known = new Map<ObjectNumber, Known>();

  /** How many of the nodes this page covers. */
  readonly length: number;

  /** @param nodes the page covers as many of the first as the limits allow */
  constructor(run: FsckRun, nodes: readonly ObjectNumber[]) {
    this.#run = run;
    const rows = run.audit.nodes(nodes);
    const end = run.tables.objects.lastNumber() + 1;
    let length = 0;
    for (let objects = 0; length < nodes.length && objects < PAGE_OBJECTS; length++) {
      const node = nodes[length]!;
      const introduced = rows.get(node)?.introduced ?? null;
      // A damaged set of billions of numbers must not be walked.
      if (introduced === null || (introduced.runs.at(-1) ?? 0) > end) continue;
      this.nodes.set(node, introduced);
      objects += introduced.size;
    }
    this.length = this.#cutTrees(nodes.slice(0, length));
    for (const node of nodes.slice(0, this.length)) {
      if (this.nodes.has(node)) continue;
      run.report({ kind: "reachability", detail: `the list of objects that node ${node} introduced cannot be read` });
    }
  }

  /** Takes in trees until the limit is reached, and leaves out the remaining nodes.
   * @returns how many nodes are left */
  #cutTrees(nodes: readonly ObjectNumber[]): number {
    const rows = this.#run.audit.namedObjects(
      [...this.nodes.values()].flatMap((introduced) => [...introduced.toArray()]),
    );
    let treeBytes = 0;
    for (const [at, node] of nodes.entries()) {
      if (treeBytes >= PAGE_TREE_BYTES) {
        for (const left of nodes.slice(at)) this.nodes.delete(left);
        return at;
      }
      for (const object of this.nodes.get(node)?.toArray() ?? []) {
        const row = rows.get(object);
        if (row?.type !== TREE) continue;
        this.#rows.push(row);
        treeBytes += row.size;
      }
    }
    return nodes.length;
  }

  /** Reads the trees in storage order, and the rows of everything in them. */
  async readTrees(): Promise<void> {
    const inOrder = this.#rows.toSorted((a, b) => a.number - b.number);
    this.#run.entries.prepare(inOrder);
    const named: (readonly Oid[] | null)[] = [];
    for (const row of inOrder) named.push(await this.#readTree(row));
    const { number } = this.#run.tables.objects.lookupMany(concatOids(named.flatMap((oids) => oids ?? [])));
    let at = 0;
    inOrder.forEach((row, i) => {
      const oids = named[i]!;
      // Missing objects were reported with the tree.
      this.#trees.set(row.number, oids && [...number.subarray(at, (at += oids.length))].filter((entry) => entry !== 0));
    });
    this.#learn(new Set(number.filter((entry) => entry !== 0)));
    this.#learn(new Set([...this.nodes].flatMap(([node, introduced]) => [node, ...introduced.toArray()])));
  }

  /** Walks from a node to all objects that its parents do not reach, and compares them with its
   * row.
   * @param isInherited whether a node is a parent or an ancestor */
  async check(
    node: ObjectNumber,
    root: number,
    introduced: NumberSet,
    isInherited: (node: ObjectNumber) => boolean,
  ): Promise<void> {
    const brought = new Set<ObjectNumber>();
    const pending = root === 0 ? [node] : [node, root];
    for (let object = pending.pop(); object !== undefined; object = pending.pop()) {
      if (brought.has(object) || this.#get(object).introducers.some(isInherited)) continue;
      brought.add(object);
      if (this.#get(object).type !== TREE) continue;
      const entries = await this.#entries(object);
      if (entries === null) {
        this.#run.checked.skippedNodes += 1;
        return;
      }
      for (const entry of entries) pending.push(entry);
    }
    this.#run.checked.nodes += 1;
    this.#compare(node, NumberSet.fromUnsorted(brought), introduced);
  }

  #compare(node: ObjectNumber, brought: NumberSet, introduced: NumberSet): void {
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
    const unsaid = both.filter((object) => !this.#get(object).introducers.includes(node));
    say(unsaid, `node ${node} introduced it, but its row does not say so`);
  }

  async #entries(tree: ObjectNumber): Promise<readonly ObjectNumber[] | null> {
    if (!this.#trees.has(tree)) {
      // No node of the page lists this tree.
      this.#rows = [...this.#run.audit.namedObjects([tree]).values()];
      await this.readTrees();
    }
    return this.#trees.get(tree) ?? null;
  }

  /** The ids in a tree, null: it cannot be read. */
  async #readTree(row: ObjectRow): Promise<readonly Oid[] | null> {
    await this.#run.step();
    try {
      const { bytes } = await this.#run.entries.readObject(row);
      const { named } = this.#run.repository.state.platform.codec.checkObject("tree", bytes);
      return named.filter(({ subject }) => isObjectType(subject)).map(({ oid }) => oid);
    } catch (error) {
      await this.#run.damageOf(error);
      return null;
    }
  }

  #get(object: ObjectNumber): Known {
    if (!this.#known.has(object)) this.#learn(new Set([object]));
    return this.#known.get(object)!;
  }

  #learn(objects: ReadonlySet<ObjectNumber>): void {
    const rows = this.#run.audit.namedObjects(objects);
    const several = this.#run.tables.reachability.severalIntroducers(NumberSet.fromSorted(rows.keys()));
    for (const object of objects) {
      const { type = 0, introducer = 0 } = rows.get(object) ?? {};
      this.#known.set(object, { type, introducers: several.get(object) ?? (introducer === 0 ? [] : [introducer]) });
    }
  }
}

/** The ancestors of nodes, cached for an order in which parents precede children. */
class AncestorSets {
  readonly #graph: CommitGraph;
  readonly #sets = new ByteCache<PositionSet>(ANCESTOR_BYTES);

  constructor(graph: CommitGraph) {
    this.#graph = graph;
  }

  /** Returns a function that says whether a position is among the node's ancestors. */
  of(position: GraphPosition): (position: GraphPosition) => boolean {
    const [first, ...rest] = this.#graph.parents(position);
    if (first === undefined) return () => false;
    const known = this.#sets.get(String(first));
    // The graph may have grown.
    const set = known?.length === this.#graph.length ? known.clone() : this.#graph.ancestors([first]);
    set.add(first);
    for (const parent of rest) {
      set.addAll(this.#sets.get(String(parent)) ?? this.#graph.ancestors([parent]));
      set.add(parent);
    }
    this.#sets.set(String(position), set, this.#graph.length / 8);
    return (other) => other >= 0 && set.has(other);
  }
}
