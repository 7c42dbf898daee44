import type { PositionSet, CommitGraph } from "../store/graph/commit-graph.ts";
import type { GraphPosition } from "../../base/numbers/kinds.ts";
import { ByteCache } from "../../base/bytes/byte-cache.ts";
import type { FsckRun, FsckStage } from "./fsck-run.ts";
import type { CheckedNode } from "./known-objects.ts";
import { NodePage } from "./node-page.ts";

/** Graph nodes that are checked together, unless the limits of `NodePage` are met first, and bytes
 * of their ancestors. */
const PAGE_NODES = 500;
const PAGE_ANCESTOR_BYTES = 8 * 1024 * 1024;

/** Steps that must be left for a node to be in a page with others. */
const STEPS_PER_NODE = 10;

/** Objects looked at after which a call may end within a page: what the page has read is read
 * again by the next call. */
const PAGE_LOOKS = 200_000;

/** Nodes of the graph whose bits in a set are copied in the time of a look. */
const GRAPH_NODES_PER_LOOK = 1_024;

/** Bytes of ancestor sets that are cached: 12.5 KB each per 100,000 nodes. */
const ANCESTOR_BYTES = 16 * 1024 * 1024;

/** Checks the nodes of the graph, parents before children. For each, the objects that it reaches
 * and none of its parents does are found again by walking its trees, and compared with the rows. */
export const checkReachability: FsckStage = async (run, after) => {
  const { graph } = run.tables;
  const order = orderNodes(graph, after);
  const ancestors = new AncestorSets(graph);
  for (let at = 0; at < order.length;) {
    const most = Math.min(PAGE_NODES, PAGE_ANCESTOR_BYTES / (graph.length / 8), run.stepsLeft / STEPS_PER_NODE);
    const numbers = order.slice(at, at + Math.max(1, most)).map((position) => graph.number(position));
    const page = await run.attempt("rows of reachability", () => new NodePage(run, numbers), null);
    let done = page?.nodes.length ?? numbers.length;
    if (page === null) run.checked.skippedNodes += numbers.length;
    else {
      done = await run.attempt("what nodes introduced", () => checkPage(run, page, graph, ancestors), done);
      for (const { number, introduced } of page.nodes.slice(0, done)) {
        if (introduced !== null) continue;
        const detail = `the list of objects that node ${number} introduced cannot be read`;
        run.report({ kind: "reachability", detail });
      }
    }
    at += done;
    if (run.isSpent) return placeOf(graph, order[at - 1]!);
  }
  return null;
};

/** @returns how many of the page's nodes were checked */
async function checkPage(run: FsckRun, page: NodePage, graph: CommitGraph, ancestors: AncestorSets): Promise<number> {
  const nodes: CheckedNode[] = [];
  for (const { number } of page.nodes) {
    nodes.push({ number, ancestors: ancestors.of(graph.position(number)) });
    await run.look(graph.length / GRAPH_NODES_PER_LOOK);
  }
  await page.prepare(graph, nodes);
  let looks = 0;
  for (const [i, { number, introduced }] of page.nodes.entries()) {
    // A push may have arrived while trees were read, so positions are looked up again.
    if (introduced !== null) looks += await page.check(i, graph.tree(graph.position(number)), introduced);
    if (run.isSpent && looks >= PAGE_LOOKS) return i + 1;
  }
  return page.nodes.length;
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

/** The ancestors of nodes, cached for an order in which parents precede children. */
class AncestorSets {
  readonly #graph: CommitGraph;
  readonly #sets = new ByteCache<PositionSet>(ANCESTOR_BYTES);

  constructor(graph: CommitGraph) {
    this.#graph = graph;
  }

  /** A node's ancestors without itself, null: it has none. */
  of(position: GraphPosition): PositionSet | null {
    const [first, ...rest] = this.#graph.parents(position);
    if (first === undefined) return null;
    const known = this.#sets.get(String(first));
    // The graph may have grown.
    const set = known?.length === this.#graph.length ? known.clone() : this.#graph.ancestors([first]);
    set.add(first);
    for (const parent of rest) {
      set.addAll(this.#sets.get(String(parent)) ?? this.#graph.ancestors([parent]));
      set.add(parent);
    }
    this.#sets.set(String(position), set, this.#graph.length / 8);
    return set;
  }
}
