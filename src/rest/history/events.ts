import { z } from "@hono/zod-openapi";
import { EVENT_ID } from "../../format/event-id.ts";
import type { EventPage } from "../../repository/events/events.ts";
import { failures } from "../common/error.ts";
import { COMMENT, HEARTBEAT_MS, STREAM_HEADERS, STREAM_LIFE_MS, wantsStream } from "../../format/event-stream.ts";
import type { Listener } from "../../repository/deployment.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { CommitSchema, json, NullableOidSchema, RepositoryParams } from "../common/schemas.ts";

/** The longest that a request waits for an event (seconds): proxies end requests that are silent for
 * a minute. */
const MAX_WAIT_SECONDS = 25;

/** Events of one page of a stream. */
const STREAM_PAGE = 30;

/** How soon a reader of a stream connects again (ms). */
const RETRY_MS = 1_000;

const MovedRef = z
  .object({
    name: z.string().openapi({ example: "refs/heads/main" }),
    old: NullableOidSchema,
    new: NullableOidSchema,
    forced: z.boolean().nullable().openapi({ description: "whether commits were discarded; null: not looked up" }),
    commits: z.array(CommitSchema).nullable().openapi({
      description: "what a branch has gained, the newest first, up to 20 for all refs; null: not looked up",
    }),
  })
  .openapi("MovedRef");

const Event = z
  .object({
    id: z.string().openapi({ description: "its place in the log: later events have higher ones", example: "12" }),
    type: z
      .string()
      .openapi({ description: "`push`, `repository`, `status`, `lock`, `token`; others may come", example: "push" }),
    timestamp: z.iso.datetime(),
    who: z.string().nullable().openapi({ description: "null: unknown, or you lack the right to write" }),
    data: z
      .looseObject({
        refs: z.array(MovedRef).optional().openapi({ description: "of a push: the first 100 refs that moved" }),
        refCount: z.number().int().optional().openapi({ description: "of a push: how many refs moved" }),
        action: z.string().optional().openapi({
          description:
            "of `repository`: `created`, `forked`, `renamed` (with `from` and `to`), `published`, `hidden`; of `lock`: `locked`, `unlocked`; of `token`: `created`, `revoked`",
        }),
      })
      .openapi({ description: "what happened, by `type`" }),
  })
  .openapi("Event");

const Events = z
  .object({
    events: z.array(Event).openapi({ description: "in the order in which they happened" }),
    next: z.string().openapi({ description: "pass it as `after` to go on", example: "12" }),
    more: z.boolean().openapi({ description: "whether there are more already" }),
    missed: z.boolean().openapi({ description: "whether events after `after` are no longer kept" }),
  })
  .openapi("Events");

const read = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/events",
  tags: ["events"],
  summary: "Read or follow the event log",
  description:
    "Pushes and changes through the API of the last 90 days, other events of the last 30. With `Accept: text/event-stream` the answer is a stream of Server-Sent Events that begins after `Last-Event-ID`, " +
    "else after `after`, else with what happens from now on; it ends after five minutes, to be opened again. `event: missed` says that events after it are no longer kept.",
  request: {
    params: RepositoryParams,
    query: z.object({
      after: z
        .union([z.literal("latest"), z.string().regex(EVENT_ID)])
        .optional()
        .openapi({
          type: "string",
          description:
            "the id of the last event you know, or `latest` for what happens from now on; default: all that is kept",
        }),
      limit: z.coerce.number().int().min(1).max(100).default(30).openapi({ description: "maximum number of events" }),
      wait: z.coerce
        .number()
        .int()
        .min(0)
        .max(MAX_WAIT_SECONDS)
        .default(0)
        .openapi({ description: "how long to wait for an event if there is none (seconds)" }),
    }),
    headers: z.object({ "last-event-id": z.string().optional().openapi({ description: "of a stream: its `after`" }) }),
  },
  responses: {
    200: {
      description: "A page of events, or a stream of them.",
      content: { ...json(Events).content, "text/event-stream": { schema: z.string() } },
    },
    ...failures(),
  },
});

/** `/repos/:owner/:repo/events`: what has happened, and what happens. */
export const eventRoutes = newRoutes().openapi(read, async (context) => {
  const { owner, repo } = context.req.valid("param");
  const { after = null, limit, wait } = context.req.valid("query");
  context.header("Cache-Control", "no-store");
  if (wantsStream(context.req.header("Accept"))) {
    // An empty one is sent by a browser that has had none.
    const from = context.req.header("Last-Event-ID") || (after ?? "latest");
    const listener = await context.get("host").listen(owner, repo);
    // Before the answer begins, so that what is wrong has a status.
    const first = await closing(listener, () => listener.events({ after: from, limit: STREAM_PAGE }));
    return new Response(streamEvents(listener, first), { headers: STREAM_HEADERS }) as never;
  }
  if (wait === 0) return context.json(show(await repositoryOf(context).events({ after, limit })), 200);
  const listener = await context.get("host").listen(owner, repo);
  const page = await closing(listener, () => awaitEvents(listener, { after, limit }, wait * 1_000));
  listener.close();
  return context.json(show(page), 200);
});

/** Closes a listener when `f` fails. */
async function closing<T>(listener: Listener, f: () => Promise<T>): Promise<T> {
  try {
    return await f();
  } catch (error) {
    listener.close();
    throw error;
  }
}

/** Reads a page, and waits for one that is not empty. */
async function awaitEvents(
  listener: Listener,
  query: Parameters<Listener["events"]>[0],
  waitMs: number,
): Promise<EventPage> {
  const endMs = Date.now() + waitMs;
  let page = await listener.events(query);
  while (page.events.length === 0 && Date.now() < endMs) {
    await listener.wait(endMs - Date.now());
    if (listener.isAwake || page.more) page = await listener.events({ ...query, after: page.next });
  }
  return page;
}

/** Streams events as they happen. Reads on only as the client takes them. */
function streamEvents(listener: Listener, first: EventPage): ReadableStream<Uint8Array> {
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
          // The caller's right, or the repository, has gone. Who connects again is told by a status.
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

function show({ events, ...page }: EventPage) {
  // As the schema has it: what the repository answers is read-only.
  return { ...page, events: events as z.output<typeof Event>[] };
}
