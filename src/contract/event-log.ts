import type { RepositoryEvent } from "./log-events.ts";

/** A request was answered. A streamed answer is logged when its head is sent. */
export interface RequestEvent {
  readonly event: "request";
  readonly method: string;
  readonly path: string;
  /** The caller; null: unknown, or not needed. */
  readonly who: string | null;
  readonly status: number;
  readonly ms: number;
  /** Milliseconds: `access` for identifying and authorising the caller, `repository` for the
   * repository's object. */
  readonly phases: Readonly<Record<string, number>>;
}

/** The request, repository or owner that an event belongs to. */
export interface EventOrigin {
  /** The request's id, also sent in its response as `X-Request-Id`. */
  readonly request?: string;
  /** The repository's id. */
  readonly repository?: string;
  /** The owner's name, for an event of the owner's object. */
  readonly owner?: string;
}

/** Prints an event as one line of JSON. The Worker's logs thus show the cost of each request. An
 * event never contains a token. */
export function printEvent(event: RepositoryEvent | RequestEvent, origin: EventOrigin): void {
  // oxlint-disable-next-line no-console -- the Worker's console is its log
  console.log(JSON.stringify({ ...event, ...origin }));
}
