import type { RepositoryEvent } from "./log-events.ts";

/** A request was answered. For a streamed body, this is when its head was sent. */
export interface RequestEvent {
  readonly event: "request";
  readonly method: string;
  readonly path: string;
  /** Null: unknown, or it did not matter. */
  readonly who: string | null;
  readonly status: number;
  readonly ms: number;
  /** Milliseconds: `access` for identifying and authorising the caller, `repository` for the
   * repository's object. */
  readonly phases: Readonly<Record<string, number>>;
}

/** What an event belongs to. */
export interface EventOrigin {
  /** The request's id, also sent in its response as `X-Request-Id`. */
  readonly request?: string;
  /** The repository's id. */
  readonly repository?: string;
  /** The owner's name, of what its object did. */
  readonly owner?: string;
}

/** Prints an event as one line of JSON, so that the Worker's logs show what each request cost. It
 * never contains a token. */
export function printEvent(event: RepositoryEvent | RequestEvent, origin: EventOrigin): void {
  // oxlint-disable-next-line no-console -- the Worker's console is its log
  console.log(JSON.stringify({ ...event, ...origin }));
}
