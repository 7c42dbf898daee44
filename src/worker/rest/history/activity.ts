import { z } from "@hono/zod-openapi";
import { GitError } from "../../../base/format/errors.ts";
import { answerByIds } from "../common/conditional.ts";
import { failures } from "../common/error.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { OidSchema, RefSchema, RepositoryParams, json } from "../common/schemas.ts";

const DAY_MS = 24 * 60 * 60_000;

/** Maximum period of one answer, in days: ten years. */
const MAX_DAYS = 3_660;

const Count = z.number().int().min(0);

const Activity = z
  .object({
    commit: OidSchema,
    since: z.iso.date(),
    until: z.iso.date(),
    total: Count,
    periods: z
      .array(z.object({ start: z.iso.date(), commits: Count }))
      .openapi({ description: "days or weeks with commits, earliest first; a week begins on Monday" }),
    hours: z
      .array(z.array(Count).length(24))
      .length(7)
      .openapi({ description: "commits by weekday, Monday first, and by hour" }),
  })
  .openapi("Activity");

const read = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/activity",
  tags: ["stats"],
  summary: "Count commits by day or week, and by hour",
  description:
    "Counts all commits reachable from the ref, merges included, by author date in the author's own time zone. One request covers at most ten years.",
  request: {
    params: RepositoryParams,
    query: z.object({
      ref: RefSchema.default("HEAD"),
      since: z.iso.date().optional().openapi({ description: "first day; default: a year before `until`" }),
      until: z.iso
        .date()
        .optional()
        .openapi({ description: "last day; default: tomorrow in UTC, which has begun in some time zones" }),
      per: z.enum(["day", "week"]).default("day"),
    }),
  },
  responses: {
    200: { description: "The counts.", ...json(Activity) },
    304: { description: "Not modified." },
    ...failures(),
  },
});

/** `/repos/:owner/:repo/activity`: commits by day or week, and by hour. */
export const activityRoutes = newRoutes().openapi(read, async (context) => {
  const { ref, per, ...asked } = context.req.valid("query");
  const until = asked.until ?? toDate(Date.now() + DAY_MS);
  const since = asked.since ?? toDate(Math.max(Date.parse(until) - 365 * DAY_MS, 0));
  if (Date.parse(until) - Date.parse(since) >= MAX_DAYS * DAY_MS) {
    throw new GitError("invalid", {
      what: "since",
      field: "since",
      reason: `more than ${MAX_DAYS} days until ${until}`,
    });
  }
  const { commit, ...counts } = await repositoryOf(context).activity({ ref, since, until, per });
  return answerByIds(context, [commit, since, until], false, () =>
    context.json({ commit, since, until, ...counts }, 200),
  );
});

function toDate(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}
