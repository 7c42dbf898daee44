import { z } from "@hono/zod-openapi";
import { decodeText, encodeText } from "../format/byte-string.ts";
import { MAX_WALK_STEPS } from "../format/limits.ts";
import { isHexOid } from "../format/oid.ts";
import { BlobReader } from "../repository/files/blob-reader.ts";
import { type GrepResult, grepFiles } from "../repository/files/grep.ts";
import { LinePattern } from "../repository/files/line-pattern.ts";
import { readPlanned } from "../repository/files/planned-files.ts";
import { answerByIds } from "./conditional.ts";
import { failures } from "./error.ts";
import { decodeCursor, encodeCursor, NextCursor, PageQuery } from "./paging.ts";
import { defineRoute, newRoutes, repositoryOf } from "./routes.ts";
import { OidSchema, PathSchema, RefSchema, RepositoryParams } from "./schemas.ts";

/** Globs of one search: each is held against every path. */
const MAX_GLOBS = 32;

const Flag = z.enum(["true", "false"]).default("false");

const Match = z
  .object({
    path: z.string(),
    oid: OidSchema.openapi({ description: "of the file" }),
    line: z.number().int().openapi({ description: "from 1" }),
    column: z.number().int().openapi({ description: "from 1, in UTF-16 units: where the first match begins" }),
    text: z.string().openapi({ description: "the line, of which the first 1,000 characters are shown" }),
    before: z.array(z.string()).readonly(),
    after: z.array(z.string()).readonly(),
  })
  .openapi("Match");

const ResultSchema = z
  .object({
    commit: OidSchema,
    matches: z.array(Match),
    truncated: z.boolean().openapi({ description: "whether the search ended before the last file" }),
    nextCursor: NextCursor,
    searched: z.object({ files: z.number().int(), bytes: z.number().int() }),
    skipped: z.array(z.string()).openapi({ description: "files that are too large to be searched" }),
  })
  .openapi("GrepResult");

const search = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/grep",
  tags: ["files"],
  summary: "Search the files of a commit",
  description:
    "Line by line, as `git grep -n --column -I` does. A search ends when there are enough matches, or after a second, 10,000 files, or 32 MiB: `nextCursor` goes on with it.",
  request: {
    params: RepositoryParams,
    query: z.object({
      ref: RefSchema.default("HEAD"),
      pattern: z
        .string()
        .min(1)
        .max(1_000)
        .regex(/^[^\n\0]*$/, "lines are searched one by one")
        .openapi({ description: "a regular expression, in RE2's syntax", example: "TODO|FIXME" }),
      path: z
        .union([PathSchema, z.array(PathSchema).max(MAX_GLOBS)])
        .optional()
        .openapi({
          description: "directory, file, or glob as git's `:(glob)`; again and again for several",
          example: "src/**/*.ts",
        }),
      fixed: Flag.openapi({ description: "whether the pattern stands for itself" }),
      ignoreCase: Flag,
      word: Flag.openapi({ description: "whether a match must begin and end where words do" }),
      context: z.coerce.number().int().min(0).max(10).default(0).openapi({ description: "lines around each match" }),
      limit: z.coerce.number().int().min(1).max(1_000).default(100),
      cursor: PageQuery.shape.cursor,
    }),
  },
  responses: {
    200: { description: "What was found.", content: { "application/json": { schema: ResultSchema } } },
    304: { description: "As it was." },
    ...failures(),
  },
});

const Cursor = z.object({ commit: OidSchema, after: z.string(), line: z.number().int().min(0) });

/** `/repos/:owner/:repo/grep`: searches the files of a commit. */
export const grepRoutes = newRoutes().openapi(search, async (context) => {
  const { ref, pattern: text, path, fixed, ignoreCase, word, cursor: encoded, ...options } = context.req.valid("query");
  const flags = { fixed: fixed === "true", ignoreCase: ignoreCase === "true", word: word === "true" };
  const pattern = new LinePattern({ pattern: text, ...flags });
  const cursor = decodeCursor(encoded, Cursor);
  const from = { after: cursor?.after ?? "", line: cursor?.line ?? 0 };
  const globs = [path ?? []].flat().map((glob) => encodeText(glob));
  let steps = MAX_WALK_STEPS;
  const plan = async (revision: string, after: string) => {
    const request = { ref: revision, after, path: "", globs, purpose: "search", steps } as const;
    const window = await repositoryOf(context).planFiles(request);
    steps -= window.steps;
    return window;
  };
  const first = await plan(cursor?.commit ?? encodeText(ref), from.after);
  const { commit } = first;
  const reader = new BlobReader(context.get("reading"), "grep");
  const files = readPlanned(first, (after) => plan(commit, after), reader);
  const result = await grepFiles(files, pattern, { from, ...options });
  reader.finish(result.next === null);
  const answer = () => context.json({ commit, ...showResult(result, commit) }, 200);
  // What took too long may go further the next time.
  if (result.next !== null) return answer();
  return (await answerByIds(context, [commit], cursor !== null || isHexOid(ref), answer)) as ReturnType<typeof answer>;
});

function showResult({ matches, next, searched, skipped }: GrepResult, commit: string) {
  return {
    matches: matches.map((match) => ({ ...match, path: decodeText(match.path) })),
    truncated: next !== null,
    nextCursor: next === null ? null : encodeCursor({ commit, ...next }),
    searched,
    skipped: skipped.map((path) => decodeText(path)),
  };
}
