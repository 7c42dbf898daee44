import { z } from "@hono/zod-openapi";
import type { QuotaDesk } from "./routes.ts";
import { failures } from "./error.ts";
import { defineRoute, newRoutes } from "./routes.ts";
import { RepositoryParams } from "./schemas.ts";

const Most = z.number().int().min(0).nullable();

const Quota = z.object({
  maxBytes: Most.openapi({ description: "of objects as they are stored, of refs and of the reflog; null: not set" }),
  maxObjects: Most,
});

const Standing = Quota.extend({
  effective: Quota.openapi({ description: "what holds, the deployment's defaults included; null: there is no limit" }),
  sizeBytes: z.number().int().openapi({ description: "what is there; some seconds old" }),
  objectCount: z.number().int().openapi({ description: "some seconds old" }),
}).openapi("Quota");

const json = <Schema extends z.ZodType>(schema: Schema) => ({ content: { "application/json": { schema } } });

const body = {
  required: true,
  ...json(z.strictObject(Quota.partial().shape).openapi("QuotaChange", { example: { maxBytes: 1_000_000_000 } })),
};
const responses = { 200: { description: "The quota, and what is taken of it.", ...json(Standing) }, ...failures() };

const tags = ["quotas"];
const ofRepository = { path: "/repos/{owner}/{repo}/quota", tags } as const;
const ofOwner = { path: "/owners/{owner}/quota", tags } as const;
const OwnerParams = RepositoryParams.pick({ owner: true });

const read = defineRoute("read", {
  ...ofRepository,
  method: "get",
  summary: "Tell how much a repository may hold",
  request: { params: RepositoryParams },
  responses,
});

const set = defineRoute("operate", {
  ...ofRepository,
  method: "put",
  summary: "Set how much a repository may hold",
  description:
    "A field that is left out stays as it is; null unsets it. At once where this request is served, within ten seconds everywhere. What is there stays.",
  request: { params: RepositoryParams, body },
  responses,
});

const readOwner = defineRoute("token", {
  ...ofOwner,
  method: "get",
  summary: "Tell how much all that an owner has may hold",
  description: "This needs the right `admin` for what the owner has.",
  request: { params: OwnerParams },
  responses,
});

const setOwner = defineRoute("token", {
  ...ofOwner,
  method: "put",
  summary: "Set how much all that an owner has may hold",
  description: "A field that is left out stays as it is; null unsets it. This is for the operator.",
  request: { params: OwnerParams, body },
  responses,
});

/** `/repos/:owner/:repo/quota` and `/owners/:owner/quota`: GET tells how much may be held, and is; PUT sets it. */
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

function show({ effective: { maxBytes, maxObjects }, ...rest }: Awaited<ReturnType<QuotaDesk["read"]>>) {
  return { ...rest, effective: { maxBytes, maxObjects } };
}
