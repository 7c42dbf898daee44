import type { ObjectFilter } from "../../format/filter.ts";
import type { Oid } from "../../format/oid.ts";
import type { StoredBundle } from "../../store/jobs/bundle-table.ts";
import type { RefColumns } from "../../store/refs/refs.ts";
import type { PackPlan } from "../pack/pack-plan.ts";

/** The refs of a repository at one moment. */
export interface RefList extends RefColumns {
  /** What HEAD points at, and the id there: null while that branch is unborn. Null: there is no HEAD. */
  readonly head: { readonly target: string; readonly oid: Oid | null } | null;
}

/** When the pack follows in the response to a request. */
export type PackCondition =
  /** At once: the client said `done`, or has nothing to negotiate with. */
  | "done"
  /** As soon as the server is ready (protocol v2). */
  | "ready"
  /** When an `ACK … ready` line is due (protocol v0 with `no-done`). */
  | "ready-line"
  /** Not yet: the client wants to say `done` itself. */
  | "never";

/** How a client wants its history cut. */
export type Deepen =
  /** So many commits from the wants; `INFINITE_DEPTH`: all of them. */
  | { readonly kind: "depth"; readonly depth: number }
  /** So many commits more than the client has, from its shallow commits on. */
  | { readonly kind: "relative"; readonly depth: number }
  /** Commits not older than `since` (seconds), and not reachable from the refs `not` (names, as the client wrote them). */
  | { readonly kind: "revisions"; readonly since: number | null; readonly not: string[] };

/** The depth by which clients ask for the whole history. @see git's shallow.h */
export const INFINITE_DEPTH = 0x7fff_ffff;

/** What a client asks for; ids are packed, 20 bytes each. */
export interface FetchRequest {
  readonly wants: Uint8Array;
  /** Names of refs that are wanted wherever they are now (`want-ref`), byte strings. */
  readonly wantRefs: string[];
  readonly haves: Uint8Array;
  /** The client's shallow commits: it has them, and none of their parents. */
  readonly shallows: Uint8Array;
  /** Null: the client's history stays as deep as it is. */
  readonly deepen: Deepen | null;
  /** Null: everything comes. */
  readonly filter: ObjectFilter | null;
  readonly packWhen: PackCondition;
  /** Deltas may refer to objects that the client has. */
  readonly thinPack: boolean;
  /** Deltas may name their base by its distance. */
  readonly ofsDelta: boolean;
  /** Annotated tags come along with the objects they point at. */
  readonly includeTag: boolean;
  /** What the response's bytes depend on besides: names protocol and framing, so that stored responses are not mixed up. */
  readonly framing: string;
}

/** How far the two sides are, as the server sees it. */
export interface Negotiation {
  /** One byte per have: 1 when the repository holds the object. */
  readonly common: Uint8Array;
  /** How many of the haves, in their order, it takes until the server is ready: until each wanted commit has, among itself and its
   * ancestors, a common commit or the parent of one. 0: all of them do not suffice. */
  readonly readyAfter: number;
}

/** How the client's history will be cut once it has the pack; ids are packed. */
export interface ShallowUpdate {
  /** Become shallow: their parents do not come. */
  readonly shallow: Uint8Array;
  /** Are shallow no longer: their parents come. */
  readonly unshallow: Uint8Array;
}

/** Where a wanted ref is. */
export interface WantedRef {
  readonly name: string;
  readonly oid: Oid;
}

/** The answer to a `FetchRequest`. */
export type FetchOutcome =
  | { readonly kind: "unknown-repository" }
  /** A wanted object that no ref leads to; hex. */
  | { readonly kind: "not-our-ref"; readonly oid: string }
  /** The request asks for what cannot be: an unknown ref, a depth that leaves nothing; words for the client, byte string. */
  | { readonly kind: "refused"; readonly message: string }
  | {
      readonly kind: "negotiated";
      readonly negotiation: Negotiation;
      /** Null: the client did not ask for another depth. */
      readonly shallowUpdate: ShallowUpdate | null;
      readonly wantedRefs: readonly WantedRef[];
      /** Null: not yet. */
      readonly pack: PackDelivery | null;
      /** Rows of its tables that the repository read meanwhile. */
      readonly rowsRead: number;
    };

/** Where the pack of a response comes from. */
export type PackDelivery =
  | PlannedPack
  /** To be made for this client, and once more into this R2 object, as the whole body of the response: other requests may be waiting
   * for `FetchSource.finishResponse`. */
  | { readonly kind: "store"; readonly plan: PackPlan; readonly objectKey: string; readonly responseKey: string }
  /** Being made into this R2 object for an equal request that came shortly before: `FetchSource.awaitResponse` tells when it is there. */
  | { readonly kind: "awaited"; readonly objectKey: string }
  | StoredPack;

/** To be made for this client alone. */
export interface PlannedPack {
  readonly kind: "plan";
  readonly plan: PackPlan;
  /** Tells equal responses by, hex; null: an equal one would not be stored. */
  readonly responseKey: string | null;
}

/** Already made: the whole body of the response lies in an R2 object. */
export interface StoredPack {
  readonly kind: "stored";
  /** Whether it was there, or was made for an equal request that came shortly before. */
  readonly cache: "hit" | "shared";
  readonly objectKey: string;
  readonly sizeBytes: number;
  /** Objects in the pack. */
  readonly objectCount: number;
}

/** What serving a fetch needs of a repository, wherever that lives. All values survive structured cloning: the port is
 * satisfied by the stub of a Durable Object, and each HTTP request costs one call. */
export interface FetchSource {
  /** Lists refs. @param prefixes byte strings; only refs that begin with one of them, all when there are none
   * @returns null when there is no such repository */
  refs(prefixes: string[]): Promise<RefList | null>;
  /** Negotiates and, when it is time, plans the pack. */
  fetch(request: FetchRequest): Promise<FetchOutcome>;
  /** Tells how storing a response went, which `fetch` asked for.
   * @param sizeBytes null: it failed, or its bytes are not there any more */
  finishResponse(objectKey: string, sizeBytes: number | null): Promise<void>;
  /** Waits for a response that `fetch` said is being stored.
   * @returns what it has become: a plan, when storing it failed or takes too long; null: nothing is known of it */
  awaitResponse(objectKey: string): Promise<PlannedPack | StoredPack | null>;
  /** Bytes of objects.
   * @param oids packed
   * @returns one size per id, -1 for an object that no ref leads to; null: there is no such repository */
  sizes(oids: Uint8Array): Promise<Float64Array | null>;
  /** The bundles that a clone may begin with; null: there is no such repository. */
  bundles(): Promise<StoredBundle[] | null>;
}
