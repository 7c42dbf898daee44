import { isNullOid, OID_BYTES, toHex } from "../format/oid.ts";
import { toTypeNumber } from "../format/object.ts";
import type { Bitset } from "../store/bitset.ts";
import type { ChunkTable } from "../store/chunk-table.ts";
import type { CommitGraph } from "../store/commit-graph.ts";
import { NumberSet } from "../store/number-set.ts";
import type { Lookup, ObjectIndex } from "../store/object-index.ts";
import type { Reachability } from "../store/reachability.ts";
import type { RefStore } from "../store/refs.ts";
import type { FetchOutcome, FetchRequest, RefList } from "./fetch-source.ts";
import { negotiate, sendsPack } from "./negotiate.ts";
import type { PackPlan } from "./pack-plan.ts";
import { planPack } from "./pack-planner.ts";

/** The tables of a repository that fetching reads. */
export interface FetchStores {
  readonly refs: RefStore;
  readonly objects: ObjectIndex;
  readonly graph: CommitGraph;
  readonly reachability: Reachability;
  readonly chunks: ChunkTable;
}

/** Answers fetches from a repository that exists; it reads tables only, never stored bytes. */
export class UploadPack {
  readonly #stores: FetchStores;

  constructor(stores: FetchStores) {
    this.#stores = stores;
  }

  /** Lists refs. @see FetchSource.refs */
  refs(prefixes: readonly string[]): RefList {
    const { refs } = this.#stores;
    const target = refs.head();
    const head = target === null ? null : { target, oid: refs.get(target)?.oid ?? null };
    return { head, ...(prefixes.length === 0 ? refs.all() : refs.withPrefixes(prefixes)) };
  }

  /** Negotiates, and plans the pack when it is time.
   * @throws GitError "storage-failed" when the tables contradict one another */
  fetch(request: FetchRequest): FetchOutcome {
    const { objects, graph } = this.#stores;
    const wants = objects.lookupMany(request.wants);
    const refused = this.#findRefused(wants);
    if (refused >= 0) return { kind: "not-our-ref", oid: toHex(request.wants, refused * OID_BYTES) };
    const positions = Array.from(wants.number, (number) => graph.position(number));
    const haves = objects.lookupMany(request.haves);
    const negotiation = negotiate(graph, this.#commitsOf(positions), haves);
    const plan = sendsPack(negotiation, request.packWhen) ? this.#plan(request, positions, haves) : null;
    return { kind: "negotiated", negotiation, shallowUpdate: null, wantedRefs: [], plan };
  }

  /** Reads sizes. @see FetchSource.sizes */
  sizes(oids: Uint8Array): Float64Array {
    const { objects, reachability } = this.#stores;
    const { number } = objects.lookupMany(oids);
    const found = NumberSet.fromSorted(number.filter((n) => n !== 0).sort());
    const granted = reachability.within(found, this.#reachableNodes());
    const rows = objects.locate(granted);
    const sizes = new Map(Array.from(rows.number, (n, i) => [n, rows.size[i]!]));
    return Float64Array.from(number, (n) => sizes.get(n) ?? -1);
  }

  /** The index of the first want that no ref leads to, -1 when there is none. */
  #findRefused({ number }: Lookup): number {
    const { reachability } = this.#stores;
    const found = NumberSet.fromSorted(number.filter((wanted) => wanted !== 0).sort());
    const granted = reachability.within(found, this.#reachableNodes());
    return number.findIndex((wanted) => !granted.has(wanted) || this.#stores.graph.position(wanted) < 0);
  }

  /** Every node that a ref leads to. */
  #reachableNodes(): Bitset {
    const { refs, objects, graph } = this.#stores;
    const tips = objects.lookupMany(refs.all().oids).number;
    return graph.ancestors(Array.from(tips, (tip) => graph.position(tip)));
  }

  /** The commits among nodes, tags peeled. */
  #commitsOf(positions: readonly number[]): number[] {
    const { objects, graph } = this.#stores;
    const peeled = positions.map((position) => {
      let at = position;
      // Only tags of commits and of tags have parents and no tree.
      while (graph.tree(at) === 0 && graph.parents(at).length > 0) at = graph.parents(at)[0]!;
      return at;
    });
    const rows = objects.locate(NumberSet.fromSorted(Uint32Array.from(peeled, (at) => graph.number(at)).sort()));
    const isCommit = (_: number, i: number): boolean => rows.type[i] === toTypeNumber("commit");
    return Array.from(rows.number.filter(isCommit), (number) => graph.position(number));
  }

  #plan(request: FetchRequest, wants: readonly number[], haves: Lookup): PackPlan {
    const { graph, reachability, objects, chunks } = this.#stores;
    const havePositions = Array.from(haves.number, (number) => (number === 0 ? -1 : graph.position(number)));
    const had = graph.ancestors(havePositions.filter((position) => position >= 0));
    const wanted = reachability.between(graph.ancestors(wants), had);
    return planPack(objects, chunks, {
      objects: request.includeTag ? wanted.union(this.#tagsOf(wanted)) : wanted,
      findHad: request.thinPack && havePositions.length > 0 ? (bases) => reachability.within(bases, had) : null,
      ofsDelta: request.ofsDelta,
    });
  }

  /** The annotated tags that refs name and that lead to an object among `sent`, with the tags on their way to it.
   * @see git's builtin/pack-objects.c: add_ref_tag() */
  #tagsOf(sent: NumberSet): NumberSet {
    const { refs, objects, graph } = this.#stores;
    const { oids, peeled } = refs.all();
    const tags: Uint8Array[] = [];
    const targets: Uint8Array[] = [];
    for (let at = 0; at < oids.length; at += OID_BYTES) {
      const target = peeled.subarray(at, at + OID_BYTES);
      if (isNullOid(target)) continue;
      tags.push(oids.subarray(at, at + OID_BYTES));
      targets.push(target);
    }
    const isSent = Array.from(objects.lookupMany(concatOids(targets)).number, (number) => sent.has(number));
    const added: number[] = [];
    for (const number of objects.lookupMany(concatOids(tags.filter((_, i) => isSent[i]))).number) {
      let position = graph.position(number);
      while (position !== undefined && !sent.has(graph.number(position))) {
        added.push(graph.number(position));
        position = graph.parents(position)[0]!;
      }
    }
    return NumberSet.fromSorted(Uint32Array.from(added).sort());
  }
}

function concatOids(oids: readonly Uint8Array[]): Uint8Array {
  const packed = new Uint8Array(oids.length * OID_BYTES);
  oids.forEach((oid, i) => packed.set(oid, i * OID_BYTES));
  return packed;
}
