import { z } from "@hono/zod-openapi";
import { MAINTENANCE_KINDS } from "../../../contract/upkeep.ts";
import { failures } from "../common/error.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { RepositoryParams, json, toTime } from "../common/schemas.ts";
import type { RepositoryClient } from "../../../contract/calls.ts";

const Count = z.number().int().min(0);

const Status = z
  .object({
    objects: Count,
    commits: Count,
    refs: Count,
    chunks: z.object({ hot: Count, unmerged: Count, sealed: Count, unwhole: Count }).openapi({
      description:
        "numbers of chunks: in SQLite (`hot`), those of them not yet repacked (`unmerged`), in R2 (`sealed`), and with unused bytes or otherwise not sendable as they are (`unwhole`)",
    }),
    bytes: Count,
    hotBytes: Count,
    r2Objects: Count,
    jobs: z
      .array(
        z.object({
          kind: z.string(),
          key: z.string(),
          dueAt: z.iso.datetime(),
          attempts: Count,
          lastError: z.string().nullable(),
        }),
      )
      .readonly(),
    lastRuns: z
      .partialRecord(z.string(), z.object({ began: z.iso.datetime(), ms: z.number() }).catchall(z.number()))
      .openapi({ description: "the last successful run of each kind but `materialize`: start, duration, and counts" }),
  })
  .openapi("Maintenance");

const answer = {
  200: { description: "The state of maintenance.", ...json(Status) },
  ...failures(),
};

const read = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/maintenance",
  tags: ["maintenance"],
  summary: "Show the state of maintenance",
  request: { params: RepositoryParams },
  responses: answer,
});

const run = defineRoute("admin", {
  method: "post",
  path: "/repos/{owner}/{repo}/maintenance",
  tags: ["maintenance"],
  summary: "Run maintenance jobs now, and show the state afterwards",
  description:
    "No job is started after five seconds. `jobs` lists what is left: it runs later by itself, or at once with another request.",
  request: {
    params: RepositoryParams,
    query: z.object({
      kind: z
        .union([z.enum(MAINTENANCE_KINDS), z.array(z.enum(MAINTENANCE_KINDS))])
        .optional()
        .openapi({ description: "the kind of jobs to run; repeat it for several; default: all" }),
    }),
  },
  responses: answer,
});

/** `/repos/:owner/:repo/maintenance`: GET shows the state of maintenance, POST moves jobs to the
 * front. */
export const maintenanceRoutes = newRoutes()
  .openapi(read, async (context) => context.json(show(await repositoryOf(context).maintenance()), 200))
  .openapi(run, async (context) => {
    const { kind } = context.req.valid("query");
    const asked = kind === undefined ? MAINTENANCE_KINDS : [kind].flat();
    const kinds = MAINTENANCE_KINDS.filter((one) => asked.includes(one));
    return context.json(show(await repositoryOf(context).maintain(kinds)), 200);
  });

function show({ jobs, lastRuns, ...rest }: Awaited<ReturnType<RepositoryClient["maintenance"]>>) {
  const runs = Object.entries(lastRuns).map(([kind, { timeMs, ...run }]) => [kind, { began: toTime(timeMs), ...run }]);
  return {
    ...rest,
    jobs: jobs.map(({ dueMs, ...job }) => ({ ...job, dueAt: toTime(dueMs) })),
    lastRuns: Object.fromEntries(runs) as z.output<typeof Status>["lastRuns"],
  };
}
