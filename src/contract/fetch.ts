import type { ObjectFilter } from "../base/format/filter.ts";
import type { Oid } from "../base/format/oid.ts";
import type { PackPlan } from "../base/bytes/pack-plan.ts";
import type { RefColumns } from "./refs.ts";

/** The refs of a repository at one moment. */
export interface RefList extends RefColumns {
  /** HEAD's target and its id; a null id: the branch is unborn. Null: there is no HEAD. */
  readonly head: { readonly target: string; readonly oid: Oid | null } | null;
}

/** The moment at which the response includes the pack. */
export type PackCondition =
  /** At once: the client sent `done`, or has nothing to negotiate. */
  | "done"
  /** As soon as the server is ready (protocol v2). */
  | "ready"
  /** When an `ACK … ready` line is due (protocol v0 with `no-done`). */
  | "ready-line"
  /** Not yet: the client sends `done` itself. */
  | "never";

/** The client's limit for the depth of its history. */
export type Deepen =
  /** This many commits, counted from the wants; `INFINITE_DEPTH`: all of them. */
  | { readonly kind: "depth"; readonly depth: number }
  /** This many commits beyond the client's shallow boundary. */
  | { readonly kind: "relative"; readonly depth: number }
  /** Commits not older than `since` (seconds), and not reachable from the refs `not` (names, as the
   * client wrote them). */
  | { readonly kind: "revisions"; readonly since: number | null; readonly not: string[] };

/** The depth by which clients ask for the whole history. @see git's shallow.h */
export const INFINITE_DEPTH = 0x7fff_ffff;

/** A client's request. Ids are packed, 20 bytes each. */
export interface FetchRequest {
  readonly wants: Uint8Array;
  /** Names of refs that are wanted at their current value (`want-ref`); byte strings. */
  readonly wantRefs: string[];
  readonly haves: Uint8Array;
  /** The client's shallow commits, whose parents the client lacks. */
  readonly shallows: Uint8Array;
  /** Null: the depth of the client's history does not change. */
  readonly deepen: Deepen | null;
  /** Null: all objects are sent. */
  readonly filter: ObjectFilter | null;
  readonly packWhen: PackCondition;
  /** Deltas may refer to objects that the client has. */
  readonly thinPack: boolean;
  /** Deltas may name their base by its distance. */
  readonly ofsDelta: boolean;
  /** Annotated tags are sent with the objects that they point to. */
  readonly includeTag: boolean;
  /** Protocol and framing, on which the response's bytes depend too. Part of the key of stored
   * responses. */
  readonly framing: string;
}

/** The progress of the negotiation, as the server sees it. */
export interface Negotiation {
  /** One byte per have: 1 if the repository has the object. */
  readonly common: Uint8Array;
  /** Number of haves, in order, after which the server is ready: each wanted commit has, among
   * itself and its ancestors, a common commit or the parent of one. 0: all of them are not
   * enough. */
  readonly readyAfter: number;
}

/** The change of the client's shallow boundary that comes with the pack. Ids are packed. */
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

/** The answer to a `FetchRequest`. */
export type FetchOutcome =
  | { readonly kind: "unknown-repository" }
  /** No ref reaches a wanted object; id in hex. */
  | { readonly kind: "not-our-ref"; readonly oid: string }
  /** The request cannot be fulfilled, for example an unknown ref or a depth that leaves nothing.
   * The message is for the client, byte string. */
  | { readonly kind: "refused"; readonly message: string }
  | {
      readonly kind: "negotiated";
      readonly negotiation: Negotiation;
      /** Null: the client did not ask for another depth. */
      readonly shallowUpdate: ShallowUpdate | null;
      readonly wantedRefs: readonly WantedRef[];
      /** Null: the negotiation is not complete. */
      readonly pack: PackDelivery | null;
      /** Table rows read for the answer. */
      readonly rowsRead: number;
    };

/** The source of a response's pack. */
export type PackDelivery =
  | PlannedPack
  /** The Worker builds the pack for this client and also writes the whole response body to the
   * R2 object. Other requests may wait for `FetchSource.finishResponse`. */
  | { readonly kind: "store"; readonly plan: PackPlan; readonly objectKey: string; readonly responseKey: string }
  /** An equal request that came shortly before is writing the R2 object.
   * `FetchSource.awaitResponse` waits for it. */
  | { readonly kind: "awaited"; readonly objectKey: string }
  | StoredPack;

/** A pack that the Worker builds for this client alone. */
export interface PlannedPack {
  readonly kind: "plan";
  readonly plan: PackPlan;
  /** Key of equal responses, hex; null: an equal response would not be stored. */
  readonly responseKey: string | null;
}

/** A stored response: an R2 object has the whole body. */
export interface StoredPack {
  readonly kind: "stored";
  /** `hit`: the response was already stored. `shared`: it was made for an equal request that
   * came shortly before. */
  readonly cache: "hit" | "shared";
  readonly objectKey: string;
  readonly sizeBytes: number;
  /** Objects in the pack. */
  readonly objectCount: number;
}

/** The functions of a repository that serving a fetch needs, wherever the repository is. All
 * values are structured-cloneable: the stub of a Durable Object implements this interface, and
 * each HTTP request costs one call. */
export interface FetchSource {
  /** Lists refs.
   * @param prefixes byte strings; only refs that begin with one of them are listed, or all refs
   *   if there are none
   * @returns null when there is no such repository */
  refs(prefixes: string[]): Promise<RefList | null>;
  /** Negotiates, and plans the pack when the negotiation is complete. */
  fetch(request: FetchRequest): Promise<FetchOutcome>;
  /** Reports the end of storing a response, as `fetch` requested.
   * @param sizeBytes null: storing failed, or the stored bytes have gone missing */
  finishResponse(objectKey: string, sizeBytes: number | null): Promise<void>;
  /** Waits for a response that another request is storing.
   * @returns the stored response; or a plan, when storing failed or takes too long; null: the
   *   response is unknown */
  awaitResponse(objectKey: string): Promise<PlannedPack | StoredPack | null>;
  /** Reads the sizes of objects in bytes.
   * @param oids packed
   * @returns one size per id, -1 for an object that no ref reaches; null: there is no such
   *   repository */
  sizes(oids: Uint8Array): Promise<Float64Array | null>;
  /** Lists the bundles with which a clone may start; null: there is no such repository. */
  bundles(): Promise<StoredBundle[] | null>;
}

/** A planned bundle. The pack follows the header directly. */
export interface BundlePlan {
  readonly header: Uint8Array;
  readonly plan: PackPlan;
}

/** A bundle, stored in R2. */
export interface StoredBundle {
  /** Creation token: higher than that of every earlier bundle. */
  readonly token: number;
  /** The R2 object. */
  readonly key: string;
  readonly sizeBytes: number;
  /** SHA-1 of the bundle's bytes. */
  readonly checksum: Uint8Array;
  /** `PushLog.totalBytes` when the refs were read. Later pushes are not in the bundle. */
  readonly totalBytes: number;
}
