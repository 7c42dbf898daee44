import { z } from "@hono/zod-openapi";
import { decodeText, encodeText } from "../format/byte-string.ts";
import { MAX_WORKTREES } from "../format/limits.ts";
import type { WorktreesStatus } from "../repository/worktree/worktree-status.ts";
import { failures } from "./error.ts";
import { defineRoute, newRoutes, repositoryOf } from "./routes.ts";
import { BranchSchema, NullableOidSchema, RepositoryParams } from "./schemas.ts";

const Count = z.number().int().min(0);

const Branches = z.array(BranchSchema).max(MAX_WORKTREES).nullable().openapi({
  description:
    "the branches that are materialized, there or not; null: as the deployment has it (its default branch), []: none",
});

const Worktrees = z
  .object({
    branches: z.array(z.string()).nullable(),
    worktrees: z.array(
      z.object({
        branch: z.string(),
        state: z.enum(["ready", "writing", "failing", "refused", "leaving", "absent"]).openapi({
          description:
            "`ready`: R2 holds the files of the branch's tip. `writing`: it is being brought there. `failing`: that failed and is tried again. " +
            "`refused`: the tip has too many paths. `leaving`: the files are on their way out. `absent`: there is no such branch",
        }),
        tip: NullableOidSchema.openapi({ description: "where the branch is" }),
        materialized: NullableOidSchema.openapi({ description: "the commit that all files in R2 were last of" }),
        materializedAt: z.iso.datetime().nullable(),
        files: Count.openapi({ description: "of the commit that is or will be materialized" }),
        bytes: Count,
        error: z.string().nullable().openapi({ description: "what is in the way of the tip" }),
      }),
    ),
  })
  .openapi("Worktrees");

const answer = {
  200: { description: "How the worktrees stand.", content: { "application/json": { schema: Worktrees } } },
  ...failures(),
};

const read = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/worktrees",
  tags: ["worktrees"],
  summary: "Tell which branches' files lie in R2, and of which commit",
  request: { params: RepositoryParams },
  responses: answer,
});

const configure = defineRoute("admin", {
  method: "put",
  path: "/repos/{owner}/{repo}/worktrees",
  tags: ["worktrees"],
  summary: "Choose the branches whose files lie in R2",
  request: {
    params: RepositoryParams,
    body: {
      required: true,
      content: {
        "application/json": {
          schema: z
            .object({ branches: Branches })
            .openapi("WorktreesChange", { example: { branches: ["main", "develop"] } }),
        },
      },
    },
  },
  responses: answer,
});

/** `/repos/:owner/:repo/worktrees`: GET tells of the branches whose files lie in R2, PUT chooses them. */
export const worktreesRoutes = newRoutes()
  .openapi(read, async (context) => context.json(show(await repositoryOf(context).worktrees()), 200))
  .openapi(configure, async (context) => {
    const branches = context.req.valid("json").branches?.map(encodeText) ?? null;
    return context.json(show(await repositoryOf(context).configureWorktrees({ branches })), 200);
  });

function show({ branches, worktrees }: WorktreesStatus): z.infer<typeof Worktrees> {
  return {
    branches: branches?.map(decodeText) ?? null,
    worktrees: worktrees.map(({ branch, materializedMs, sizeBytes, ...rest }) => ({
      ...rest,
      branch: decodeText(branch),
      materializedAt: materializedMs === null ? null : new Date(materializedMs).toISOString(),
      bytes: sizeBytes,
    })),
  };
}
