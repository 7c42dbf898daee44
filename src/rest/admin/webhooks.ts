import { z } from "@hono/zod-openapi";
import type { RepositoryClient } from "../../repository/calls.ts";
import { failures } from "../common/error.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { json, RepositoryParams } from "../common/schemas.ts";
import { toTime } from "../common/time.ts";

const PATH = "/repos/{owner}/{repo}/webhooks";
const tags = ["events"];

const Params = RepositoryParams.extend({ webhook: z.string().max(100) });

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
      .object({ status: z.number().int(), body: z.string().openapi({ description: "its first 4 KiB" }) })
      .nullable()
      .openapi({ description: "null: none came" }),
    error: z.string().nullable().openapi({ description: "why it failed; null: it was delivered" }),
  })
  .openapi("Delivery");

const create = defineRoute("admin", {
  method: "post",
  path: PATH,
  tags,
  summary: "Make a webhook",
  description:
    "It is told of what happens from now on, in order and at least once. `standard` is the format of Standard Webhooks; `github` sends GitHub's push, create, delete and ping.",
  request: {
    params: RepositoryParams,
    body: {
      required: true,
      ...json(
        z
          .strictObject({
            url: Url,
            format: z.enum(["standard", "github"]).default("standard"),
            events: Types.default(null),
            secret: Secret,
          })
          .openapi("WebhookRequest", { example: { url: "https://ci.example.com/hook", events: ["push"] } }),
      ),
    },
  },
  responses: { 201: { description: "The webhook, with its secret.", ...json(NewWebhook) }, ...failures(409) },
});

const list = defineRoute("admin", {
  method: "get",
  path: PATH,
  tags,
  summary: "List webhooks",
  request: { params: RepositoryParams },
  responses: {
    200: { description: "All, at most 20.", ...json(z.object({ webhooks: z.array(Webhook) }).openapi("Webhooks")) },
    ...failures(),
  },
});

const read = defineRoute("admin", {
  method: "get",
  path: `${PATH}/{webhook}`,
  tags,
  summary: "Show a webhook",
  request: { params: Params },
  responses: { 200: { description: "The webhook.", ...json(Webhook) }, ...failures() },
});

const change = defineRoute("admin", {
  method: "patch",
  path: `${PATH}/{webhook}`,
  tags,
  summary: "Change, disable or enable a webhook",
  description: "One that is enabled again is told everything since it was disabled.",
  request: {
    params: Params,
    body: {
      required: true,
      ...json(
        z
          .strictObject({ url: Url.optional(), events: Types.optional(), enabled: z.boolean().optional() })
          .openapi("WebhookChange", { example: { enabled: false } }),
      ),
    },
  },
  responses: { 200: { description: "The webhook.", ...json(Webhook) }, ...failures() },
});

const remove = defineRoute("admin", {
  method: "delete",
  path: `${PATH}/{webhook}`,
  tags,
  summary: "Delete a webhook",
  request: { params: Params },
  responses: { 204: { description: "It is deleted." }, ...failures() },
});

const rotate = defineRoute("admin", {
  method: "post",
  path: `${PATH}/{webhook}/secret`,
  tags,
  summary: "Replace a webhook's secret",
  description: "In the standard format, messages are signed with the former secret, too, for a day.",
  request: {
    params: Params,
    body: {
      required: true,
      ...json(z.strictObject({ secret: Secret }).openapi("WebhookSecret", { example: { secret: null } })),
    },
  },
  responses: { 200: { description: "The webhook, with its new secret.", ...json(NewWebhook) }, ...failures() },
});

const ping = defineRoute("admin", {
  method: "post",
  path: `${PATH}/{webhook}/pings`,
  tags,
  summary: "Try a webhook out",
  request: { params: Params },
  responses: { 200: { description: "What became of the message.", ...json(Delivery) }, ...failures() },
});

const listDeliveries = defineRoute("admin", {
  method: "get",
  path: `${PATH}/{webhook}/deliveries`,
  tags,
  summary: "List what was sent to a webhook",
  request: { params: Params },
  responses: {
    200: {
      description: "The last 50 attempts, the newest first.",
      ...json(z.object({ deliveries: z.array(Delivery) }).openapi("Deliveries")),
    },
    ...failures(),
  },
});

const again = defineRoute("admin", {
  method: "post",
  path: `${PATH}/{webhook}/deliveries/{delivery}/redeliver`,
  tags,
  summary: "Send a message again",
  request: {
    params: Params.extend({
      delivery: z.coerce
        .number()
        .int()
        .openapi({ param: { name: "delivery", in: "path" }, type: "integer" }),
    }),
  },
  responses: { 200: { description: "What became of the message.", ...json(Delivery) }, ...failures() },
});

/** `/repos/:owner/:repo/webhooks`: who is told of events. */
export const webhookRoutes = newRoutes()
  .openapi(create, async (context) => {
    const { origin } = new URL(context.req.url);
    const made = await repositoryOf(context).createWebhook({ ...context.req.valid("json"), origin });
    context.header("Cache-Control", "no-store");
    return context.json({ ...show(made), secret: made.secret }, 201);
  })
  .openapi(list, async (context) => {
    const found = await repositoryOf(context).webhooks();
    return context.json({ webhooks: found.map(show) }, 200);
  })
  .openapi(read, async (context) =>
    context.json(show(await repositoryOf(context).webhook(context.req.valid("param").webhook)), 200),
  )
  .openapi(change, async (context) => {
    const { webhook: id } = context.req.valid("param");
    const { url, events, enabled } = context.req.valid("json");
    const wanted = { id, enabled, ...(url !== undefined && { url }), ...(events !== undefined && { events }) };
    return context.json(show(await repositoryOf(context).changeWebhook(wanted)), 200);
  })
  .openapi(remove, async (context) => {
    await repositoryOf(context).deleteWebhook(context.req.valid("param").webhook);
    return context.body(null, 204);
  })
  .openapi(rotate, async (context) => {
    const { webhook: id } = context.req.valid("param");
    const made = await repositoryOf(context).rotateSecret({ id, ...context.req.valid("json") });
    context.header("Cache-Control", "no-store");
    return context.json({ ...show(made), secret: made.secret }, 200);
  })
  .openapi(ping, async (context) =>
    context.json(showDelivery(await repositoryOf(context).pingWebhook(context.req.valid("param").webhook)), 200),
  )
  .openapi(listDeliveries, async (context) => {
    const found = await repositoryOf(context).deliveries(context.req.valid("param").webhook);
    return context.json({ deliveries: found.map(showDelivery) }, 200);
  })
  .openapi(again, async (context) => {
    const { webhook: id, delivery } = context.req.valid("param");
    return context.json(showDelivery(await repositoryOf(context).redeliver({ id, delivery })), 200);
  });

function show(webhook: Awaited<ReturnType<RepositoryClient["webhook"]>>): z.output<typeof Webhook> {
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

function showDelivery({ timeMs, ...delivery }: Awaited<ReturnType<RepositoryClient["pingWebhook"]>>) {
  const { request, response, ...rest } = delivery;
  return {
    ...rest,
    timestamp: toTime(timeMs),
    request: { ...request, headers: { ...request.headers } },
    response: response && { ...response },
  };
}
