import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { decodeText, encodeText } from "../../../base/format/byte-string.ts";
import { isHexOid } from "../../../base/format/oid.ts";
import type { GrepResult } from "../../files/grep.ts";
import { LinePattern } from "../../files/line-pattern.ts";
import { searchFiles } from "../../files/search-files.ts";
import { answerByIds } from "../common/conditional.ts";
import { failures } from "../common/error.ts";
import { cursorFor, decodeCursor, NextCursor, PageQuery } from "../common/paging.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { OidSchema, PathSchema, pathsOf, RefSchema, RepositoryParams, json } from "../common/schemas.ts";

/** Maximum number of globs in a search: each is matched with every path. */
const MAX_GLOBS = 32;

const Flag = z.enum(["true", "false"]).default("false");

const Match = z
  .object({
    path: z.string(),
    oid: OidSchema.openapi({ description: "id of the file's blob" }),
    line: z.number().int().openapi({ description: "from 1" }),
    column: z.number().int().openapi({ description: "start of the first match, from 1, in UTF-16 units" }),
    text: z.string().openapi({ description: "the line, cut after 1,000 characters" }),
    before: z.array(z.string()).readonly(),
    after: z.array(z.string()).readonly(),
  })
  .openapi("Match");

const ResultSchema = z
  .object({
    commit: OidSchema,
    matches: z.array(Match),
    truncated: z
      .boolean()
      .openapi({ description: "whether the search ended before the last file; `nextCursor` continues it" }),
    nextCursor: NextCursor,
    searched: z.object({ files: z.number().int(), bytes: z.number().int() }),
    skipped: z.array(z.string()).openapi({ description: "paths of files that are too large to search" }),
  })
  .openapi("GrepResult");

const search = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/grep",
  tags: ["files"],
  summary: "Search the files of a commit",
  description:
    "Searches line by line, like `git grep -n --column -I`. A search ends after `limit` matches, one second, 10,000 files, or 32 MiB; pass `nextCursor` to continue it.",
  request: {
    params: RepositoryParams,
    query: z.object({
      ref: RefSchema.default("HEAD"),
      pattern: z
        .string()
        .min(1)
        .max(1_000)
        .regex(/^[^\n\0]*$/, "it must not contain a line feed or NUL: the search goes line by line")
        .openapi({ description: "a regular expression in RE2 syntax", example: "TODO|FIXME" }),
      path: z
        .union([PathSchema, z.array(PathSchema).max(MAX_GLOBS)])
        .optional()
        .openapi({
          description: "a directory, a file, or a glob as in git's `:(glob)`; repeat it for several",
          example: "src/**/*.ts",
        }),
      fixed: Flag.openapi({ description: "whether the pattern is a literal string" }),
      ignoreCase: Flag,
      word: Flag.openapi({ description: "whether to match whole words only" }),
      context: z.coerce
        .number()
        .int()
        .min(0)
        .max(10)
        .default(0)
        .openapi({ description: "number of lines to show before and after each match" }),
      limit: z.coerce.number().int().min(1).max(1_000).default(100),
      cursor: PageQuery.shape.cursor,
    }),
  },
  responses: {
    200: { description: "The matches.", ...json(ResultSchema) },
    304: { description: "Not modified." },
    ...failures(),
  },
});

const Cursor = z.object({ commit: OidSchema, after: z.string(), line: z.number().int().min(0) });

/** `/repos/:owner/:repo/grep`: searches the files of a commit. */
export const grepRoutes = newRoutes().openapi(search, async (context) => {
  const {
    ref,
    pattern: text,
    path: _,
    fixed,
    ignoreCase,
    word,
    cursor: encoded,
    ...options
  } = context.req.valid("query");
  const flags = { fixed: fixed === "true", ignoreCase: ignoreCase === "true", word: word === "true" };
  const pattern = new LinePattern({ pattern: text, ...flags });
  const cursor = decodeCursor(context, encoded, Cursor);
  const result = await searchFiles((request) => repositoryOf(context).planFiles(request), context.get("reading"), {
    ref: cursor?.commit ?? encodeText(ref),
    pattern,
    globs: pathsOf(context),
    from: cursor,
    ...options,
  });
  const { commit } = result;
  const answer = () => context.json(showResult(context, result), 200);
  // An incomplete search must not be cached: the next one may get further.
  if (result.next !== null) return answer();
  return (await answerByIds(context, [commit], cursor !== null || isHexOid(ref), answer)) as ReturnType<typeof answer>;
});

function showResult(
  context: Context,
  { commit, matches, next, searched, skipped }: GrepResult & { readonly commit: string },
) {
  return {
    commit,
    matches: matches.map((match) => ({ ...match, path: decodeText(match.path) })),
    truncated: next !== null,
    nextCursor: next === null ? null : cursorFor(context, { commit, ...next }),
    searched,
    skipped: skipped.map((path) => decodeText(path)),
  };
}
