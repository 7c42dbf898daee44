import { z } from "@hono/zod-openapi";
import { GitError } from "../format/errors.ts";
import { answerByIds } from "./conditional.ts";
import { failures } from "./error.ts";
import { pathParts } from "./path-parts.ts";
import { defineRoute, newRoutes, repositoryOf, serveBelow } from "./routes.ts";
import { CommitSchema, OidSchema, RepositoryParams } from "./schemas.ts";

const Line = z.int().min(1).openapi({ description: "line number, from 1" });

const BlameSchema = z
  .object({
    commit: OidSchema.openapi({ description: "what `ref` stands for" }),
    path: z.string(),
    oid: OidSchema.openapi({ description: "of the file" }),
    ranges: z
      .array(
        z.object({
          start: Line,
          count: z.int().min(1),
          commit: z.union([OidSchema, z.null()]).openapi({
            description: "which brought these lines; null: it was not found in time",
          }),
          originalStart: Line.openapi({ description: "where they are in that commit" }),
          originalPath: z.string().openapi({ description: "what the file is called in that commit" }),
        }),
      )
      .openapi({ description: "all lines, in order" }),
    commits: z.array(CommitSchema).openapi({ description: "those in `ranges`, the newest first" }),
    truncated: z.boolean().openapi({ description: "whether the time was over before all was found" }),
  })
  .openapi("Blame");

const Query = z.object({
  lines: z
    .string()
    .regex(/^[1-9]\d{0,8},[1-9]\d{0,8}$/)
    .optional()
    .openapi({ description: "the first line and the last; without it all", example: "10,20" }),
});

const read = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/blame/{ref}/{path}",
  tags: ["history"],
  summary: "Tell which commit brought each line of a file",
  description:
    "As `git blame` does, through renames of the file. The slashes in the path may be written as they are, and those in a branch's or tag's name too.",
  request: {
    params: RepositoryParams.extend({ ref: z.string().min(1), path: z.string().min(1) }),
    query: Query,
  },
  responses: {
    200: { description: "Where the lines come from.", content: { "application/json": { schema: BlameSchema } } },
    304: { description: "As it was." },
    ...failures(),
  },
});

/** `/repos/:owner/:repo/blame/:ref/*path`. */
export const blameRoutes = newRoutes();
serveBelow(blameRoutes, read, "/repos/:owner/:repo/blame/*", async (context) => {
  const lines = parseLines(context.req.query("lines"));
  const repository = repositoryOf(context);
  const { commit, path, isImmutable } = await repository.locateFile(pathParts(context));
  let isWhole = true;
  const response = await answerByIds(context, [commit], isImmutable, async () => {
    const found = await repository.blame({ commit, path, lines });
    isWhole = !found.truncated;
    return context.json(found);
  });
  // What was cut short may come out whole the next time.
  if (isWhole) return response;
  response.headers.delete("ETag");
  response.headers.set("Cache-Control", "no-store");
  return response;
});

/** @throws GitError "invalid" */
function parseLines(text: string | undefined): [first: number, last: number] | null {
  const { success, data } = Query.safeParse({ lines: text });
  const [first, last] = data?.lines?.split(",").map(Number) ?? [];
  if (text === undefined) return null;
  if (!success || last! < first!) throw new GitError("invalid", { what: "lines", field: "lines", actual: text });
  return [first!, last!];
}
