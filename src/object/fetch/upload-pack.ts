import type { CommitGraph } from "../store/graph/commit-graph.ts";
import type { GraphPosition, ObjectNumber } from "../../base/numbers/kinds.ts";
import type { ObjectIndex } from "../store/index/object-index.ts";
import { createHash } from "node:crypto";
import type { ObjectFilter } from "../../base/format/filter.ts";
import { isGitError } from "../../base/format/errors.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import { concatOids, OID_BYTES, toHex } from "../../base/format/oid.ts";
import type { AdvertisedRefs } from "../state/advertised-refs.ts";
import { COMMIT, TAG } from "../../base/format/object.ts";
import { parseSparsePatterns, type SparsePatterns } from "../../base/format/sparse-patterns.ts";
import type { ChunkTable } from "../store/index/chunk-table.ts";
import type { Lookup } from "../store/index/object-columns.ts";
import type { Reachability } from "../store/graph/reachability.ts";
import { findBlob } from "./blob-name.ts";
import type { FetchOutcome, FetchRequest, RefList, ShallowUpdate, WantedRef } from "../../contract/fetch.ts";
import { negotiate, sendsPack } from "./negotiate.ts";
import type { ObjectReader } from "../objects/object-reader.ts";
import { ObjectSelection } from "./object-selection.ts";
import { listSparseBlobs, toPackFilter } from "./pack-filter.ts";
import { checkPlanSize, type PackPlan } from "../../base/bytes/pack-plan.ts";
import { planPack } from "../pack/pack-planner.ts";
import type { ResponseCache } from "./response-cache.ts";
import { findBoundary, type ShallowBoundary } from "./shallow.ts";
import { TagPeeling } from "../objects/tag-peeling.ts";

/** Increase this when the response to the same request changes: responses stored before are then
 * not found any more. */
const ANSWERS = 2;

/** A `FetchOutcome` without its cost. */
type FetchAnswer =
  | Exclude<FetchOutcome, { kind: "negotiated" | "unknown-repository" }>
  | Omit<Extract<FetchOutcome, { kind: "negotiated" }>, "rowsRead">;

/** What fetches need from a repository. */
interface FetchStores {
  readonly advertised: AdvertisedRefs;
  readonly objects: ObjectIndex;
  readonly graph: CommitGraph;
  readonly reachability: Reachability;
  readonly chunks: ChunkTable;
  readonly reader: ObjectReader;
  /** Shares packs among equal requests. */
  readonly responses: { deliver: ResponseCache["deliver"] };
}

/** The sparse-checkout files that a filter names: their object numbers and parsed patterns. */
type Patterns = Map<string, { readonly number: number; readonly list: SparsePatterns }>;

/** A request with its ids looked up. */
interface Asked {
  readonly request: FetchRequest;
  /** Object numbers of the wants. */
  readonly wants: readonly ObjectNumber[];
  /** Positions of those that are nodes of the graph. */
  readonly nodes: readonly GraphPosition[];
  /** The wants and what their tags point to, without trees and blobs. */
  readonly given: NumberSet;
  /** Positions of the tags among them that point to a tree or a blob. */
  readonly tags: readonly GraphPosition[];
  /** The positions of the commits that these point to, tags peeled. */
  readonly commits: readonly GraphPosition[];
  readonly haves: Lookup;
  readonly wantedRefs: readonly WantedRef[];
}

