import { z } from "@hono/zod-openapi";
import { GitError } from "../../../base/format/errors.ts";
import { answerByIds } from "../common/conditional.ts";
import { answerPatch, DiffFields, DiffQuerySchema, diffResponse, toDiffFields, wantsPatch } from "./diff-answer.ts";
import { failures } from "../common/error.ts";
import { decodeCursor } from "../common/paging.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import {
  CommitSchema,
  MessagePartsSchema,
  NullableOidSchema,
  OidSchema,
  PartSchema,
  RefSchema,
  RepositoryParams,
} from "../common/schemas.ts";

const ShownCommit = CommitSchema.extend({
  signature: z.string().nullable().openapi({
    description: "the signature as stored, not verified; null: the commit is not signed",
  }),
  signatureTruncated: z.boolean().optional().openapi({ description: "true: the signature is cut" }),
  messageParts: MessagePartsSchema,
  base: NullableOidSchema.openapi({ description: "the parent that it is compared with; null: a root commit" }),
  ...DiffFields,
}).openapi("ShownCommit");

const read = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/commits/{ref}",
  tags: ["history"],
  summary: "Show a commit and what it changed",
  request: {
    params: RepositoryParams.extend({ ref: RefSchema }),
    query: DiffQuerySchema.extend({
      part: PartSchema,
      parent: z.coerce.number().int().min(1).optional().openapi({
        description: "the parent of a merge to compare with, from 1; default: the first",
      }),
    }),
  },
  responses: {
    200: diffResponse("The commit and a page of its changed files, or the whole patch.", ShownCommit),
    304: { description: "Not modified." },
    ...failures(),
  },
});

/** The commit whose files a page lists, and how many files precede the page. */
const Place = z.object({ commit: OidSchema, start: z.int().min(0) });

/** `/repos/:owner/:repo/commits/:ref`. */
export const commitRoutes = newRoutes().openapi(read, async (context) => {
  const { cursor, format, limit, part, parent = 1 } = context.req.valid("query");
  const { ref } = context.req.valid("param");
  const place = decodeCursor(context, cursor, Place);
  const repository = repositoryOf(context);
  const commit = await repository.showCommit({ ref: place?.commit ?? ref, part });
  const base = commit.parents[parent - 1] ?? null;
  if (base === null && parent > 1) {
    const reason = `the commit has ${commit.parents.length} parents`;
    throw new GitError("invalid", { what: "parent", field: "parent", reason });
  }
  const isPatch = wantsPatch(context, format);
  const isImmutable = place !== null || commit.oid === ref;
  return answerByIds(context, [commit.oid, isPatch ? "patch" : "json"], isImmutable, async () => {
    if (isPatch) return answerPatch(repository, base, commit.oid);
    const page = await repository.diff({ base, head: commit.oid, start: place?.start ?? 0, limit });
    const fields = toDiffFields(context, page, (start) => ({ commit: commit.oid, start }));
    return context.json({ ...commit, base, ...fields }, 200, { Vary: "Accept" });
  });
});
