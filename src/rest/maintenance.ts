import { z } from "@hono/zod-openapi";
import { MAINTENANCE_KINDS } from "../repository/maintenance/housekeeping.ts";
import type { RepositoryClient } from "../repository/calls.ts";
import { failures } from "./error.ts";
import { defineRoute, newRoutes, repositoryOf } from "./routes.ts";
import { RepositoryParams } from "./schemas.ts";

const Count = z.number().int().min(0);

const Status = z
  .object({
    objects: Count,
    commits: Count,
    refs: Count,
    chunks: z.object({ hot: Count, unmerged: Count, sealed: Count, unwhole: Count }),
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
      .openapi({ description: "by kind, those that succeeded: when, how long, and what they counted" }),
  })
  .openapi("Maintenance");

const answer = {
  200: { description: "How housekeeping stands.", content: { "application/json": { schema: Status } } },
  ...failures(),
};

const read = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/maintenance",
  tags: ["maintenance"],
  summary: "Tell how housekeeping stands",
  request: { params: RepositoryParams },
  responses: answer,
});

const run = defineRoute("admin", {
  method: "post",
  path: "/repos/{owner}/{repo}/maintenance",
  tags: ["maintenance"],
  summary: "Run jobs now, and tell how things are after",
  description:
    "After five seconds no further run of a job begins: `jobs` tells what is left, which goes on by itself. Asked again, it is gone on with at once.",
  request: {
    params: RepositoryParams,
    query: z.object({
      kind: z
        .union([z.enum(MAINTENANCE_KINDS), z.array(z.enum(MAINTENANCE_KINDS))])
        .optional()
        .openapi({ description: "which jobs, again and again for several; without it all" }),
    }),
  },
  responses: answer,
});

/** `/repos/:owner/:repo/maintenance`: GET tells how housekeeping stands, POST runs it first. */
export const maintenanceRoutes = newRoutes()
  .openapi(read, async (context) => context.json(show(await repositoryOf(context).maintenance()), 200))
  .openapi(run, async (context) => {
    const { kind } = context.req.valid("query");
    const asked = kind === undefined ? MAINTENANCE_KINDS : [kind].flat();
    const kinds = MAINTENANCE_KINDS.filter((one) => asked.includes(one));
    return context.json(show(await repositoryOf(context).maintain(kinds)), 200);
  });

function show({ jobs, lastRuns, ...rest }: Awaited<ReturnType<RepositoryClient["maintenance"]>>) {
  const runs = Object.entries(lastRuns).map(([kind, { timeMs, ...run }]) => [
    kind,
    { began: new Date(timeMs).toISOString(), ...run },
  ]);
  return {
    ...rest,
    jobs: jobs.map(({ dueMs, ...job }) => ({ ...job, dueAt: new Date(dueMs).toISOString() })),
    lastRuns: Object.fromEntries(runs) as z.output<typeof Status>["lastRuns"],
  };
}
