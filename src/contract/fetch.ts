import type { ObjectFilter } from "../base/format/filter.ts";
import type { Oid } from "../base/format/oid.ts";
import type { PackPlan } from "../base/bytes/pack-plan.ts";
import type { RefColumns } from "./refs.ts";

/** The refs of a repository at one moment. */
export interface RefList extends RefColumns {
  /** HEAD's target, and the id there, null while that branch is unborn. Null: there is no HEAD. */
  readonly head: { readonly target: string; readonly oid: Oid | null } | null;
}

/** When the pack is part of the response to a request. */
export type PackCondition =
  /** At once: the client said `done`, or has nothing to negotiate with. */
  | "done"
  /** As soon as the server is ready (protocol v2). */
  | "ready"
  /** When an `ACK … ready` line is due (protocol v0 with `no-done`). */
  | "ready-line"
  /** Not yet: the client wants to say `done` itself. */
  | "never";

/** How a client limits its history. */
export type Deepen =
  /** The first commits from the wants; `INFINITE_DEPTH`: all of them. */
  | { readonly kind: "depth"; readonly depth: number }
  /** This many commits beyond the client's shallow boundary. */
  | { readonly kind: "relative"; readonly depth: number }
  /** Commits not older than `since` (seconds), and not reachable from the refs `not` (names, as the
   * client wrote them). */
  | { readonly kind: "revisions"; readonly since: number | null; readonly not: string[] };

/** The depth by which clients ask for the whole history. @see git's shallow.h */
export const INFINITE_DEPTH = 0x7fff_ffff;

/** A client's request; ids are packed, 20 bytes each. */
export interface FetchRequest {
  readonly wants: Uint8Array;
  /** Names of refs that are wanted at their current value (`want-ref`), byte strings. */
  readonly wantRefs: string[];
  readonly haves: Uint8Array;
  /** The client's shallow commits: it has them, but not their parents. */
  readonly shallows: Uint8Array;
  /** Null: the depth of the client's history stays as it is. */
  readonly deepen: Deepen | null;
  /** Null: everything is sent. */
  readonly filter: ObjectFilter | null;
  readonly packWhen: PackCondition;
  /** Deltas may refer to objects that the client has. */
  readonly thinPack: boolean;
  /** Deltas may name their base by its distance. */
  readonly ofsDelta: boolean;
  /** Annotated tags are sent along with the objects that they point to. */
  readonly includeTag: boolean;
  /** What else determines the response's bytes: the protocol and framing. Keeps stored responses
   * apart. */
  readonly framing: string;
}

/** The progress of the negotiation, as the server sees it. */
export interface Negotiation {
  /** One byte per have: 1 if the repository has the object. */
  readonly common: Uint8Array;
  /** How many of the haves, in order, make the server ready: each wanted commit has, among itself
   * and its ancestors, a common commit or the parent of one. 0: all of them are not enough. */
  readonly readyAfter: number;
}

/** How the client's shallow boundary changes with the pack; ids are packed. */
export interface ShallowUpdate {
  /** Commits that become shallow: their parents are not sent. */
  readonly shallow: Uint8Array;
  /** Commits that are no longer shallow: their parents are sent. */
  readonly unshallow: Uint8Array;
}

/** The current value of a wanted ref. */
export interface WantedRef {
  readonly name: string;
  readonly oid: Oid;
}

/** The response to a `FetchRequest`. */
export type FetchOutcome =
  | { readonly kind: "unknown-repository" }
  /** A wanted object that no ref reaches; hex. */
  | { readonly kind: "not-our-ref"; readonly oid: string }
  /** The request cannot be fulfilled: an unknown ref, a depth that leaves nothing. A message for
   * the client, byte string. */
  | { readonly kind: "refused"; readonly message: string }
  | {
      readonly kind: "negotiated";
      readonly negotiation: Negotiation;
      /** Null: the client did not ask for another depth. */
      readonly shallowUpdate: ShallowUpdate | null;
      readonly wantedRefs: readonly WantedRef[];
      /** Null: not yet. */
      readonly pack: PackDelivery | null;
      /** Rows of the repository's tables read for this. */
      readonly rowsRead: number;
    };

/** Where the pack of a response comes from. */
export type PackDelivery =
  | PlannedPack
  /** To be made for this client, and also written to this R2 object, as the whole body of the
   * response. Other requests may be waiting for `FetchSource.finishResponse`. */
  | { readonly kind: "store"; readonly plan: PackPlan; readonly objectKey: string; readonly responseKey: string }
  /** Being written to this R2 object for an equal request that came shortly before.
   * `FetchSource.awaitResponse` waits for it. */
  | { readonly kind: "awaited"; readonly objectKey: string }
  | StoredPack;

/** To be made for this client alone. */
export interface PlannedPack {
  readonly kind: "plan";
  readonly plan: PackPlan;
  /** Identifies equal responses, hex; null: an equal one would not be stored. */
  readonly responseKey: string | null;
}

/** Already made: the whole body of the response is an R2 object. */
export interface StoredPack {
  readonly kind: "stored";
  /** Whether it already existed, or was made for an equal request that came shortly before. */
  readonly cache: "hit" | "shared";
  readonly objectKey: string;
  readonly sizeBytes: number;
  /** Objects in the pack. */
  readonly objectCount: number;
}

/** What serving a fetch needs from a repository, wherever that is. All values can be cloned
 * structurally: the stub of a Durable Object implements this interface, and each HTTP request costs
 * one call. */
export interface FetchSource {
  /** Lists refs. @param prefixes byte strings; only refs that begin with one of them, all if there
   * are none
   * @returns null when there is no such repository */
  refs(prefixes: string[]): Promise<RefList | null>;
  /** Negotiates and, when it is time, plans the pack. */
  fetch(request: FetchRequest): Promise<FetchOutcome>;
  /** Reports the result of storing a response, which `fetch` requested.
   * @param sizeBytes null: it failed, or its bytes are missing by now */
  finishResponse(objectKey: string, sizeBytes: number | null): Promise<void>;
  /** Waits for a response that `fetch` reported as being stored.
   * @returns the stored response; or a plan, when storing failed or takes too long; null: it is
   * unknown */
  awaitResponse(objectKey: string): Promise<PlannedPack | StoredPack | null>;
  /** Bytes of objects.
   * @param oids packed
   * @returns one size per id, -1 for an object that no ref reaches; null: there is no such
   * repository */
  sizes(oids: Uint8Array): Promise<Float64Array | null>;
  /** The bundles that a clone may start with; null: there is no such repository. */
  bundles(): Promise<StoredBundle[] | null>;
}

/** A planned bundle. The pack follows the header directly. */
export interface BundlePlan {
  readonly header: Uint8Array;
  readonly plan: PackPlan;
}

/** A bundle, stored in R2. */
export interface StoredBundle {
  /** Creation token: higher than that of every bundle before it. */
  readonly token: number;
  /** The R2 object. */
  readonly key: string;
  readonly sizeBytes: number;
  /** SHA-1 of its bytes. */
  readonly checksum: Uint8Array;
  /** `PushLog.totalBytes` when its refs were read; later pushes are not in it. */
  readonly totalBytes: number;
}
