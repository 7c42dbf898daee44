import { z } from "@hono/zod-openapi";
import { decodeText, encodeText } from "../../../base/format/byte-string.ts";
import { MAX_WORKTREES } from "../../../base/format/limits.ts";
import type { WorktreesStatus } from "../../../contract/upkeep.ts";
import { failures } from "../common/error.ts";
import { toTime, BranchSchema, NullableOidSchema, RepositoryParams, json } from "../common/schemas.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";

const Count = z.number().int().min(0);

const Branches = z.array(BranchSchema).max(MAX_WORKTREES).nullable().openapi({
  description:
    "the branches to materialize, whether they exist or not; null: the deployment's setting (by default, the default branch); []: none",
});

const Worktrees = z
  .object({
    branches: z.array(z.string()).nullable(),
    bytes: Count.openapi({ description: "of the files of all branches" }),
    maxBytes: Count.openapi({
      description: "what these may take together: it grows with what the repository has stored",
    }),
    worktrees: z.array(
      z.object({
        branch: z.string(),
        state: z.enum(["ready", "writing", "failing", "refused", "leaving", "absent"]).openapi({
          description:
            "`ready`: R2 holds the files of the branch's tip. `writing`: they are being written. `failing`: writing failed and will be retried. " +
            "`refused`: the tip has too many paths, or the files of all branches would take more than `maxBytes`. `leaving`: the files are being removed. `absent`: the branch does not exist",
        }),
        tip: NullableOidSchema.openapi({ description: "the branch's tip" }),
        materialized: NullableOidSchema.openapi({ description: "the last commit whose files were all in R2" }),
        materializedAt: z.iso.datetime().nullable(),
        files: Count.openapi({ description: "number of files of the commit that is or will be materialized" }),
        bytes: Count,
        error: z.string().nullable().openapi({ description: "why the tip is not materialized" }),
      }),
    ),
  })
  .openapi("Worktrees");

const answer = {
  200: { description: "The state of the worktrees.", ...json(Worktrees) },
  ...failures(),
};

const read = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/worktrees",
  tags: ["worktrees"],
  summary: "Show which branches are materialized as files in R2",
  request: { params: RepositoryParams },
  responses: answer,
});

const configure = defineRoute("admin", {
  method: "put",
  path: "/repos/{owner}/{repo}/worktrees",
  tags: ["worktrees"],
  summary: "Choose the branches to materialize as files in R2",
  request: {
    params: RepositoryParams,
    body: {
      required: true,
      content: {
        "application/json": {
          schema: z
            .strictObject({ branches: Branches })
            .openapi("WorktreesChange", { example: { branches: ["main", "develop"] } }),
        },
      },
    },
  },
  responses: answer,
});

/** `/repos/:owner/:repo/worktrees`: GET shows the branches whose files are in R2, PUT chooses
 * them. */
export const worktreesRoutes = newRoutes()
  .openapi(read, async (context) => context.json(show(await repositoryOf(context).worktrees()), 200))
  .openapi(configure, async (context) => {
    const branches = context.req.valid("json").branches?.map(encodeText) ?? null;
    return context.json(show(await repositoryOf(context).configureWorktrees({ branches })), 200);
  });

function show({ branches, worktrees, sizeBytes, maxBytes }: WorktreesStatus): z.infer<typeof Worktrees> {
  return {
    bytes: sizeBytes,
    maxBytes,
    branches: branches?.map(decodeText) ?? null,
    worktrees: worktrees.map(({ branch, materializedMs, sizeBytes, ...rest }) => ({
      ...rest,
      branch: decodeText(branch),
      materializedAt: toTime(materializedMs),
      bytes: sizeBytes,
    })),
  };
}
