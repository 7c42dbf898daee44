import { z } from "@hono/zod-openapi";
import { answerByIds } from "../common/conditional.ts";
import { failures } from "../common/error.ts";
import { cursorFor, decodeCursor, NextCursor, PageQuery } from "../common/paging.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { OidSchema, RefSchema, RepositoryParams, json } from "../common/schemas.ts";

const Count = z.number().int().min(0);

const Contributors = z
  .object({
    commit: OidSchema,
    total: Count.openapi({ description: "number of contributors on all pages" }),
    contributors: z
      .array(
        z.object({
          name: z.string(),
          email: z.string(),
          commits: Count,
          first: z.iso.datetime({ offset: true }).openapi({ description: "date of the first commit" }),
          last: z.iso.datetime({ offset: true }).openapi({ description: "date of the last commit" }),
        }),
      )
      .openapi({ description: "most commits first" }),
    nextCursor: NextCursor,
  })
  .openapi("Contributors");

/** All pages are about the same commit, even if the ref moves meanwhile. */
const Place = z.object({ commit: OidSchema, from: Count });

const list = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/contributors",
  tags: ["stats"],
  summary: "List the authors of commits",
  description:
    "The authors of all commits reachable from the ref, merges included, as `git shortlog -sne` lists them. The `.mailmap` of HEAD merges the identities of one person.",
  request: { params: RepositoryParams, query: PageQuery.extend({ ref: RefSchema.default("HEAD") }) },
  responses: {
    200: { description: "A page of contributors.", ...json(Contributors) },
    304: { description: "Not modified." },
    ...failures(),
  },
});

/** `/repos/:owner/:repo/contributors`: authors with their numbers of commits. */
export const contributorRoutes = newRoutes().openapi(list, async (context) => {
  const { ref, limit, cursor } = context.req.valid("query");
  const { commit: first, from } = decodeCursor(context, cursor, Place) ?? { commit: ref, from: 0 };
  const { commit, mailmap, total, contributors } = await repositoryOf(context).contributors({
    ref: first,
    from,
    limit,
  });
  const end = from + limit;
  const nextCursor = end < total ? cursorFor(context, { commit, from: end }) : null;
  return answerByIds(context, [commit, mailmap ?? "none"], false, () =>
    context.json({ commit, total, contributors, nextCursor }, 200),
  );
});
