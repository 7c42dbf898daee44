import type { Oid } from "../format/oid.ts";
import type { RefColumns } from "../store/refs.ts";
import type { PackPlan } from "./pack-plan.ts";

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

/** What a client asks for; ids are packed, 20 bytes each. */
export interface FetchRequest {
  readonly wants: Uint8Array;
  readonly haves: Uint8Array;
  readonly packWhen: PackCondition;
  /** Deltas may refer to objects that the client has. */
  readonly thinPack: boolean;
  /** Deltas may name their base by its distance. */
  readonly ofsDelta: boolean;
  /** Annotated tags come along with the objects they point at. */
  readonly includeTag: boolean;
}

/** How far the two sides are, as the server sees it. */
export interface Negotiation {
  /** One byte per have: 1 when the repository holds the object. */
  readonly common: Uint8Array;
  /** How many of the haves, in their order, it takes until the server is ready: until each wanted commit has, among itself and its
   * ancestors, a common commit or the parent of one. 0: all of them do not suffice. */
  readonly readyAfter: number;
}

/** The answer to a `FetchRequest`. */
export type FetchOutcome =
  | { readonly kind: "unknown-repository" }
  /** A wanted object that is no ref's tip, and no commit or tag that one leads to; hex. */
  | { readonly kind: "not-our-ref"; readonly oid: string }
  | { readonly kind: "negotiated"; readonly negotiation: Negotiation; readonly plan: PackPlan | null };

/** What serving a fetch needs of a repository, wherever that lives. All values survive structured cloning: the port is
 * satisfied by the stub of a Durable Object, and each HTTP request costs one call. */
export interface FetchSource {
  /** Lists refs. @param prefixes byte strings; only refs that begin with one of them, all when there are none
   * @returns null when there is no such repository */
  refs(prefixes: string[]): Promise<RefList | null>;
  /** Negotiates and, when it is time, plans the pack. */
  fetch(request: FetchRequest): Promise<FetchOutcome>;
}
