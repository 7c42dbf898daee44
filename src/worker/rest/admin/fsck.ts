import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { decodeText } from "../../../base/format/byte-string.ts";
import { FSCK_STAGES, type FsckReport, FSCK_PROBLEMS } from "../../../contract/upkeep.ts";
import { failures } from "../common/error.ts";
import { cursorFor, CursorSchema, decodeCursor, NextCursor } from "../common/paging.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { OidSchema, RepositoryParams, json } from "../common/schemas.ts";

const Count = z.number().int().min(0);

const Problem = z
  .object({
    kind: z.enum(FSCK_PROBLEMS),
    oid: OidSchema.optional(),
    chunk: z.number().int().optional().openapi({ description: "id of a chunk of stored objects" }),
    key: z.string().optional().openapi({ description: "key of an R2 object" }),
    ref: z.string().optional(),
    detail: z.string().openapi({ description: "an explanation for people" }),
  })
  .openapi("FsckProblem");

const Report = z
  .object({
    checked: z
      .object({
        chunks: Count,
        bytes: Count,
        objects: Count,
        references: Count,
        nodes: Count.openapi({ description: "commits and tags whose reachability data was recomputed and compared" }),
        skippedNodes: Count.openapi({
          description: "commits and tags left out because one of their trees could not be read",
        }),
        refs: Count,
        files: Count.openapi({ description: "R2 objects of the bundle, of stored responses and of worktrees" }),
        keys: Count.openapi({ description: "R2 keys listed" }),
        repaired: Count,
      })
      .openapi({ description: "what this call has checked" }),
    problems: z.array(Problem).readonly().openapi({ description: "the first 1,000 problems that this call found" }),
    problemCount: Count,
    nextCursor: NextCursor,
  })
  .openapi("FsckReport");

const Place = z
  .object({ stage: z.enum(FSCK_STAGES), after: z.string(), hasLostRows: z.boolean().optional() })
  .refine(({ stage, after }) => !/^(index|chunks|reachability|filters)$/.test(stage) || /^(\d+(\.\d+)?)?$/.test(after));

const run = defineRoute("admin", {
  method: "post",
  path: "/repos/{owner}/{repo}/fsck",
  tags: ["maintenance"],
  summary: "Check the integrity of a repository",
  description:
    "Each call checks for one second. Pass `nextCursor` to continue; it is null when everything has been checked. A problem of kind `orphan` is unused storage; all other kinds are damage.",
  request: {
    params: RepositoryParams,
    query: z.object({
      cursor: CursorSchema.openapi({ description: "`nextCursor` of the previous call" }),
      rules: z
        .enum(["default", "strict", "lenient"])
        .optional()
        .openapi({ description: "also run git's fsck on every object, with these rules" }),
      repair: z
        .enum(["true", "false"])
        .default("false")
        .openapi({ description: "rebuild what can be rebuilt from stored objects" }),
    }),
  },
  responses: {
    200: {
      description: "What was checked, and the problems found.",
      ...json(Report),
    },
    ...failures(),
  },
});

/** `/repos/:owner/:repo/fsck`: POST checks part of a repository. */
export const fsckRoutes = newRoutes().openapi(run, async (context) => {
  const { cursor, rules, repair } = context.req.valid("query");
  const report = await repositoryOf(context).fsck({
    place: decodeCursor(context, cursor, Place),
    rules: rules ?? null,
    repair: repair === "true",
  });
  return context.json(toJson(context, report), 200);
});

function toJson(context: Context, { next, problems, ...report }: FsckReport): z.input<typeof Report> {
  return {
    ...report,
    problems: problems.map(({ ref, ...problem }) => ({
      ...problem,
      ...(ref !== undefined && { ref: decodeText(ref) }),
    })),
    nextCursor: next === null ? null : cursorFor(context, next),
  };
}
