import { z } from "@hono/zod-openapi";
import { encodeText } from "../../format/byte-string.ts";
import { answerByIds } from "../common/conditional.ts";
import { failures } from "../common/error.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { OidSchema, RefSchema, RepositoryParams, json } from "../common/schemas.ts";

/** Maximum number of heads. */
const MAX_HEADS = 50;

const MergeBase = z
  .object({
    base: OidSchema,
    heads: z.array(OidSchema),
    mergeBases: z.array(OidSchema).openapi({
      description: "the best common ancestors, newest first; empty: the histories are unrelated",
    }),
  })
  .openapi("MergeBase");

const read = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/merge-base",
  tags: ["history"],
  summary: "Find the merge bases of two commits, or of one commit and a hypothetical merge of several",
  request: {
    params: RepositoryParams,
    query: z.object({
      base: RefSchema,
      head: z
        .union([RefSchema, z.array(RefSchema).min(1).max(MAX_HEADS)])
        .openapi({ description: "repeat it for several" }),
    }),
  },
  responses: {
    200: { description: "The merge bases.", ...json(MergeBase) },
    304: { description: "Not modified." },
    ...failures(),
  },
});

/** `/repos/:owner/:repo/merge-base`. */
export const mergeBaseRoutes = newRoutes().openapi(read, async (context) => {
  const { base, head } = context.req.valid("query");
  const found = await repositoryOf(context).mergeBase({ base: encodeText(base), heads: [head].flat().map(encodeText) });
  const answer = () => context.json(found, 200);
  const ids = [found.base, ...found.heads];
  return (await answerByIds(context, ids, false, answer)) as ReturnType<typeof answer>;
});
