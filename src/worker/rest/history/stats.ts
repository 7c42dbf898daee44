import { z } from "@hono/zod-openapi";
import { answerByIds, digestOf } from "../common/conditional.ts";
import { failures } from "../common/error.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { NullableOidSchema, RefSchema, RepositoryParams, json } from "../common/schemas.ts";

const Count = z.number().int().min(0);
const Time = z.iso.datetime({ offset: true }).nullable();

const Stats = z
  .object({
    defaultBranch: z.string().nullable(),
    commit: NullableOidSchema.openapi({
      description: "the commit that the next six figures describe; null: the default branch has no commit",
    }),
    commits: Count.openapi({ description: "commits reachable from it, itself included" }),
    contributors: Count,
    files: Count.openapi({ description: "files in its tree, without symbolic links and submodules" }),
    bytes: Count.openapi({ description: "total size of the files" }),
    firstCommit: Time.openapi({ description: "date of the earliest commit" }),
    lastCommit: Time,
    branches: Count,
    tags: Count,
    objects: Count,
    storedBytes: Count.openapi({ description: "compressed size of the objects" }),
    pushes: Count.openapi({ description: "number of all pushes ever" }),
    lastPush: Time,
  })
  .openapi("Stats");

const read = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/stats",
  tags: ["stats"],
  summary: "Show the statistics of a repository",
  request: { params: RepositoryParams, query: z.object({ ref: RefSchema.optional() }) },
  responses: {
    200: { description: "The statistics.", ...json(Stats) },
    304: { description: "Not modified." },
    ...failures(),
  },
});

/** `/repos/:owner/:repo/stats`: counts of commits, contributors, files, refs, objects and
 * pushes. */
export const statsRoutes = newRoutes().openapi(read, async (context) => {
  const stats = await repositoryOf(context).stats(context.req.valid("query").ref ?? null);
  return answerByIds(context, [await digestOf(stats)], false, () => context.json(stats, 200));
});
