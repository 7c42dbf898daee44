import { FIRST_PLACE, type CopyPart, type CopyPlace, readPart } from "../store/forks/table-copy.ts";
import { concatOids, OID_BYTES, type Oid } from "../../base/format/oid.ts";
import type { PositionSet } from "../store/graph/commit-graph.ts";
import { SCHEMA_VERSION } from "../store/sql/schema.ts";
import { openNodes } from "../store/index/node-pages.ts";
import type { FamilyMember, HistoryRequest, SharedChunk, SharedHistory, SharedNode } from "../state/family.ts";
import { Bitset } from "../../base/numbers/bitset.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import type { GraphPosition, ObjectNumber } from "../../base/numbers/kinds.ts";
import { setPin } from "./pins.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { Tables } from "../store/tables.ts";

/** The most commits of a part, and the objects that they bring, unless one brings more. A row takes
 * 61 bytes of a call between objects, which takes 32 MiB. */
const MAX_NODES = 50_000;
const MAX_OBJECTS = 100_000;

/** @see FamilyMember.shareHistory */
export function shareHistory(repository: RepositoryState, request: HistoryRequest): SharedHistory | null {
  const { tables, fsck, pins } = repository;
  const tip = tables?.refs.get(`refs/heads/${request.branch}`)?.oid;
  if (tables === null || tip === undefined) return null;
  const missing = findMissing(tables, tip, request.haves);
  const part = takePart(repository, tables, missing);
  const numbers = part.reduce((all, { introduced }) => all.union(NumberSet.decode(introduced)), NumberSet.EMPTY);
  const all = tables.objects.withBases(numbers).union(numbers);
  const chunks = tables.chunks.byIds(tables.objects.chunksOf(all)).map((chunk): SharedChunk => {
    return { ...chunk, bytes: chunk.key === null ? tables.chunks.hotBytesOf(chunk.id) : null };
  });
  const pointers = tables.lfs.pointersAmong(numbers);
  const lfs = [...tables.lfs.findMany([...new Set(pointers.map(({ oid }) => oid))]).values()];
  const keys = new Set(pins.of(request.holder));
  for (const { key } of [...chunks, ...lfs]) if (key?.startsWith(`${repository.key}/`) === true) keys.add(key);
  setPin(repository, request.holder, request.version, [...keys]);
  return {
    fsck,
    tip,
    nodes: part,
    rows: tables.objects.locate(all),
    bases: all.difference(numbers).encode(),
    chunks,
    vetted: tables.vetted.among(numbers),
    pointers,
    lfs,
    isPart: part.length < missing.count(),
  };
}

/** The ancestors of a commit that are not ancestors of others. */
function findMissing({ graph, objects }: Tables, tip: Oid, haves: Uint8Array): PositionSet {
  const [number] = objects.lookupMany(tip).number;
  const had = Array.from(objects.lookupMany(haves).number, (have) => (have === 0 ? -1 : graph.position(have)));
  return graph
    .ancestors([graph.position(number!)])
    .difference(graph.ancestors(had.filter((position) => position >= 0)));
}

/** The first of some nodes, parents first. */
function takePart({ platform }: RepositoryState, { graph, objects }: Tables, missing: PositionSet): SharedNode[] {
  const positions: GraphPosition[] = [];
  const some: PositionSet = new Bitset(graph.length);
  for (const position of missing) {
    if (positions.push(position) > MAX_NODES) break;
    some.add(position);
  }
  const stored = new Map(Array.from(openNodes(platform.sql).read(graph.numbers(some)), (node) => [node.number, node]));
  const oids = readOids(objects, graph, positions);
  const nodes: SharedNode[] = [];
  let count = 0;
  for (const position of positions.slice(0, MAX_NODES)) {
    const { number, time, introduced } = stored.get(graph.number(position))!;
    count += NumberSet.decode(introduced).size;
    if (count > MAX_OBJECTS && nodes.length > 0) break;
    const parents = concatOids(Array.from(graph.parents(position), (parent) => oids.get(graph.number(parent))!));
    nodes.push({ number, parents, tree: oids.get(graph.tree(position))!, time, introduced: introduced.slice() });
  }
  return nodes;
}

/** The ids of the parents and trees of some nodes, by number. */
function readOids(
  objects: Tables["objects"],
  graph: Tables["graph"],
  positions: readonly GraphPosition[],
): Map<ObjectNumber, Oid> {
  const named = positions.flatMap((position) => [
    graph.tree(position),
    ...Array.from(graph.parents(position), (parent) => graph.number(parent)),
  ]);
  const { number, oid } = objects.locate(NumberSet.fromUnsorted(named));
  return new Map(Array.from(number, (n, i) => [n, oid.slice(i * OID_BYTES, (i + 1) * OID_BYTES)]));
}

/** @see FamilyMember.beginFork */
export function beginFork(
  repository: RepositoryState,
  holder: string,
  version: number,
): Awaited<ReturnType<FamilyMember["beginFork"]>> {
  const { tables, fsck, layout, platform } = repository;
  if (tables === null) return "missing";
  const own = `${repository.key}/`;
  const keys = Array.from(tables.chunks.keys()).filter((key) => key.startsWith(own));
  if (!setPin(repository, holder, version, keys)) return "overtaken";
  // Nothing comes between the pin and the first part.
  const first = readPart(platform.sql, FIRST_PLACE);
  return { schema: SCHEMA_VERSION, fsck, refs: tables.refs.all(), head: tables.refs.head(), first, layout };
}

/** @see FamilyMember.readForkPart */
export function readForkPart(repository: RepositoryState, layout: string, place: CopyPlace): CopyPart | null {
  const { tables, platform } = repository;
  return tables === null || repository.layout !== layout ? null : readPart(platform.sql, place);
}
