import { z } from "@hono/zod-openapi";
import { answerByIds, digestOf } from "./conditional.ts";
import { failures } from "./error.ts";
import { defineRoute, newRoutes, repositoryOf } from "./routes.ts";
import { NullableOidSchema, RefSchema, RepositoryParams } from "./schemas.ts";

const Count = z.number().int().min(0);
const Time = z.iso.datetime({ offset: true }).nullable();

const Stats = z
  .object({
    defaultBranch: z.string().nullable(),
    commit: NullableOidSchema.openapi({
      description: "what the next six are of; null: the default branch has no commit",
    }),
    commits: Count.openapi({ description: "that it leads to, itself included" }),
    contributors: Count,
    files: Count.openapi({ description: "without symbolic links and submodules" }),
    bytes: Count.openapi({ description: "of the files" }),
    firstCommit: Time.openapi({ description: "when the earliest was made" }),
    lastCommit: Time,
    branches: Count,
    tags: Count,
    objects: Count,
    storedBytes: Count.openapi({ description: "of the objects, compressed" }),
    pushes: Count.openapi({ description: "that there ever were" }),
    lastPush: Time,
  })
  .openapi("Stats");

const read = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/stats",
  tags: ["stats"],
  summary: "Tell the figures of a repository",
  request: { params: RepositoryParams, query: z.object({ ref: RefSchema.optional() }) },
  responses: {
    200: { description: "The figures.", content: { "application/json": { schema: Stats } } },
    304: { description: "They are as the client has them." },
    ...failures(),
  },
});

/** `/repos/:owner/:repo/stats`: counts of commits, contributors, files, refs, objects and pushes. */
export const statsRoutes = newRoutes().openapi(read, async (context) => {
  const stats = await repositoryOf(context).stats(context.req.valid("query").ref ?? null);
  return answerByIds(context, [await digestOf(stats)], false, () => context.json(stats, 200));
});
