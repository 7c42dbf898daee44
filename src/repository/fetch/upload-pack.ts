import { createHash } from "node:crypto";
import type { ObjectFilter } from "../../format/filter.ts";
import { isGitError } from "../../format/errors.ts";
import { concatOids, OID_BYTES, toHex } from "../../format/oid.ts";
import { COMMIT, TAG } from "../../format/object.ts";
import { parseSparsePatterns, type SparsePatterns } from "../../format/sparse-patterns.ts";
import type { ChunkTable } from "../../store/index/chunk-table.ts";
import type { CommitGraph } from "../../store/graph/commit-graph.ts";
import { NumberSet } from "../../store/numbers/number-set.ts";
import type { Lookup, ObjectIndex } from "../../store/index/object-index.ts";
import type { Reachability } from "../../store/graph/reachability.ts";
import type { AdvertisedRefs } from "../state/advertised-refs.ts";
import { findBlob } from "./blob-name.ts";
import type { FetchOutcome, FetchRequest, RefList, ShallowUpdate, WantedRef } from "../state/fetch-source.ts";
import { negotiate, sendsPack } from "./negotiate.ts";
import type { ObjectReader } from "../objects/object-reader.ts";
import { ObjectSelection } from "./object-selection.ts";
import { listSparseBlobs, toPackFilter } from "./pack-filter.ts";
import { checkPlanSize, type PackPlan } from "../pack/pack-plan.ts";
import { planPack } from "../pack/pack-planner.ts";
import type { ResponseCache } from "./response-cache.ts";
import { findBoundary, type ShallowBoundary } from "./shallow.ts";
import { TagPeeling } from "../objects/tag-peeling.ts";

/** Counts how often it has changed what is answered to one and the same request: what was stored before is not found any more. */
const ANSWERS = 2;

/** A `FetchOutcome`, its cost not yet known. */
export type FetchAnswer =
  | Exclude<FetchOutcome, { kind: "negotiated" | "unknown-repository" }>
  | Omit<Extract<FetchOutcome, { kind: "negotiated" }>, "rowsRead">;

/** What a repository answers fetches from. */
export interface FetchStores {
  readonly advertised: AdvertisedRefs;
  readonly objects: ObjectIndex;
  readonly graph: CommitGraph;
  readonly reachability: Reachability;
  readonly chunks: ChunkTable;
  readonly reader: ObjectReader;
  /** Shares packs among equal requests. */
  readonly responses: { deliver: ResponseCache["deliver"] };
}

/** The sparse-checkout files that a filter names: their object numbers and what they say. */
type Patterns = Map<string, { readonly number: number; readonly list: SparsePatterns }>;

/** A request whose ids are looked up. */
interface Asked {
  readonly request: FetchRequest;
  /** Object numbers of all that is wanted. */
  readonly wants: readonly number[];
  /** Positions of those that are nodes of the graph. */
  readonly nodes: readonly number[];
  /** What is wanted, and what its tags lead to, but for trees and blobs. */
  readonly given: NumberSet;
  /** Positions of the tags among these that lead to a tree or a blob. */
  readonly tags: readonly number[];
  /** The commits that these lead to, tags peeled. */
  readonly commits: readonly number[];
  readonly haves: Lookup;
  readonly wantedRefs: readonly WantedRef[];
}

/** Answers fetches from a repository that exists. It reads tables; stored bytes only where a history is cut, or a filter asks
 * where in a tree an object is, and then only trees. */
export class UploadPack {
  readonly #stores: FetchStores;

  constructor(stores: FetchStores) {
    this.#stores = stores;
  }

  /** Lists refs. @see FetchSource.refs */
  refs(prefixes: readonly string[]): RefList {
    const { advertised } = this.#stores;
    return { head: advertised.head, ...advertised.withPrefixes(prefixes) };
  }

  /** Reads sizes. @see FetchSource.sizes */
  sizes(oids: Uint8Array): Float64Array {
    const { objects } = this.#stores;
    const { number, size } = objects.lookupMany(oids);
    const granted = this.#findGranted(number);
    return Float64Array.from(number, (wanted, i) => (granted.has(wanted) ? size[i]! : -1));
  }

  /** Negotiates, and plans the pack when it is time.
   * @throws GitError "storage-failed" when the tables contradict one another, or a tree cannot be read */
  async fetch(request: FetchRequest): Promise<FetchAnswer> {
    try {
      return await this.#fetch(request);
    } catch (error) {
      // What to send cannot be found out at a bearable cost.
      if (isGitError(error, "too-large")) return { kind: "refused", message: error.message };
      throw error;
    }
  }

