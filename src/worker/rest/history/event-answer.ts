import type { Context } from "hono";
import { COMMENT, HEARTBEAT_MS, STREAM_HEADERS, STREAM_LIFE_MS, wantsStream } from "../../../base/format/event-id.ts";
import type { EventSource } from "../../shared/deployment.ts";
import type { EventPage, EventQuery } from "../../../contract/events.ts";

/** Maximum number of events in one page of a stream. */
const STREAM_PAGE = 30;

/** Delay before a reader of a stream reconnects (ms). */
const RETRY_MS = 1_000;

/** Reads from a request whether it wants a stream, and the last event that it has. */
export function followed({ req }: Context): { readonly isStream: boolean; readonly last: string | undefined } {
  return { isStream: wantsStream(req.header("Accept")), last: req.header("Last-Event-ID") };
}

/** Parameters of a request for events. */
interface Asked extends ReturnType<typeof followed> {
  /** @see EventQuery */
  readonly after?: string | null | undefined;
  readonly limit: number;
  /** Maximum wait for an event if there is none (seconds). */
  readonly wait: number;
}

/** Answers with a page of events, or with a stream of them.
 * @param read reads the log once
 * @param listen opens a listener to the log */
export async function answerEvents<Page extends EventPage>(
  { after = null, limit, wait, isStream, last }: Asked,
  read: (query: EventQuery) => Promise<Page>,
  listen: () => Promise<EventSource<Page>>,
): Promise<Page | Response> {
  if (isStream) {
    const listener = await listen();
    // A browser that has received no event sends an empty id.
    const from = last || (after ?? "latest");
    // Read before the answer begins, so that errors still get a status.
    const first = await closing(listener, () => listener.events({ after: from, limit: STREAM_PAGE }));
    return new Response(streamEvents(listener, first), { headers: STREAM_HEADERS });
  }
  if (wait === 0) return read({ after, limit });
  const listener = await listen();
  const page = await closing(listener, () => awaitEvents(listener, { after, limit }, wait * 1_000));
  listener.close();
  return page;
}

/** Runs `f`, and closes the listener if it fails. */
async function closing<T>(listener: Pick<EventSource, "close">, f: () => Promise<T>): Promise<T> {
  try {
    return await f();
  } catch (error) {
    listener.close();
    throw error;
  }
}

/** Reads a page, and waits while it is empty. */
async function awaitEvents<Page extends EventPage>(
  listener: EventSource<Page>,
  query: EventQuery,
  waitMs: number,
): Promise<Page> {
  const endMs = Date.now() + waitMs;
  let page = await listener.events(query);
  while (page.events.length === 0 && Date.now() < endMs) {
    await listener.wait(endMs - Date.now());
    if (listener.isAwake || page.more) page = await listener.events({ ...query, after: page.next });
  }
  return page;
}

/** Streams events as they happen. The log is read only as fast as the client takes them. */
function streamEvents(listener: EventSource, first: EventPage): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const endMs = Date.now() + STREAM_LIFE_MS;
  let page: EventPage | null = first;
  let { next: after, more } = first;
  const read = async (): Promise<void> => {
    page = await listener.events({ after, limit: STREAM_PAGE });
    ({ next: after, more } = page);
  };
  return new ReadableStream(
    {
      start: (controller) => controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`)),
      async pull(controller) {
        try {
          while (page === null || page.events.length === 0) {
            if (more || listener.isAwake) await read();
            else if (Date.now() >= endMs) {
              listener.close();
              return controller.close();
            } else {
              await listener.wait(HEARTBEAT_MS);
              if (!listener.isAwake) return controller.enqueue(encoder.encode(COMMENT));
            }
          }
          const gap = page.missed ? "event: missed\ndata: {}\n\n" : "";
          controller.enqueue(encoder.encode(gap + page.events.map(encodeEvent).join("")));
          page = null;
        } catch {
          // The caller's right or the repository is gone. The client learns the reason from the
          // status of its next request.
          listener.close();
          controller.close();
        }
      },
      cancel: () => listener.close(),
    },
    { highWaterMark: 1 },
  );
}

function encodeEvent(event: EventPage["events"][number]): string {
  return `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
