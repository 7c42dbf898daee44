import { z } from "@hono/zod-openapi";
import {
  MAX_ALLOWED_TOKENS,
  MAX_PROTECTED,
  MAX_REQUIRED_CONTEXTS,
  type ProtectedRefs,
} from "../../../base/access/ref-rules.ts";
import { decodeText, encodeText } from "../../../base/format/byte-string.ts";
import { GitError } from "../../../base/format/errors.ts";
import { failures } from "../common/error.ts";
import type { Place, TokenService } from "../../shared/deployment.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { ContextSchema, RefPatternSchema, RepositoryParams, json } from "../common/schemas.ts";

const Rule = z
  .strictObject({
    pattern: RefPatternSchema,
    noForce: z.boolean().default(false).openapi({
      description: "refuse what git needs --force for: moves that are not fast-forward, and any move of a tag",
    }),
    noDelete: z.boolean().default(false),
    fastForwardOnly: z
      .boolean()
      .default(false)
      .openapi({ description: "allow only moves to descendants, for tags too, and no deletion" }),
    allowedTokens: z.array(z.string().max(100)).max(MAX_ALLOWED_TOKENS).nullable().default(null).openapi({
      description:
        "ids of the tokens that may create, move or delete these refs, besides admins; null: everyone with the right to write",
    }),
    requiredContexts: z
      .array(ContextSchema)
      .max(MAX_REQUIRED_CONTEXTS)
      .default([])
      .openapi({
        description:
          "contexts in which a commit must have the status `success` before it is merged or cherry-picked into these refs; pushes and commits need none",
        example: ["ci/tests"],
      }),
  })
  .openapi("ProtectedRefsRule");

const Rules = z
  .strictObject({
    rules: z.array(Rule).max(MAX_PROTECTED).openapi({
      description: "every rule with a matching pattern applies; what it forbids is forbidden to admins, too",
    }),
  })
  .openapi("ProtectedRefs", {
    example: { rules: [{ pattern: "refs/heads/main", noForce: true, noDelete: true }] },
  });

const content = json(Rules);
const responses = { 200: { description: "The rules.", ...content }, ...failures() };
const path = "/repos/{owner}/{repo}/protected-refs";
const tags = ["refs"];

const read = defineRoute("read", {
  method: "get",
  path,
  tags,
  summary: "List the rules for protected refs",
  request: { params: RepositoryParams },
  responses,
});

const configure = defineRoute("admin", {
  method: "put",
  path,
  tags,
  summary: "Replace the rules for protected refs",
  description: "They apply at once to every push, commit, merge and other change that has not finished.",
  request: { params: RepositoryParams, body: { required: true, ...content } },
  responses,
});

/** `/repos/:owner/:repo/protected-refs`: rules for changes of refs. */
export const protectedRefRoutes = newRoutes()
  .openapi(read, async (context) => context.json(show(await repositoryOf(context).protectedRefs()), 200))
  .openapi(configure, async (context) => {
    const rules = context.req.valid("json").rules.map((rule) => ({ ...rule, pattern: encodeText(rule.pattern) }));
    const { owner, repo } = context.req.valid("param");
    const ids = rules.flatMap(({ allowedTokens }) => allowedTokens ?? []);
    if (ids.length > 0) await demandTokens(context.get("host").tokens, { owner, repository: repo }, ids);
    return context.json(show(await repositoryOf(context).configureProtectedRefs(rules)), 200);
  });

/** @throws GitError "invalid" for ids of tokens without access to the repository: a rule with only
 * such ids would shut everyone out */
async function demandTokens(tokens: TokenService, place: Required<Place>, ids: readonly string[]): Promise<void> {
  const unknown = await tokens.findUnknown(place, ids);
  if (unknown.length === 0) return;
  const shown = unknown.slice(0, 10).join(", ");
  const reason = `no token for this repository, or for all of its owner's, has the id ${shown}`;
  throw new GitError("invalid", { what: "allowedTokens", field: "allowedTokens", reason });
}

function show(rules: readonly ProtectedRefs[]): z.output<typeof Rules> {
  return {
    rules: rules.map(({ pattern, allowedTokens, requiredContexts, ...rest }) => ({
      ...rest,
      requiredContexts: [...requiredContexts],
      pattern: decodeText(pattern),
      allowedTokens: allowedTokens && [...allowedTokens],
    })),
  };
}
