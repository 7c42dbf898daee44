import { z } from "@hono/zod-openapi";
import type { Foreign } from "../../shared/comparison.ts";
import { encodeText } from "../../../base/format/byte-string.ts";
import { answerByIds } from "../common/conditional.ts";
import { failures } from "../common/error.ts";
import { FOREIGN_HINT, openForeign } from "../common/foreign.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { OidSchema, RefSchema, RepositoryParams, json } from "../common/schemas.ts";
import type { RepositoryClient } from "../../../contract/calls.ts";

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
        .openapi({ description: `repeat it for several; a single one may be ${FOREIGN_HINT.slice(3)}` }),
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
  const heads = [head].flat();
  const foreign = heads.length === 1 ? await openForeign(context, heads[0]!) : null;
  const found =
    foreign === null
      ? await repositoryOf(context).mergeBase({ base: encodeText(base), heads: heads.map(encodeText) })
      : await findAcross(repositoryOf(context), encodeText(base), foreign);
  const answer = () => context.json(found, 200);
  const ids = [found.base, ...found.heads];
  return (await answerByIds(context, ids, false, answer)) as ReturnType<typeof answer>;
});

/** @param base byte string, a revision */
async function findAcross(repository: RepositoryClient, base: string, { client, branch }: Foreign) {
  const { commit, oids } = await client.ancestry(`refs/heads/${branch}`);
  const found = await repository.commonAncestors({ revision: base, oids });
  return { base: found.base, heads: [commit], mergeBases: found.mergeBases };
}
