import { GitError } from "./errors.ts";

/** A position in a repository's event log: the newest push at the time, and the number of an
 * event that is no push; 0: the push itself. Ids are ordered by both, in this order. */
export interface EventId {
  readonly push: number;
  readonly other: number;
}

/** The form of an id: `12` is the twelfth push, `12.3` the third other event, which followed it. */
export const EVENT_ID = /^\d{1,15}(\.\d{1,15})?$/;

/** Writes an id. @see EVENT_ID */
export function formatEventId({ push, other }: EventId): string {
  return other === 0 ? `${push}` : `${push}.${other}`;
}

/** Reads an id.
 * @throws GitError "invalid" for anything else */
export function parseEventId(text: string): EventId {
  if (!EVENT_ID.test(text)) {
    const reason = "it is the id of an event, such as 12 or 12.3";
    throw new GitError("invalid", { what: "id of an event", field: "after", reason });
  }
  const [push, other = 0] = text.split(".").map(Number) as [number, number?];
  return { push, other };
}

/** Compares two positions, for sorting. */
export function compareEventIds(a: EventId, b: EventId): number {
  return a.push - b.push || a.other - b.other;
}

// Server-Sent Events. @see https://html.spec.whatwg.org/multipage/server-sent-events.html

/** Silence after which a stream sends a comment, in ms. The write shows whether the stream is
 * still read. */
export const HEARTBEAT_MS = 25_000;

/** Duration of a stream, in ms. Its reader then connects again, as browsers do by themselves. */
export const STREAM_LIFE_MS = 5 * 60_000;

/** The headers of a stream. */
export const STREAM_HEADERS = { "Content-Type": "text/event-stream", "Cache-Control": "no-store" };

/** A comment, which readers skip. */
export const COMMENT = ":\n\n";

// Server-Sent Events. @see https://html.spec.whatwg.org/multipage/server-sent-events.html

/** Whether a client wants a stream instead of JSON.
 * @param accept the client's `Accept` header */
export function wantsStream(accept: string | undefined): boolean {
  return accept?.includes("text/event-stream") === true;
}
