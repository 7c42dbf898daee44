import { z } from "@hono/zod-openapi";
import { encodeText } from "../../../base/format/byte-string.ts";
import { GitError } from "../../../base/format/errors.ts";
import { parseRange, type Range, relate } from "../../shared/comparison.ts";
import { answerByIds } from "../common/conditional.ts";
import { answerPatch, DiffFields, DiffQuerySchema, diffResponse, toDiffFields, wantsPatch } from "./diff-answer.ts";
import { failures } from "../common/error.ts";
import { decodeCursor } from "../common/paging.ts";
import { familyOf, FOREIGN_HINT } from "../common/foreign.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { CommitSchema, NullableOidSchema, OidSchema, RefSchema, RepositoryParams } from "../common/schemas.ts";

/** Maximum number of commits in a comparison. */
const MAX_COMMITS = 250;

const Comparison = z
  .object({
    base: OidSchema,
    head: OidSchema,
    mergeBase: NullableOidSchema.openapi({
      description: "the best common ancestor, the newest of several; null: there is none",
    }),
    ahead: z.number().int().min(0).openapi({ description: "commits reachable from head but not from base" }),
    behind: z.number().int().min(0).openapi({ description: "commits reachable from base but not from head" }),
    commits: z.array(CommitSchema).openapi({
      description: `the commits of \`git log base..head\`, at most ${MAX_COMMITS}; only on the first page`,
    }),
    ...DiffFields,
  })
  .openapi("Comparison");

const read = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/compare/{range}",
  tags: ["history"],
  summary: "Compare two commits",
  description:
    "`base...head` shows the changes on head since the merge base, like `git diff base...head`; `base..head` compares the two commits directly. An omitted side is HEAD.",
  request: {
    params: RepositoryParams.extend({
      range: z
        .string()
        .max(2_010)
        .openapi({
          description: `two revisions, separated by two or three dots; a side may be one of this repository, ${FOREIGN_HINT}, with three dots`,
          example: "main...topic",
        }),
    }),
    query: DiffQuerySchema,
  },
  responses: {
    200: diffResponse(
      "The relation of the two commits and a page of the files that differ, or the whole patch.",
      Comparison,
    ),
    304: { description: "Not modified." },
    ...failures(),
  },
});

/** The commits whose files a page lists, and how many files precede the page. */
const Place = z.object({ base: OidSchema, head: OidSchema, start: z.int().min(0) });

/** `/repos/:owner/:repo/compare/:range`. */
export const compareRoutes = newRoutes().openapi(read, async (context) => {
  const { cursor, format, limit } = context.req.valid("query");
  const range = readRange(context.req.valid("param").range);
  const place = decodeCursor(context, cursor, Place);
  const related = await relate(repositoryOf(context), familyOf(context), range, place);
  const { base, head, bases, repository, foreign: _, ...relation } = related;
  const from = range.isSinceMergeBase ? relation.mergeBase : base;
  if (from === null)
    throw new GitError("not-found", { what: "merge base", reason: "the commits have no common ancestor" });
  const isPatch = wantsPatch(context, format);
  const isImmutable = place !== null || (base === range.base && head === range.head);
  return answerByIds(context, [base, head, isPatch ? "patch" : "json"], isImmutable, async () => {
    if (isPatch) return answerPatch(repository, from, head);
    const [page, commits] = await Promise.all([
      repository.diff({ base: from, head, start: place?.start ?? 0, limit }),
      place === null ? repository.commitsBetween({ bases, head, limit: MAX_COMMITS }) : [],
    ]);
    const fields = toDiffFields(context, page, (start) => ({ base, head, start }));
    return context.json({ base, head, ...relation, commits, ...fields }, 200, { Vary: "Accept" });
  });
});

/** @throws GitError "invalid" unless the text is two revisions with dots between them */
function readRange(text: string): Range {
  const range = parseRange(text);
  if (range === null || ![range.base, range.head].every((side) => RefSchema.safeParse(side).success))
    throw new GitError("invalid", { what: "range", field: "range", reason: "it must be base...head" });
  return { ...range, base: encodeText(range.base), head: encodeText(range.head) };
}
