import { z } from "@hono/zod-openapi";
import { answerByIds, digestOf } from "./conditional.ts";
import { failures } from "./error.ts";
import { decodeCursor, encodeCursor, NextCursor, PageQuery } from "./paging.ts";
import { defineRoute, newRoutes, repositoryOf } from "./routes.ts";
import { NullableOidSchema, RefSchema, RepositoryParams } from "./schemas.ts";

const Count = z.number().int().min(0);

const Pushes = z
  .object({
    pushes: z
      .array(
        z.object({
          id: Count.openapi({ description: "counts up" }),
          time: z.iso.datetime(),
          who: z.string().nullable().openapi({
            description: "`operator`, or the token that was shown; null: access is open, or you may not write",
            example: "token 6b1f… (ci)",
          }),
          refs: z
            .array(
              z.object({
                name: z.string().openapi({ example: "refs/heads/main" }),
                old: NullableOidSchema.openapi({ description: "null: it was made" }),
                new: NullableOidSchema.openapi({ description: "null: it was deleted" }),
              }),
            )
            .openapi({ description: "the first 100 that moved; with `ref`, that one" }),
          refCount: Count.openapi({ description: "how many moved in all" }),
          packBytes: Count.openapi({ description: "of the pack as it came" }),
          objects: Count.openapi({ description: "that were new" }),
        }),
      )
      .openapi({ description: "the newest first; a page with `ref` may have fewer than there are, or none" }),
    nextCursor: NextCursor,
  })
  .openapi("Pushes");

const list = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/pushes",
  tags: ["stats"],
  summary: "List what was pushed",
  description: "Pushes and commits through the API, as far back as the log goes: 90 days.",
  request: {
    params: RepositoryParams,
    query: PageQuery.extend({
      ref: RefSchema.optional().openapi({
        description: "only what moved the ref of this name, full or short; it need not be there any more",
      }),
    }),
  },
  responses: {
    200: { description: "Some of them.", content: { "application/json": { schema: Pushes } } },
    304: { description: "They are as the client has them." },
    ...failures(),
  },
});

/** `/repos/:owner/:repo/pushes`: the push log. */
export const pushRoutes = newRoutes().openapi(list, async (context) => {
  const { ref = null, limit, cursor } = context.req.valid("query");
  const before = decodeCursor(cursor, z.number().int().min(1));
  const { pushes, next } = await repositoryOf(context).pushes({ ref, before, limit });
  const body = { pushes: [...pushes], nextCursor: next === null ? null : encodeCursor(next) };
  return answerByIds(context, [await digestOf(body)], false, () => context.json(body, 200));
});