  async #fetch(request: FetchRequest): Promise<FetchAnswer> {
    const wantedRefs = this.#findWantedRefs(request.wantRefs);
    if (typeof wantedRefs === "string") return { kind: "refused", message: wantedRefs };
    const oids = concatOids([request.wants, ...wantedRefs.map(({ oid }) => oid)]);
    const { number } = this.#stores.objects.lookupMany(oids);
    const granted = this.#findGranted(number);
    const refused = number.findIndex((wanted) => !granted.has(wanted));
    if (refused >= 0) return { kind: "not-our-ref", oid: toHex(oids, refused * OID_BYTES) };
    return this.#answer(this.#locate(request, [...number], wantedRefs));
  }

  async #answer(asked: Asked): Promise<FetchAnswer> {
    const { request, commits, haves, wantedRefs } = asked;
    const negotiation = negotiate(this.#stores.graph, commits, haves);
    if (!sendsPack(negotiation, request.packWhen) && request.deepen === null) {
      return { kind: "negotiated", negotiation, shallowUpdate: null, wantedRefs, pack: null };
    }
    const boundary = this.#findBoundary(asked);
    if (typeof boundary === "string") return { kind: "refused", message: boundary };
    const shallowUpdate = request.deepen === null ? null : this.#toShallowUpdate(boundary);
    if (!sendsPack(negotiation, request.packWhen)) {
      return { kind: "negotiated", negotiation, shallowUpdate, wantedRefs, pack: null };
    }
    const patterns = await this.#readPatterns(request.filter);
    if (typeof patterns === "string") return { kind: "refused", message: patterns };
    const key = this.#digest(asked, boundary, patterns);
    const pack = await this.#stores.responses.deliver(key, () => this.#plan(asked, boundary, patterns));
    return { kind: "negotiated", negotiation, shallowUpdate, wantedRefs, pack };
  }

  /** Finds the refs that are wanted by name, or says why not. @see git's upload-pack.c: parse_want_ref() */
  #findWantedRefs(names: readonly string[]): WantedRef[] | string {
    const found: WantedRef[] = [];
    for (const name of names) {
      const oid = this.#stores.advertised.find(name);
      if (oid === null) return `unknown ref ${name}`;
      found.push({ name, oid });
    }
    return found;
  }

  /** Those among some objects that a ref leads to. */
  #findGranted(numbers: Uint32Array): NumberSet {
    const { reachability, advertised } = this.#stores;
    return reachability.within(NumberSet.fromUnsorted(numbers.filter((number) => number !== 0)), advertised.reachable);
  }

  #locate(request: FetchRequest, wants: readonly number[], wantedRefs: readonly WantedRef[]): Asked {
    const { objects, graph } = this.#stores;
    const nodes = wants.map((number) => graph.position(number)).filter((position) => position >= 0);
    const peeling = new TagPeeling(graph);
    const peeled = nodes.map((position) => peeling.endOf(position));
    const passed = Array.from(peeling.passed, (position) => graph.number(position));
    const ends = objects.locate(NumberSet.fromUnsorted(peeled.map((position) => graph.number(position))));
    const commits = ends.number.filter((_, i) => ends.type[i] === COMMIT);
    const tags = ends.number.filter((_, i) => ends.type[i] === TAG);
    return {
      request,
      wants,
      nodes,
      given: NumberSet.fromUnsorted([...wants, ...passed, ...commits, ...tags]),
      tags: Array.from(tags, (number) => graph.position(number)),
      commits: Array.from(commits, (number) => graph.position(number)),
      haves: objects.lookupMany(request.haves),
      wantedRefs,
    };
  }

  /** Finds where the client's history is cut, or says why it cannot be. */
  #findBoundary({ request: { deepen, shallows }, commits }: Asked): ShallowBoundary | string {
    const { objects, graph, advertised } = this.#stores;
    const known = objects.lookupMany(shallows);
    const isCommit = (_: number, i: number): boolean => known.type[i] === COMMIT;
    const start = {
      wants: commits,
      shallows: Array.from(new Set(known.number.filter(isCommit)), (number) => graph.position(number)),
      reachable: advertised.reachable,
      not: [] as number[],
    };
    for (const name of deepen?.kind === "revisions" ? deepen.not : []) {
      const [oid, ...others] = advertised.expand(name);
      if (oid === undefined || others.length > 0) return `git upload-pack: deepen-not is not a ref: ${name}`;
      start.not.push(this.#positionOf(oid));
    }
    return findBoundary(graph, deepen, start) ?? "no commits selected for shallow requests";
  }

  #positionOf(oid: string): number {
    const { objects, graph } = this.#stores;
    return graph.position(objects.lookupMany(Uint8Array.fromHex(oid)).number[0]!);
  }

  #toShallowUpdate({ shallow, unshallow }: ShallowBoundary): ShallowUpdate {
    const { objects, graph } = this.#stores;
    const oids = (positions: readonly number[]): Uint8Array =>
      objects.locate(NumberSet.fromUnsorted(positions.map((position) => graph.number(position)))).oid;
    return { shallow: oids(shallow), unshallow: oids(unshallow) };
  }

  /** SHA-1 of all that the response depends on, by ids and object numbers: what is equal here is answered equally. */
  #digest({ request, wants, wantedRefs, haves }: Asked, boundary: ShallowBoundary, patterns: Patterns): Uint8Array {
    const { graph, advertised } = this.#stores;
    const numbers = (positions: Iterable<number>): number[] => Array.from(positions, (at) => graph.number(at));
    const facts = JSON.stringify({
      answers: ANSWERS,
      wants: wants.toSorted((a, b) => a - b),
      wantedRefs: wantedRefs.map(({ name, oid }) => [name, toHex(oid)]),
      found: [...haves.number],
      boundary: [boundary.before, boundary.after, boundary.shallow, boundary.unshallow].map(numbers),
      filter: request.filter,
      patterns: [...patterns].map(([name, { number }]) => [name, number]),
      options: [
        request.deepen !== null,
        request.shallows.length,
        request.packWhen,
        request.thinPack,
        request.ofsDelta,
        request.includeTag,
        request.framing,
      ],
      haves: request.haves.length,
    });
    // Haves in the client's order, and with those that are not here: the acknowledgments are part of the response.
    const hash = createHash("sha1").update(`${facts}\n`).update(request.haves);
    if (request.includeTag) hash.update(advertised.listAnnotatedTags().tags);
    return new Uint8Array(hash.digest());
  }

  async #plan(
    { request, wants, nodes, given, tags, haves }: Asked,
    { before, after, unshallow }: ShallowBoundary,
    patterns: Patterns,
  ): Promise<PackPlan> {
    const { graph, objects, chunks, reader } = this.#stores;
    const named = Array.from(haves.number, (number) => (number === 0 ? -1 : graph.position(number)));
    // Git's server takes what is shallow no longer as had, too. But a client may be told of shallow commits that it does not get: one
    // with a parent kept and another left out ends the history, and the kept parent may be shallow itself.
    const had = named.filter((position) => position >= 0);
    const selection = await new ObjectSelection(this.#stores, reader).select({
      // A commit that is shallow no longer brings its parents, wherever the wants lead.
      wanted: graph.ancestors([...nodes, ...unshallow], after),
      had: graph.ancestors(had, before),
      hadBorder: before,
      ungraphed: NumberSet.fromUnsorted(wants.filter((number) => graph.position(number) < 0)),
      given,
      tags,
      filter: toPackFilter(request.filter, new Map(Array.from(patterns, ([name, { list }]) => [name, list]))),
    });
    const wanted = selection.objects;
    const plan = planPack(objects, chunks, {
      objects: request.includeTag ? wanted.union(this.#tagsOf(wanted)) : wanted,
      findHad: request.thinPack && had.length > 0 ? selection.findHad : null,
      ofsDelta: request.ofsDelta,
    });
    checkPlanSize(plan);
    return plan;
  }

  /** Reads the patterns that a filter names, or says what is wrong with them. */
  async #readPatterns(filter: ObjectFilter | null): Promise<Patterns | string> {
    const { reader } = this.#stores;
    const patterns: Patterns = new Map();
    for (const name of listSparseBlobs(filter)) {
      const number = await findBlob(this.#stores, name);
      if (number === null || !this.#findGranted(Uint32Array.of(number)).has(number)) {
        return `unable to access sparse blob in '${name}'`;
      }
      try {
        patterns.set(name, { number, list: parseSparsePatterns((await reader.read(number)).bytes) });
      } catch (error) {
        if (!isGitError(error, "too-large")) throw error;
        return `unable to parse sparse filter data in ${name}: ${error.message}`;
      }
    }
    return patterns;
  }

  /** The annotated tags that refs name and that lead to an object among `sent`, with the tags on their way to it.
   * @see git's builtin/pack-objects.c: add_ref_tag() */
  #tagsOf(sent: NumberSet): NumberSet {
    const { advertised, objects, graph } = this.#stores;
    const { tags, targets } = advertised.listAnnotatedTags();
    const targetNumbers = objects.lookupMany(targets).number;
    const added = new Set<number>();
    objects.lookupMany(tags).number.forEach((number, i) => {
      if (!sent.has(targetNumbers[i]!)) return;
      // What was added brought all that it leads to.
      for (let tag = number; !added.has(tag) && !sent.has(tag);) {
        added.add(tag);
        const [next] = graph.parents(graph.position(tag));
        if (next === undefined) break;
        tag = graph.number(next);
      }
    });
    return NumberSet.fromUnsorted(added);
  }
}
