import { z } from "@hono/zod-openapi";
import { answerByIds, digestOf } from "../common/conditional.ts";
import { failures } from "../common/error.ts";
import { cursorFor, decodeCursor, NextCursor, PageQuery } from "../common/paging.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { NullableOidSchema, RefSchema, RepositoryParams, json } from "../common/schemas.ts";

const Count = z.number().int().min(0);

const Pushes = z
  .object({
    pushes: z
      .array(
        z.object({
          id: Count.openapi({ description: "increases with every push" }),
          time: z.iso.datetime(),
          who: z.string().nullable().openapi({
            description: "`operator`, or the token used; null: access is open, or you lack the right to write",
            example: "token 6b1f… (ci)",
          }),
          refs: z
            .array(
              z.object({
                name: z.string().openapi({ example: "refs/heads/main" }),
                old: NullableOidSchema.openapi({ description: "id before the push; null: the ref was created" }),
                new: NullableOidSchema.openapi({ description: "id after the push; null: the ref was deleted" }),
              }),
            )
            .openapi({ description: "the first 100 changed refs; with `ref`, only that one" }),
          refCount: Count.openapi({ description: "number of all changed refs" }),
          packBytes: Count.openapi({ description: "size of the received pack" }),
          objects: Count.openapi({ description: "number of new objects" }),
        }),
      )
      .openapi({
        description: "newest first; a page with `ref` may hold fewer than `limit`, or none, before the last page",
      }),
    nextCursor: NextCursor,
  })
  .openapi("Pushes");

const list = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/pushes",
  tags: ["stats"],
  summary: "List pushes",
  description: "Pushes by git and changes through the API of the last 90 days.",
  request: {
    params: RepositoryParams,
    query: PageQuery.extend({
      ref: RefSchema.optional().openapi({
        description: "only pushes that changed this ref, by its full or short name; it need not exist any more",
      }),
    }),
  },
  responses: {
    200: { description: "A page of pushes.", ...json(Pushes) },
    304: { description: "Not modified." },
    ...failures(),
  },
});

/** `/repos/:owner/:repo/pushes`: the push log. */
export const pushRoutes = newRoutes().openapi(list, async (context) => {
  const { ref = null, limit, cursor } = context.req.valid("query");
  const before = decodeCursor(context, cursor, z.number().int().min(1));
  const { pushes, next } = await repositoryOf(context).pushes({ ref, before, limit });
  const body = { pushes: [...pushes], nextCursor: next === null ? null : cursorFor(context, next) };
  return answerByIds(context, [await digestOf(body)], false, () => context.json(body, 200));
});
