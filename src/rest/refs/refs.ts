import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { encodeText } from "../../format/byte-string.ts";
import { failures } from "../common/error.ts";
import type { RefRecord } from "../../repository/refs/move-ref.ts";
import { defineRoute, newRoutes, repositoryOf, type RestEnv } from "../common/routes.ts";
import {
  ExpectedSchema,
  ForceSchema,
  OidSchema,
  RefNameSchema,
  RefSchema,
  RepositoryParams,
  json,
} from "../common/schemas.ts";

const Params = RepositoryParams.extend({ name: RefNameSchema });

const RefChange = z
  .strictObject({
    target: RefSchema.openapi({ description: "the new target: a commit for a branch, else any object" }),
    expected: ExpectedSchema,
    force: ForceSchema,
  })
  .openapi("RefChange", { example: { target: "main" } });

const put = {
  method: "put" as const,
  tags: ["refs"],
  summary: "Create or move any ref",
  description: "Slashes in the name need not be encoded.",
  request: {
    params: Params,
    body: {
      required: true,
      ...json(RefChange),
    },
  },
  responses: {
    200: {
      description: "The ref and its target.",
      content: {
        "application/json": {
          schema: z
            .object({ name: z.string(), oid: OidSchema, type: z.enum(["commit", "tree", "blob", "tag"]) })
            .openapi("RefRecord"),
        },
      },
    },
    ...failures(409),
  },
};

const remove = {
  method: "delete" as const,
  tags: ["refs"],
  summary: "Delete any ref other than the default branch",
  request: { params: Params, query: z.object({ expected: OidSchema.optional() }) },
  responses: { 204: { description: "The ref is deleted." }, ...failures(409) },
};

const path = "/repos/{owner}/{repo}/refs/{name}";

/** The same for names with unencoded slashes, which an OpenAPI path cannot describe. */
const withSlashes = { path: "/repos/{owner}/{repo}/refs/{name{.+}}", hide: true } as const;

/** `/repos/:owner/:repo/refs/*name`. */
export const refRoutes = newRoutes()
  .openapi(defineRoute("write", { ...put, path }), async (context) => {
    return context.json(await putAt(context, context.req.valid("param"), context.req.valid("json")), 200);
  })
  .openapi(defineRoute("write", { ...remove, path }), async (context) => {
    await removeAt(context, context.req.valid("param"), context.req.valid("query"));
    return context.body(null, 204);
  });

refRoutes.openapi(defineRoute("write", { ...put, ...withSlashes }), async (context) => {
  return context.json(await putAt(context, context.req.valid("param"), context.req.valid("json")), 200);
});
refRoutes.openapi(defineRoute("write", { ...remove, ...withSlashes }), async (context) => {
  await removeAt(context, context.req.valid("param"), context.req.valid("query"));
  return context.body(null, 204);
});

function putAt(
  context: Context<RestEnv>,
  { name }: { name: string },
  change: z.infer<typeof RefChange>,
): Promise<RefRecord> {
  return repositoryOf(context).putRef({ name: `refs/${encodeText(name)}`, ...change });
}

function removeAt(
  context: Context<RestEnv>,
  { name }: { name: string },
  { expected }: { expected?: string | undefined },
): Promise<void> {
  return repositoryOf(context).deleteRef({ name: `refs/${encodeText(name)}`, expected });
}
