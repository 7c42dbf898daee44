import type { PositionSet, CommitGraph } from "../store/graph/commit-graph.ts";
import { OID_BYTES, type Oid, toHex } from "../../base/format/oid.ts";
import type { ObjectIndex } from "../store/index/object-index.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { RefColumns } from "../../contract/refs.ts";
import type { RefStore } from "../store/refs/refs.ts";
import type { RefList } from "../../contract/fetch.ts";

/** Prefixes that are tried for a short ref name, in order.
 * @see gitrevisions(7) */
export const LOOKED_FOR = ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];

/** Number of refs up to which each is looked up singly. For more, all refs are read, as most
 * fetches do anyway. */
const FEW_NAMES = 16;

/** The refs between two pushes, and the nodes that they reach: read once for all fetches in
 * between. */
export class AdvertisedRefs {
  readonly #refs: RefStore;
  /** Tables of the repository. The graph is read on first use. */
  readonly #stores: { objects: ObjectIndex; graph: CommitGraph };
  #all: RefColumns | null = null;
  #head: RefList["head"] | undefined;
  #tips: NumberSet | null = null;
  #reachable: PositionSet | null = null;

  constructor(stores: { refs: RefStore; objects: ObjectIndex; graph: CommitGraph }) {
    this.#refs = stores.refs;
    this.#stores = stores;
  }

  /** All refs. */
  get all(): RefColumns {
    return (this.#all ??= this.#refs.all());
  }

  /** @see RefList.head */
  get head(): RefList["head"] {
    if (this.#head === undefined) {
      const target = this.#refs.head();
      this.#head = target === null ? null : { target, oid: this.#refs.get(target)?.oid ?? null };
    }
    return this.#head;
  }

  /** Numbers of the objects that refs point to. */
  get tips(): NumberSet {
    return (this.#tips ??= NumberSet.fromUnsorted(this.#stores.objects.lookupMany(this.all.oids).number));
  }

  /** All graph nodes that a ref reaches. */
  get reachable(): PositionSet {
    if (this.#reachable === null) {
      const { graph } = this.#stores;
      this.#reachable = graph.ancestors(Array.from(this.tips.toArray(), (tip) => graph.position(tip)));
    }
    return this.#reachable;
  }

  /** Lists the refs that begin with one of the prefixes; all refs if there are no prefixes. */
  withPrefixes(prefixes: readonly string[]): RefColumns {
    return prefixes.length === 0 ? this.all : this.#refs.withPrefixes(prefixes);
  }

  /** Whether any ref's name begins with a prefix. */
  hasPrefix(prefix: string): boolean {
    const { names } = this.all;
    return names[lowerBound(names, prefix)]?.startsWith(prefix) === true;
  }

  /** Finds the id of a ref by its full name; null: there is no such ref. */
  find(name: string): Oid | null {
    return name === "HEAD" ? (this.head?.oid ?? null) : (this.#refs.get(name)?.oid ?? null);
  }

  /** As `find`, for many refs at once, in the order of the names. */
  findMany(names: readonly string[]): (Oid | null)[] {
    if (names.length <= FEW_NAMES) return names.map((name) => this.find(name));
    const { names: known, oids } = this.all;
    const rows = new Map(known.map((name, row) => [name, row]));
    return names.map((name) => {
      const row = rows.get(name);
      if (row === undefined) return name === "HEAD" ? this.find(name) : null;
      return oids.subarray(row * OID_BYTES, (row + 1) * OID_BYTES);
    });
  }

  /** Finds the ids that a possibly short name may mean: none, one, or several when it is
   * ambiguous. */
  expand(name: string): string[] {
    const found = LOOKED_FOR.map((prefix) => this.find(prefix + name)).filter((oid) => oid !== null);
    return found.map((oid) => toHex(oid));
  }

  /** Lists the annotated tags' ids and their targets. */
  listAnnotatedTags(): { tags: Uint8Array; targets: Uint8Array } {
    const { oids, peeled } = this.all;
    const tags = new Uint8Array(oids.length);
    const targets = new Uint8Array(oids.length);
    let end = 0;
    for (let at = 0; at < oids.length; at += OID_BYTES) {
      const target = peeled.subarray(at, at + OID_BYTES);
      if (target.every((byte) => byte === 0)) continue;
      tags.set(oids.subarray(at, at + OID_BYTES), end);
      targets.set(target, end);
      end += OID_BYTES;
    }
    return { tags: tags.slice(0, end), targets: targets.slice(0, end) };
  }
}

/** Finds the index of the first name that is not below another one.
 * @param names ascending */
export function lowerBound(names: readonly string[], than: string): number {
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (names[middle]! < than) low = middle + 1;
    else high = middle;
  }
  return low;
}
