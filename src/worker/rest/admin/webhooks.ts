import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { failures } from "../common/error.ts";
import { defineRoute, type Need, newRoutes, repositoryOf, type RestEnv } from "../common/routes.ts";
import { json, RepositoryParams, toTime } from "../common/schemas.ts";
import type { OwnerClient } from "../../../contract/calls.ts";

const OwnerParams = RepositoryParams.pick({ owner: true });

/** Id of a webhook. */
const Id = z.string().max(100);

const DeliveryId = z.coerce
  .number()
  .int()
  .openapi({ param: { name: "delivery", in: "path" }, type: "integer" });

const Url = z
  .string()
  .max(2_000)
  .openapi({ description: "http or https, at a public address", example: "https://ci.example.com/hook" });

const Types = z
  .array(z.string().max(100))
  .max(20)
  .nullable()
  .openapi({ description: "types of events to be told, in the format's words; null: all", example: ["push"] });

const Secret = z.string().min(16).max(200).nullable().default(null).openapi({
  description: "signs messages; null: one is made. In the standard format `whsec_` and base64 of 24 to 64 bytes",
});

const Webhook = z
  .object({
    id: z.string(),
    url: z.string(),
    format: z.enum(["standard", "github"]),
    events: Types,
    createdAt: z.iso.datetime(),
    disabled: z.string().nullable().openapi({ description: "why nothing is sent; null: it is" }),
    failures: z.number().int().openapi({ description: "attempts in a row that failed" }),
    nextAttemptAt: z.iso.datetime().nullable().openapi({ description: "after a failure; null: none" }),
    formerSecretUntil: z.iso.datetime().nullable().openapi({ description: "until when the former secret signs, too" }),
  })
  .openapi("Webhook");

const NewWebhook = Webhook.extend({
  secret: z.string().openapi({ description: "shown only this once" }),
}).openapi("NewWebhook");

const Delivery = z
  .object({
    id: z.number().int(),
    messageId: z.string().openapi({ description: "the same for every attempt" }),
    event: z.string().openapi({ description: "id of the event, or `ping`" }),
    type: z.string(),
    timestamp: z.iso.datetime(),
    ms: z.number().openapi({ description: "how long it took" }),
    request: z.object({ headers: z.record(z.string(), z.string()), body: z.string() }),
    response: z
      .object({
        status: z.number().int(),
        body: z.string().openapi({ description: "its first 4 KiB; empty where webhooks may be in private networks" }),
      })
      .nullable()
      .openapi({ description: "null: none came" }),
    error: z.string().nullable().openapi({ description: "why it failed; null: it was delivered" }),
  })
  .openapi("Delivery");

const bodyOf = <Body extends z.ZodType>(schema: Body) => ({ body: { required: true, ...json(schema) } }) as const;
const tags = ["events"];

const CREATE = {
  method: "post",
  tags,
  summary: "Make a webhook",
  description:
    "It is told of what happens from now on, in order and at least once. `standard` is the format of Standard Webhooks; `github` sends GitHub's push, create, delete and ping.",
  request: bodyOf(
    z
      .strictObject({
        url: Url,
        format: z.enum(["standard", "github"]).default("standard"),
        events: Types.default(null),
        secret: Secret,
      })
      .openapi("WebhookRequest", { example: { url: "https://ci.example.com/hook", events: ["push"] } }),
  ),
  responses: { 201: { description: "The webhook, with its secret.", ...json(NewWebhook) }, ...failures(409) },
} as const;

const LIST = {
  method: "get",
  tags,
  summary: "List webhooks",
  request: {},
  responses: {
    200: { description: "All, at most 20.", ...json(z.object({ webhooks: z.array(Webhook) }).openapi("Webhooks")) },
    ...failures(),
  },
} as const;

const READ = {
  method: "get",
  tags,
  summary: "Show a webhook",
  request: {},
  responses: { 200: { description: "The webhook.", ...json(Webhook) }, ...failures() },
} as const;

const CHANGE = {
  method: "patch",
  tags,
  summary: "Change, disable or enable a webhook",
  description: "One that is enabled again is told everything since it was disabled.",
  request: bodyOf(
    z
      .strictObject({ url: Url.optional(), events: Types.optional(), enabled: z.boolean().optional() })
      .openapi("WebhookChange", { example: { enabled: false } }),
  ),
  responses: { 200: { description: "The webhook.", ...json(Webhook) }, ...failures() },
} as const;

const REMOVE = {
  method: "delete",
  tags,
  summary: "Delete a webhook",
  request: {},
  responses: { 204: { description: "It is deleted." }, ...failures() },
} as const;

const ROTATE = {
  method: "post",
  tags,
  summary: "Replace a webhook's secret",
  description: "In the standard format, messages are signed with the former secret, too, for a day.",
  request: bodyOf(z.strictObject({ secret: Secret }).openapi("WebhookSecret", { example: { secret: null } })),
  responses: { 200: { description: "The webhook, with its new secret.", ...json(NewWebhook) }, ...failures() },
} as const;

const PING = {
  method: "post",
  tags,
  summary: "Try a webhook out",
  request: {},
  responses: { 200: { description: "What became of the message.", ...json(Delivery) }, ...failures() },
} as const;

const LIST_DELIVERIES = {
  method: "get",
  tags,
  summary: "List what was sent to a webhook",
  request: {},
  responses: {
    200: {
      description: "The last 50 attempts, the newest first.",
      ...json(z.object({ deliveries: z.array(Delivery) }).openapi("Deliveries")),
    },
    ...failures(),
  },
} as const;

