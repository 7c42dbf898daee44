import type { RepositoryEvent } from "../repository/state/repository-event.ts";

/** A request was answered: its head, where the body streams. */
export interface RequestEvent {
  readonly event: "request";
  readonly method: string;
  readonly path: string;
  /** Null: nobody said, or it did not matter. */
  readonly who: string | null;
  readonly status: number;
  readonly ms: number;
  /** ms: `access` to find out who asks and whether they may, `repository` for what its object did. */
  readonly phases: Readonly<Record<string, number>>;
}

/** Where an event comes from. */
export interface EventOrigin {
  /** The id of the request, in its response as `X-Request-Id`. */
  readonly request?: string;
  /** The id of the repository. */
  readonly repository?: string;
}

/** Prints what happened as one line of JSON: whoever reads the Worker's logs sees what each request cost. No token is ever in it. */
export function printEvent(event: RepositoryEvent | RequestEvent, origin: EventOrigin): void {
  // oxlint-disable-next-line no-console -- the Worker's console is its log
  console.log(JSON.stringify({ ...event, ...origin }));
}
