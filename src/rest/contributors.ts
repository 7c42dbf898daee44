import { z } from "@hono/zod-openapi";
import { answerByIds } from "./conditional.ts";
import { failures } from "./error.ts";
import { decodeCursor, encodeCursor, NextCursor, PageQuery } from "./paging.ts";
import { defineRoute, newRoutes, repositoryOf } from "./routes.ts";
import { OidSchema, RefSchema, RepositoryParams } from "./schemas.ts";

const Count = z.number().int().min(0);

const Contributors = z
  .object({
    commit: OidSchema,
    total: Count.openapi({ description: "how many there are in all" }),
    contributors: z
      .array(
        z.object({
          name: z.string(),
          email: z.string(),
          commits: Count,
          first: z.iso.datetime({ offset: true }).openapi({ description: "when the first of them was written" }),
          last: z.iso.datetime({ offset: true }),
        }),
      )
      .openapi({ description: "the one with the most commits first" }),
    nextCursor: NextCursor,
  })
  .openapi("Contributors");

/** The next pages are of the same commit, wherever the ref has gone. */
const Place = z.object({ commit: OidSchema, from: Count });

const list = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/contributors",
  tags: ["stats"],
  summary: "List who wrote the commits",
  description:
    "The authors of all commits that the ref leads to, merges counted, as `git shortlog -sne` lists them. The file `.mailmap` of HEAD says who is the same.",
  request: { params: RepositoryParams, query: PageQuery.extend({ ref: RefSchema.default("HEAD") }) },
  responses: {
    200: { description: "Some of them.", content: { "application/json": { schema: Contributors } } },
    304: { description: "They are as the client has them." },
    ...failures(),
  },
});

/** `/repos/:owner/:repo/contributors`: who wrote how many commits. */
export const contributorRoutes = newRoutes().openapi(list, async (context) => {
  const { ref, limit, cursor } = context.req.valid("query");
  const { commit: first, from } = decodeCursor(cursor, Place) ?? { commit: ref, from: 0 };
  const { commit, mailmap, total, contributors } = await repositoryOf(context).contributors({
    ref: first,
    from,
    limit,
  });
  const end = from + limit;
  const nextCursor = end < total ? encodeCursor({ commit, from: end }) : null;
  return answerByIds(context, [commit, mailmap ?? "none"], false, () =>
    context.json({ commit, total, contributors, nextCursor }, 200),
  );
});