/** Serves fetches from an existing repository. It reads tables. Stored bytes are read only for a
 * shallow history, or a filter that depends on paths, and then only trees. */
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
   * @throws GitError "storage-failed" when the tables contradict one another, or a tree cannot be
   * read */
  async fetch(request: FetchRequest): Promise<FetchAnswer> {
    try {
      return await this.#fetch(request);
    } catch (error) {
      // Finding what to send would cost too much.
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

  /** Finds the refs that are wanted by name, or returns an error message. @see git's upload-pack.c:
   * parse_want_ref() */
  #findWantedRefs(names: readonly string[]): WantedRef[] | string {
    const oids = this.#stores.advertised.findMany(names);
    const unknown = oids.indexOf(null);
    return unknown >= 0 ? `unknown ref ${names[unknown]}` : names.map((name, i) => ({ name, oid: oids[i]! }));
  }

  /** The objects among these that a ref reaches. */
  #findGranted(numbers: Uint32Array): NumberSet {
    const { advertised } = this.#stores;
    const known = NumberSet.fromUnsorted(numbers.filter((number) => number !== 0));
    // Most clients want just what refs point at.
    const others = known.difference(advertised.tips);
    if (others.size === 0) return known;
    return known.difference(others).union(this.#stores.reachability.within(others, advertised.reachable));
  }

  #locate(request: FetchRequest, wants: readonly ObjectNumber[], wantedRefs: readonly WantedRef[]): Asked {
    const { objects, graph } = this.#stores;
    const nodes = wants.map((number) => graph.position(number)).filter((position) => position >= 0);
    const peeling = new TagPeeling(graph);
    const peeled = nodes.map((position) => peeling.endOf(position));
    const passed = Array.from(peeling.passed, (position) => graph.number(position));
    const ends = objects.locate(graph.numbers(peeled));
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

  /** Finds the client's new shallow boundary, or returns an error message. */
  #findBoundary({ request: { deepen, shallows }, commits }: Asked): ShallowBoundary | string {
    const { objects, graph, advertised } = this.#stores;
    const known = objects.lookupMany(shallows);
    const isCommit = (_: ObjectNumber, i: number): boolean => known.type[i] === COMMIT;
    const start = {
      wants: commits,
      shallows: Array.from(new Set(known.number.filter(isCommit)), (number) => graph.position(number)),
      reachable: advertised.reachable,
      not: [] as GraphPosition[],
    };
    for (const name of deepen?.kind === "revisions" ? deepen.not : []) {
      const [oid, ...others] = advertised.expand(name);
      if (oid === undefined || others.length > 0) return `git upload-pack: deepen-not is not a ref: ${name}`;
      start.not.push(this.#positionOf(oid));
    }
    return findBoundary(graph, deepen, start) ?? "no commits selected for shallow requests";
  }

  #positionOf(oid: string): GraphPosition {
    const { objects, graph } = this.#stores;
    return graph.position(objects.lookupMany(Uint8Array.fromHex(oid)).number[0]!);
  }

  #toShallowUpdate({ shallow, unshallow }: ShallowBoundary): ShallowUpdate {
    const { objects, graph } = this.#stores;
    const oids = (positions: readonly GraphPosition[]): Uint8Array => objects.locate(graph.numbers(positions)).oid;
    return { shallow: oids(shallow), unshallow: oids(unshallow) };
  }

  /** SHA-1 of everything that determines the response, by ids and object numbers: equal hashes mean
   * equal responses. */
  #digest({ request, wants, wantedRefs, haves }: Asked, boundary: ShallowBoundary, patterns: Patterns): Uint8Array {
    const { graph, advertised } = this.#stores;
    const numbers = (positions: Iterable<GraphPosition>): ObjectNumber[] =>
      Array.from(positions, (at) => graph.number(at));
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
    // Haves in the client's order, including unknown ones: the response contains the
    // acknowledgments.
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
    const named = Array.from(haves.number, (number): GraphPosition => (number === 0 ? -1 : graph.position(number)));
    // Git's server also counts commits that are no longer shallow as had. But a client may be told
    // of shallow commits that it does not get: a commit with one parent kept and another left out
    // is at the boundary, and the kept parent may be shallow itself.
    const had = named.filter((position) => position >= 0);
    const selection = await new ObjectSelection(this.#stores, reader).select({
      // A commit that is no longer shallow brings its parents, whatever the wants reach.
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
      objects: request.includeTag ? wanted.union(tagsOf(this.#stores, wanted)) : wanted,
      findHad: request.thinPack && had.length > 0 ? selection.findHad : null,
      ofsDelta: request.ofsDelta,
    });
    checkPlanSize(plan);
    return plan;
  }

  /** Reads the patterns that a filter names, or returns an error message. */
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
}

interface TagStores {
  readonly advertised: AdvertisedRefs;
  readonly objects: ObjectIndex;
  readonly graph: CommitGraph;
}

/** The annotated tags of refs whose target is among `sent`, with any tags in between.
 * @see git's builtin/pack-objects.c: add_ref_tag() */
function tagsOf({ advertised, objects, graph }: TagStores, sent: NumberSet): NumberSet {
  const { tags, targets } = advertised.listAnnotatedTags();
  const targetNumbers = objects.lookupMany(targets).number;
  const added = new Set<ObjectNumber>();
  objects.lookupMany(tags).number.forEach((number, i) => {
    if (!sent.has(targetNumbers[i]!)) return;
    // An added tag has already brought what it points to.
    for (let tag = number; !added.has(tag) && !sent.has(tag);) {
      added.add(tag);
      const [next] = graph.parents(graph.position(tag));
      if (next === undefined) break;
      tag = graph.number(next);
    }
  });
  return NumberSet.fromUnsorted(added);
}
