// Server-Sent Events. @see https://html.spec.whatwg.org/multipage/server-sent-events.html

/** How long a stream is silent (ms) before it sends a comment, which shows whether it is still
 * read. */
export const HEARTBEAT_MS = 25_000;

/** How long a stream lasts (ms). Its reader then connects again, as browsers do by themselves. */
export const STREAM_LIFE_MS = 5 * 60_000;

/** The headers of a stream. */
export const STREAM_HEADERS = { "Content-Type": "text/event-stream", "Cache-Control": "no-store" };

/** A comment, which readers skip. */
export const COMMENT = ":\n\n";

/** Whether a client wants a stream in place of JSON.
 * @param accept its header `Accept` */
export function wantsStream(accept: string | undefined): boolean {
  return accept?.includes("text/event-stream") === true;
}
