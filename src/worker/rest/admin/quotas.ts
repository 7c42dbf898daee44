import { z } from "@hono/zod-openapi";
import type { QuotaService } from "../../shared/deployment.ts";
import { failures } from "../common/error.ts";
import { defineRoute, newRoutes } from "../common/routes.ts";
import { RepositoryParams, json } from "../common/schemas.ts";

const Most = z.number().int().min(0).nullable();

const Quota = z.object({
  maxBytes: Most.openapi({ description: "limit for stored objects, refs and the reflog; null: not set" }),
  maxObjects: Most.openapi({ description: "null: not set" }),
});

const Standing = Quota.extend({
  effective: Quota.openapi({ description: "the limits in effect, with the deployment's defaults; null: no limit" }),
  sizeBytes: z.number().int().openapi({ description: "bytes in use; may be some seconds old" }),
  objectCount: z.number().int().openapi({ description: "objects in store; may be some seconds old" }),
}).openapi("Quota");

const body = {
  required: true,
  ...json(z.strictObject(Quota.partial().shape).openapi("QuotaChange", { example: { maxBytes: 1_000_000_000 } })),
};
const responses = { 200: { description: "The quota and its usage.", ...json(Standing) }, ...failures() };

const tags = ["quotas"];
const ofRepository = { path: "/repos/{owner}/{repo}/quota", tags } as const;
const ofOwner = { path: "/owners/{owner}/quota", tags } as const;
const OwnerParams = RepositoryParams.pick({ owner: true });

const read = defineRoute("read", {
  ...ofRepository,
  method: "get",
  summary: "Show the quota of a repository",
  request: { params: RepositoryParams },
  responses,
});

const set = defineRoute("operate", {
  ...ofRepository,
  method: "put",
  summary: "Set the quota of a repository",
  description:
    "Omitted fields keep their value; null removes a limit. It takes effect within ten seconds everywhere. Existing data is never removed.",
  request: { params: RepositoryParams, body },
  responses,
});

const readOwner = defineRoute("token", {
  ...ofOwner,
  method: "get",
  summary: "Show the quota of an owner",
  description: "The limit for all repositories of the owner together. Needs the right `admin` for the owner.",
  request: { params: OwnerParams },
  responses,
});

const setOwner = defineRoute("token", {
  ...ofOwner,
  method: "put",
  summary: "Set the quota of an owner",
  description: "Omitted fields keep their value; null removes a limit. Only for the operator.",
  request: { params: OwnerParams, body },
  responses,
});

/** `/repos/:owner/:repo/quota` and `/owners/:owner/quota`: GET shows limits and usage, PUT sets
 * limits. */
export const quotaRoutes = newRoutes()
  .openapi(read, async (context) => {
    const { owner, repo } = context.req.valid("param");
    return context.json(show(await context.get("host").quotas.read({ owner, repository: repo })), 200);
  })
  .openapi(set, async (context) => {
    const { owner, repo } = context.req.valid("param");
    const quota = context.req.valid("json");
    return context.json(show(await context.get("host").quotas.set({ owner, repository: repo }, quota)), 200);
  })
  .openapi(readOwner, async (context) => {
    return context.json(show(await context.get("host").quotas.read(context.req.valid("param"))), 200);
  })
  .openapi(setOwner, async (context) => {
    const quota = context.req.valid("json");
    return context.json(show(await context.get("host").quotas.set(context.req.valid("param"), quota)), 200);
  });

function show({ effective: { maxBytes, maxObjects }, ...rest }: Awaited<ReturnType<QuotaService["read"]>>) {
  return { ...rest, effective: { maxBytes, maxObjects } };
}
