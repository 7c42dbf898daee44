import { z } from "@hono/zod-openapi";
import { EVENT_ID } from "../../../base/format/event-id.ts";
import type { EventPage } from "../../../contract/events.ts";
import { failures } from "../common/error.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { answerEvents, followed } from "./event-answer.ts";
import { CommitSchema, json, NullableOidSchema, RepositoryParams } from "../common/schemas.ts";

/** Maximum wait of a request for an event (seconds): proxies end requests that are silent for a
 * minute. */
const MAX_WAIT_SECONDS = 25;

const MovedRef = z
  .object({
    name: z.string().openapi({ example: "refs/heads/main" }),
    old: NullableOidSchema,
    new: NullableOidSchema,
    forced: z.boolean().nullable().openapi({ description: "whether commits were discarded; null: not looked up" }),
    commits: z.array(CommitSchema).nullable().openapi({
      description: "what a branch has gained, the newest first, up to 20 for all refs; null: not looked up",
    }),
    commitCount: z.number().int().nullable().openapi({
      description:
        "how many commits a branch has gained, also where `commits` has not all of them; null: not looked up",
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
        refsFrom: z.number().int().optional().openapi({
          description: "of a push that an owner's log tells in several events: how many refs precede these",
        }),
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

const OwnerEvent = Event.extend({
  repository: z
    .object({
      id: z.string(),
      owner: z.string(),
      name: z.string(),
      event: z.string().openapi({ description: "the event's id in the log of the repository", example: "7" }),
    })
    .openapi({ description: "where it happened, as it was named when the log heard of it" }),
}).openapi("OwnerEvent");

const OwnerEvents = Events.extend({
  events: z.array(OwnerEvent).openapi({ description: "in order for each repository" }),
  since: z.iso.datetime().openapi({ description: "when the log began, since nobody listened before" }),
}).openapi("OwnerEvents");

const STREAM =
  "With `Accept: text/event-stream` the answer is a stream of Server-Sent Events that begins after `Last-Event-ID`, " +
  "else after `after`, else with what happens from now on; it ends after five minutes, to be opened again. `event: missed` says that events after it are no longer kept.";

const query = z.object({
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
});

const headers = z.object({
  "last-event-id": z.string().optional().openapi({ description: "of a stream: its `after`" }),
});

const stream = { "text/event-stream": { schema: z.string() } };

const read = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/events",
  tags: ["events"],
  summary: "Read or follow the event log",
  description: `Pushes and changes through the API of the last 90 days, other events of the last 30. ${STREAM}`,
  request: { params: RepositoryParams, query, headers },
  responses: {
    200: { description: "A page of events, or a stream of them.", content: { ...json(Events).content, ...stream } },
    ...failures(),
  },
});

const readOwner = defineRoute("token", {
  method: "get",
  path: "/owners/{owner}/events",
  tags: ["events"],
  summary: "Read or follow the events of all repositories of an owner",
  description:
    "Needs the right `read` for the owner. The log begins when it is first read, or gets its first webhook, and ends a week after it was last read, " +
    `unless there is a webhook. Events are kept for 30 days, at most 10,000. ${STREAM}`,
  request: { params: RepositoryParams.pick({ owner: true }), query, headers },
  responses: {
    200: {
      description: "A page of events, or a stream of them.",
      content: { ...json(OwnerEvents).content, ...stream },
    },
    ...failures(),
  },
});

/** `/repos/:owner/:repo/events` and `/owners/:owner/events`: past and new events. */
export const eventRoutes = newRoutes()
  .openapi(read, async (context) => {
    const { owner, repo } = context.req.valid("param");
    context.header("Cache-Control", "no-store");
    const answer = await answerEvents(
      { ...context.req.valid("query"), ...followed(context) },
      (asked) => repositoryOf(context).events(asked),
      () => context.get("host").listen(owner, repo),
    );
    return answer instanceof Response ? (answer as never) : context.json(show(answer), 200);
  })
  .openapi(readOwner, async (context) => {
    const { owner } = context.req.valid("param");
    const host = context.get("host");
    context.header("Cache-Control", "no-store");
    const answer = await answerEvents(
      { ...context.req.valid("query"), ...followed(context) },
      async (asked) => (await host.openOwner(owner, "read")).events(asked),
      () => host.listenToOwner(owner),
    );
    return answer instanceof Response ? (answer as never) : context.json(show(answer), 200);
  });

/** Converts a page to its schema's type, which is not read-only as an object's answer is. */
function show<Page extends EventPage>({ events, ...page }: Page) {
  return { ...page, events: events as (Page["events"][number] & z.output<typeof Event>)[] };
}
