import { z } from "@hono/zod-openapi";
import { MAX_TOKEN_NAME, type Token } from "../../../base/access/caller.ts";
import { MAX_TOKEN_RULES } from "../../../base/access/ref-rules.ts";
import { decodeText, encodeText } from "../../../base/format/byte-string.ts";
import { failures } from "../common/error.ts";
import { cursorFor, decodeCursor, NextCursor, PageQuery } from "../common/paging.ts";
import { defineRoute, newRoutes } from "../common/routes.ts";
import { RefPatternSchema, json, toTime } from "../common/schemas.ts";

const Rule = z
  .strictObject({
    pattern: RefPatternSchema,
    noForce: z.boolean().default(false).openapi({ description: "refuse what git needs --force for" }),
    noDelete: z.boolean().default(false),
  })
  .openapi("TokenRefRule");

const Rules = z
  .array(Rule)
  .min(1)
  .max(MAX_TOKEN_RULES)
  .nullable()
  .openapi({ description: "the refs that it may change; the first matching pattern applies; null: all refs" });

const TokenSchema = z
  .object({
    id: z.string().openapi({ description: "identifies the token; not secret" }),
    name: z.string(),
    owner: z
      .string()
      .nullable()
      .openapi({ description: "the token is valid for all repositories of this owner; else null" }),
    repositoryId: z.string().nullable().openapi({ description: "the token is valid for this repository; else null" }),
    right: z.enum(["read", "write", "admin"]),
    refs: Rules,
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().nullable(),
    lastUsedAt: z.iso.datetime().nullable().openapi({ description: "precise to an hour; null: never used" }),
  })
  .openapi("Token");

const Scope = z.object({
  owner: z.string().openapi({ example: "me" }),
  repository: z
    .string()
    .optional()
    .openapi({ description: "default: all present and future repositories of the owner" }),
});

const create = defineRoute("token", {
  method: "post",
  path: "/tokens",
  tags: ["tokens"],
  summary: "Create a token",
  description:
    "Needs the right `admin` for the token's scope. A token that expires cannot create one that lives longer.",
  request: {
    body: {
      required: true,
      ...json(
        z
          .strictObject({
            ...Scope.shape,
            name: z
              .string()
              .min(1)
              .max(MAX_TOKEN_NAME)
              .openapi({ description: "what the token is for", example: "ci" }),
            right: z.enum(["read", "write", "admin"]),
            refs: Rules.default(null),
            expiresAt: z.iso.datetime({ offset: true }).nullable().default(null),
          })
          .refine(({ right, refs }) => right === "write" || refs === null, {
            path: ["refs"],
            error: "only a token with the right write can be limited to refs: an admin could lift the limit",
          })
          .openapi("TokenRequest", {
            example: {
              owner: "me",
              repository: "my-repo",
              name: "ci",
              right: "read",
              expiresAt: "2030-01-01T00:00:00Z",
            },
          }),
      ),
    },
  },
  responses: {
    201: {
      description: "The token. `token` holds its secret text, which is shown only this once and not stored.",
      ...json(TokenSchema.extend({ token: z.string().openapi({ example: "hf_…" }) }).openapi("NewToken")),
    },
    ...failures(409),
  },
});

const list = defineRoute("token", {
  method: "get",
  path: "/tokens",
  tags: ["tokens"],
  summary: "List the tokens of an owner, or of a repository",
  request: { query: PageQuery.extend(Scope.shape) },
  responses: {
    200: {
      description: "One page, including tokens that expired within a day.",
      ...json(z.object({ tokens: z.array(TokenSchema), nextCursor: NextCursor }).openapi("Tokens")),
    },
    ...failures(),
  },
});

const Id = z.object({
  id: z.string().max(100).openapi({ description: "a token's id, or `current` for the token of this request" }),
});

const read = defineRoute("token", {
  method: "get",
  path: "/tokens/{id}",
  tags: ["tokens"],
  summary: "Show a token",
  request: { params: Id },
  responses: { 200: { description: "The token.", ...json(TokenSchema) }, ...failures() },
});

const revoke = defineRoute("token", {
  method: "delete",
  path: "/tokens/{id}",
  tags: ["tokens"],
  summary: "Revoke a token",
  description: "It takes effect within ten seconds everywhere. A token may always revoke itself.",
  request: { params: Id },
  responses: { 204: { description: "The token is revoked." }, ...failures() },
});

/** `/tokens`: create, list, show and revoke tokens. */
export const tokenRoutes = newRoutes()
  .openapi(create, async (context) => {
    const { owner, repository, expiresAt, refs, ...rest } = context.req.valid("json");
    const { token, text } = await context.get("host").tokens.create(
      { owner, repository },
      {
        ...rest,
        refs: refs?.map((rule) => ({ ...rule, pattern: encodeText(rule.pattern) })) ?? null,
        expiresMs: expiresAt === null ? null : Date.parse(expiresAt),
      },
    );
    context.header("Cache-Control", "no-store");
    return context.json({ ...toJson(token), token: text }, 201, { Location: `/api/tokens/${token.id}` });
  })
  .openapi(list, async (context) => {
    const { owner, repository, limit, cursor } = context.req.valid("query");
    const after = decodeCursor(context, cursor, z.string()) ?? "";
    const tokens = await context.get("host").tokens.list({ owner, repository }, after, limit + 1);
    const last = tokens.length > limit ? tokens[limit - 1]! : null;
    const nextCursor = last === null ? null : cursorFor(context, last.id);
    return context.json({ tokens: tokens.slice(0, limit).map(toJson), nextCursor }, 200);
  })
  .openapi(read, async (context) => {
    return context.json(toJson(await context.get("host").tokens.read(context.req.valid("param").id)), 200);
  })
  .openapi(revoke, async (context) => {
    await context.get("host").tokens.revoke(context.req.valid("param").id);
    return context.body(null, 204);
  });

function toJson(token: Token): z.output<typeof TokenSchema> {
  const { id, name, scope, right, refs, createdMs, expiresMs, lastUsedMs } = token;
  return {
    id,
    name,
    owner: "owner" in scope ? scope.owner : null,
    repositoryId: "owner" in scope ? null : scope.repositoryId,
    right,
    refs: refs?.map((rule) => ({ ...rule, pattern: decodeText(rule.pattern) })) ?? null,
    createdAt: toTime(createdMs),
    expiresAt: toTime(expiresMs),
    lastUsedAt: toTime(lastUsedMs),
  };
}
