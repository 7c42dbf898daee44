import { z } from "@hono/zod-openapi";
import { type CommitStatuses, STATUS_STATES } from "../../../contract/events.ts";
import { failures } from "../common/error.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { ContextSchema, json, OidSchema, RefSchema, RepositoryParams, TextSchema } from "../common/schemas.ts";

const Fields = {
  state: z.enum(STATUS_STATES),
  context: ContextSchema.default("default").openapi({ description: "what is judged", example: "ci/tests" }),
  description: TextSchema.max(1_000).nullable().default(null),
  url: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .nullable()
    .default(null)
    .openapi({ description: "where more is told", example: "https://ci.example.com/7" }),
};

const Statuses = z
  .object({
    oid: OidSchema,
    state: z.enum(["pending", "success", "failure"]).openapi({
      description: "`failure` if one is, or is an error; else `pending` if one is, or there is none; else `success`",
    }),
    statuses: z.array(
      z.object({
        state: z.enum(STATUS_STATES),
        context: z.string(),
        description: z.string().nullable(),
        url: z.string().nullable(),
        timestamp: z.iso.datetime(),
        who: z.string().nullable().openapi({ description: "null: unknown, or you lack the right to write" }),
      }),
    ),
  })
  .openapi("Statuses");

const path = "/repos/{owner}/{repo}/commits/{ref}/statuses";
const params = RepositoryParams.extend({ ref: RefSchema });

const read = defineRoute("read", {
  method: "get",
  path,
  tags: ["events"],
  summary: "List the statuses of a commit",
  request: { params },
  responses: { 200: { description: "The last status of each context.", ...json(Statuses) }, ...failures() },
});

const set = defineRoute("write", {
  method: "post",
  path,
  tags: ["events"],
  summary: "Set a status of a commit",
  description: "It replaces the commit's former status in the same context. The last 20,000 of a repository are kept.",
  request: {
    params,
    body: {
      required: true,
      ...json(
        z.strictObject(Fields).openapi("NewStatus", {
          example: { state: "success", context: "ci/tests", url: "https://ci.example.com/7" },
        }),
      ),
    },
  },
  responses: { 201: { description: "The commit's statuses.", ...json(Statuses) }, ...failures(409) },
});

/** `/repos/:owner/:repo/commits/:ref/statuses`: results of checks of a commit. */
export const statusRoutes = newRoutes()
  .openapi(read, async (context) =>
    context.json(show(await repositoryOf(context).statuses(context.req.valid("param").ref)), 200),
  )
  .openapi(set, async (context) => {
    const { ref } = context.req.valid("param");
    return context.json(show(await repositoryOf(context).setStatus({ ref, ...context.req.valid("json") })), 201);
  });

function show({ statuses, ...rest }: CommitStatuses) {
  return { ...rest, statuses: [...statuses] };
}