const AGAIN = {
  method: "post",
  tags,
  summary: "Send a message again",
  request: {},
  responses: { 200: { description: "What became of the message.", ...json(Delivery) }, ...failures() },
} as const;

/** Webhooks of a repository or of an owner. */
interface Place<Path extends string> {
  readonly path: Path;
  /** Parameters of the path, including the owner. */
  readonly params: typeof OwnerParams;
  readonly needed: Need;
  /** Text that follows the summary of each route. */
  readonly about: string;
  /** Opens the repository or owner with the right of an admin. */
  readonly open: (context: Context<RestEnv>, owner: string) => Promise<WebhookClient>;
}

/** Webhook calls of a repository or of an owner. */
type WebhookClient = Omit<OwnerClient, "events">;

/** Description of a route, the same for both kinds of webhooks. */
interface Described {
  readonly summary: string;
  readonly request: object;
}

function newWebhookRoutes<const Path extends string>({ path, params, needed, about, open }: Place<Path>) {
  const all = <Route extends Described>(route: Route) =>
    ({ ...route, path, summary: route.summary + about, request: { ...route.request, params } }) as const;
  const one = <Route extends Described, Suffix extends string>(route: Route, suffix: Suffix) => ({
    ...all(route),
    path: `${path}/{webhook}${suffix}` as const,
    request: { ...route.request, params: params.extend({ webhook: Id }) },
  });
  const again = one(AGAIN, "/deliveries/{delivery}/redeliver");
  const resend = { ...again, request: { params: again.request.params.extend({ delivery: DeliveryId }) } };
  return newRoutes()
    .openapi(defineRoute(needed, all(CREATE)), async (context) => {
      const { origin } = new URL(context.req.url);
      const client = await open(context, context.req.valid("param").owner);
      const made = await client.createWebhook({ ...context.req.valid("json"), origin });
      context.header("Cache-Control", "no-store");
      return context.json({ ...show(made), secret: made.secret }, 201);
    })
    .openapi(defineRoute(needed, all(LIST)), async (context) => {
      const client = await open(context, context.req.valid("param").owner);
      return context.json({ webhooks: (await client.webhooks()).map(show) }, 200);
    })
    .openapi(defineRoute(needed, one(READ, "")), async (context) => {
      const { owner, webhook } = context.req.valid("param");
      return context.json(show(await (await open(context, owner)).webhook(webhook)), 200);
    })
    .openapi(defineRoute(needed, one(CHANGE, "")), async (context) => {
      const { owner, webhook: id } = context.req.valid("param");
      const { url, events, enabled } = context.req.valid("json");
      const wanted = { id, enabled, ...(url !== undefined && { url }), ...(events !== undefined && { events }) };
      return context.json(show(await (await open(context, owner)).changeWebhook(wanted)), 200);
    })
    .openapi(defineRoute(needed, one(REMOVE, "")), async (context) => {
      const { owner, webhook } = context.req.valid("param");
      await (await open(context, owner)).deleteWebhook(webhook);
      return context.body(null, 204);
    })
    .openapi(defineRoute(needed, one(ROTATE, "/secret")), async (context) => {
      const { owner, webhook: id } = context.req.valid("param");
      const made = await (await open(context, owner)).rotateSecret({ id, ...context.req.valid("json") });
      context.header("Cache-Control", "no-store");
      return context.json({ ...show(made), secret: made.secret }, 200);
    })
    .openapi(defineRoute(needed, one(PING, "/pings")), async (context) => {
      const { owner, webhook } = context.req.valid("param");
      return context.json(showDelivery(await (await open(context, owner)).pingWebhook(webhook)), 200);
    })
    .openapi(defineRoute(needed, one(LIST_DELIVERIES, "/deliveries")), async (context) => {
      const { owner, webhook } = context.req.valid("param");
      const found = await (await open(context, owner)).deliveries(webhook);
      return context.json({ deliveries: found.map(showDelivery) }, 200);
    })
    .openapi(defineRoute(needed, resend), async (context) => {
      const { owner, webhook: id, delivery } = context.req.valid("param");
      return context.json(showDelivery(await (await open(context, owner)).redeliver({ id, delivery })), 200);
    });
}

/** `/repos/:owner/:repo/webhooks`: webhooks for a repository's events. */
export const webhookRoutes = newWebhookRoutes({
  path: "/repos/{owner}/{repo}/webhooks",
  params: RepositoryParams,
  needed: "admin",
  about: "",
  open: async (context) => repositoryOf(context),
});

/** `/owners/:owner/webhooks`: webhooks for the events of all repositories of an owner. */
export const ownerWebhookRoutes = newWebhookRoutes({
  path: "/owners/{owner}/webhooks",
  params: OwnerParams,
  needed: "token",
  about: ", of an owner",
  open: (context, owner) => context.get("host").openOwner(owner, "admin"),
});

function show(webhook: Awaited<ReturnType<WebhookClient["webhook"]>>): z.output<typeof Webhook> {
  const { id, url, format, events, createdMs, disabled, failures: failed, dueMs, formerUntilMs } = webhook;
  return {
    id,
    url,
    format,
    events: events && [...events],
    createdAt: toTime(createdMs),
    disabled,
    failures: failed,
    nextAttemptAt: failed === 0 || disabled !== null ? null : toTime(dueMs),
    formerSecretUntil: toTime(formerUntilMs),
  };
}

function showDelivery({ timeMs, ...delivery }: Awaited<ReturnType<WebhookClient["pingWebhook"]>>) {
  const { request, response, ...rest } = delivery;
  return {
    ...rest,
    timestamp: toTime(timeMs),
    request: { ...request, headers: { ...request.headers } },
    response: response && { ...response },
  };
}
