import { z } from "@hono/zod-openapi";
import { decodeText } from "../../../base/format/byte-string.ts";
import { answerByIds } from "../common/conditional.ts";
import { failures } from "../common/error.ts";
import { pathParts } from "../common/path-parts.ts";
import { defineRoute, newRoutes, repositoryOf, serveBelow } from "../common/routes.ts";
import { CommitSchema, OidSchema, RepositoryParams, json } from "../common/schemas.ts";

const Line = z.int().min(1).openapi({ description: "line number, from 1" });

const BlameSchema = z
  .object({
    commit: OidSchema.openapi({ description: "the commit that `ref` names" }),
    path: z.string(),
    oid: OidSchema.openapi({ description: "id of the file's blob" }),
    ranges: z
      .array(
        z.object({
          start: Line,
          count: z.int().min(1),
          commit: z.union([OidSchema, z.null()]).openapi({
            description: "the commit that introduced these lines; null: not found yet",
          }),
          originalStart: Line.openapi({ description: "first line in that commit" }),
          originalPath: z.string().openapi({ description: "the file's path in that commit" }),
        }),
      )
      .openapi({ description: "all lines, in order" }),
    commits: z.array(CommitSchema).openapi({ description: "the commits of `ranges`, newest first" }),
    truncated: z
      .boolean()
      .openapi({ description: "whether lines are left to trace: the same request goes on with them" }),
  })
  .openapi("Blame");

const Query = z.object({
  lines: z
    .string()
    .regex(/^[1-9]\d{0,8},[1-9]\d{0,8}$/, "it must be first,last")
    .refine((text) => lineNumbers(text)[0] <= lineNumbers(text)[1], "the last line must not be before the first")
    .optional()
    .openapi({ description: "first and last line; default: all lines", example: "10,20" }),
});

const read = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/blame/{ref}/{path}",
  tags: ["history"],
  summary: "Show which commit introduced each line of a file",
  description:
    "Works like `git blame` and follows renames of the file. Slashes in the path, and in the name of a branch or tag, need not be encoded.",
  request: {
    params: RepositoryParams.extend({ ref: z.string().min(1), path: z.string().min(1) }),
    query: Query,
  },
  responses: {
    200: { description: "The origin of each line.", ...json(BlameSchema) },
    304: { description: "Not modified." },
    ...failures(),
  },
});

/** `/repos/:owner/:repo/blame/:ref/*path`. */
export const blameRoutes = newRoutes();
serveBelow(blameRoutes, read, "/repos/:owner/:repo/blame/*", async (context, query) => {
  const lines = query.lines === undefined ? null : lineNumbers(query.lines);
  const repository = repositoryOf(context);
  const { commit, path, isImmutable } = await repository.locateFile(pathParts(context));
  let isWhole = true;
  const response = await answerByIds(context, [commit], isImmutable, async () => {
    const found = await repository.blame({ commit, path, lines });
    isWhole = !found.truncated;
    const ranges = found.ranges.map((range) => ({ ...range, originalPath: decodeText(range.originalPath) }));
    return context.json({ ...found, path: decodeText(found.path), ranges });
  });
  // An incomplete answer must not be cached: the next one may be complete.
  if (isWhole) return response;
  response.headers.delete("ETag");
  response.headers.set("Cache-Control", "no-store");
  return response;
});

function lineNumbers(text: string): [first: number, last: number] {
  return text.split(",").map(Number) as [number, number];
}
