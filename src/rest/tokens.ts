import { z } from "@hono/zod-openapi";
import type { Token } from "../access/caller.ts";
import { decodeText, encodeText } from "../format/byte-string.ts";
import { failures } from "./error.ts";
import { decodeCursor, encodeCursor, NextCursor, PageQuery } from "./paging.ts";
import { defineRoute, newRoutes } from "./routes.ts";
import { RefPatternSchema } from "./schemas.ts";

/** Rules of one token: it goes with each request to the repository's object, in a header of a push. */
const MAX_RULES = 20;

const Rule = z
  .strictObject({
    pattern: RefPatternSchema,
    noForce: z.boolean().default(false).openapi({ description: "what git needs --force for is refused" }),
    noDelete: z.boolean().default(false),
  })
  .openapi("TokenRefRule");

const Rules = z
  .array(Rule)
  .min(1)
  .max(MAX_RULES)
  .nullable()
  .openapi({ description: "the refs that it may move, by the first pattern that fits; null: all" });

const TokenSchema = z
  .object({
    id: z.string().openapi({ description: "names it; no secret" }),
    name: z.string(),
    owner: z.string().nullable().openapi({ description: "it holds for whatever this owner has" }),
    repositoryId: z.string().nullable().openapi({ description: "it holds for this repository" }),
    right: z.enum(["read", "write", "admin"]),
    refs: Rules,
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().nullable(),
    lastUsedAt: z.iso.datetime().nullable().openapi({ description: "to the minute" }),
  })
  .openapi("Token");

const Scope = z.object({
  owner: z.string().openapi({ example: "me" }),
  repository: z.string().optional().openapi({ description: "without it: all that the owner has, and will have" }),
});

const json = <Schema extends z.ZodType>(schema: Schema) => ({ content: { "application/json": { schema } } });

const create = defineRoute("token", {
  method: "post",
  path: "/tokens",
  tags: ["tokens"],
  summary: "Give out a token",
  description:
    "This needs the right `admin` for what the token is for. A token that can expire gives out none that lives longer.",
  request: {
    body: {
      required: true,
      ...json(
        z
          .strictObject({
            ...Scope.shape,
            name: z.string().min(1).max(200).openapi({ description: "what it is for", example: "ci" }),
            right: z.enum(["read", "write", "admin"]),
            refs: Rules.default(null),
            expiresAt: z.iso.datetime({ offset: true }).nullable().default(null),
          })
          .refine(({ right, refs }) => right === "write" || refs === null, {
            path: ["refs"],
            error: "only a token to write is bound to refs: an admin could free itself",
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
      description: "The token: its text is shown this once, and kept nowhere.",
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
      description: "One page, expired ones included.",
      ...json(z.object({ tokens: z.array(TokenSchema), nextCursor: NextCursor }).openapi("Tokens")),
    },
    ...failures(),
  },
});

const Id = z.object({ id: z.string().max(100).openapi({ description: "`current`: the one that this request shows" }) });

const read = defineRoute("token", {
  method: "get",
  path: "/tokens/{id}",
  tags: ["tokens"],
  summary: "Tell of a token",
  request: { params: Id },
  responses: { 200: { description: "The token.", ...json(TokenSchema) }, ...failures() },
});

const revoke = defineRoute("token", {
  method: "delete",
  path: "/tokens/{id}",
  tags: ["tokens"],
  summary: "Revoke a token",
  description: "At once where this request is served, within ten seconds everywhere. A token may always revoke itself.",
  request: { params: Id },
  responses: { 204: { description: "It is worth nothing now." }, ...failures() },
});

/** `/tokens`: what lets somebody in. */
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
    const after = decodeCursor(cursor, z.string()) ?? "";
    const tokens = await context.get("host").tokens.list({ owner, repository }, after, limit + 1);
    const last = tokens.length > limit ? tokens[limit - 1]! : null;
    const nextCursor = last === null ? null : encodeCursor(last.id);
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
  const time = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  return {
    id,
    name,
    owner: "owner" in scope ? scope.owner : null,
    repositoryId: "owner" in scope ? null : scope.repositoryId,
    right,
    refs: refs?.map((rule) => ({ ...rule, pattern: decodeText(rule.pattern) })) ?? null,
    createdAt: time(createdMs)!,
    expiresAt: time(expiresMs),
    lastUsedAt: time(lastUsedMs),
  };
}
