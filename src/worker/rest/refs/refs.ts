import { z } from "@hono/zod-openapi";
import { encodeText } from "../../../base/format/byte-string.ts";
import { failures } from "../common/error.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
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

const path = "/repos/{owner}/{repo}/refs/{name}";

const put = defineRoute("write", {
  method: "put",
  path,
  tags: ["refs"],
  summary: "Create or move any ref",
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
});

const remove = defineRoute("write", {
  method: "delete",
  path,
  tags: ["refs"],
  summary: "Delete any ref other than the default branch",
  request: { params: Params, query: z.object({ expected: OidSchema.optional() }) },
  responses: { 204: { description: "The ref is deleted." }, ...failures(409) },
});

/** `/repos/:owner/:repo/refs/:name`. */
export const refRoutes = newRoutes()
  .openapi(put, async (context) => {
    const name = `refs/${encodeText(context.req.valid("param").name)}`;
    return context.json(await repositoryOf(context).putRef({ name, ...context.req.valid("json") }), 200);
  })
  .openapi(remove, async (context) => {
    const name = `refs/${encodeText(context.req.valid("param").name)}`;
    await repositoryOf(context).deleteRef({ name, expected: context.req.valid("query").expected });
    return context.body(null, 204);
  });
