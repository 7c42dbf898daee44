import { z } from "@hono/zod-openapi";
import { encodeText } from "../../format/byte-string.ts";
import { GitError } from "../../format/errors.ts";
import { failures } from "../common/error.ts";
import { decodeCursor, encodeCursor, NextCursor, PageQuery } from "../common/paging.ts";
import { defineRoute, newRoutes } from "../common/routes.ts";
import { RepositoryParams, json } from "../common/schemas.ts";
import {
  Branch,
  Description,
  Name,
  nameError,
  Owner,
  readEntry,
  RepositorySchema,
  toJson,
  Visibility,
} from "./repository-json.ts";

/** Branches that a request may name. */
const MAX_BRANCHES = 1_000;

const ForkPage = z
  .object({ forks: z.array(RepositorySchema), nextCursor: NextCursor })
  .openapi("Forks", { description: "sorted by owner and name; a page may have fewer than `limit`" });

const create = defineRoute("read", {
  method: "post",
  path: "/repos/{owner}/{repo}/forks",
  tags: ["forks"],
  summary: "Fork a repository",
  description:
    "The fork has the repository's branches, tags and history at once. No object is copied: both share what is stored, " +
    "and only what is pushed later counts against the fork's quota. Needs the right `read` for the repository, and " +
    "`write` for the owner of the fork.",
  request: {
    params: RepositoryParams,
    body: {
      required: true,
      ...json(
        z
          .strictObject({
            owner: Owner.optional().openapi({ description: "by default the repository's" }),
            name: Name,
            description: Description.optional().openapi({ description: "by default the repository's" }),
            visibility: Visibility.optional().openapi({
              description: "by default the repository's; the fork of a private repository is private",
            }),
            branches: z.array(Branch).min(1).max(MAX_BRANCHES).optional().openapi({
              description: "take over only these, and the tags that they reach; by default all refs",
            }),
            expiresAt: z.iso.datetime({ offset: true }).optional().openapi({
              description: "when the fork deletes itself; by default never",
            }),
          })
          .openapi("NewFork", { example: { name: "my-fork", branches: ["main"] } }),
      ),
    },
  },
  responses: {
    201: { description: "The fork was made; `Location` is its URL.", ...json(RepositorySchema) },
    ...failures(409),
  },
});

const list = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/forks",
  tags: ["forks"],
  summary: "List the forks of a repository that you may read",
  request: { params: RepositoryParams, query: PageQuery },
  responses: { 200: { description: "One page.", ...json(ForkPage) }, ...failures() },
});

/** `/repos/:owner/:repo/forks`: make and list forks. */
export const forkRoutes = newRoutes()
  .openapi(create, async (context) => {
    const { registry } = context.get("host");
    const { owner, repo } = context.req.valid("param");
    const wanted = context.req.valid("json");
    const parent = await readEntry(registry, owner, repo);
    const asked = { owner: wanted.owner ?? parent.owner, name: wanted.name };
    const { visibility = parent.visibility, description = parent.description } = wanted;
    if (visibility === "public" && parent.visibility === "private") {
      const reason = "the fork of a private repository is private";
      throw new GitError("invalid", { what: "visibility", field: "visibility", reason });
    }
    const refusal = await registry.fork(
      asked,
      { description, visibility },
      {
        parent: parent.id,
        branches: wanted.branches?.map(encodeText) ?? null,
        expiresMs: wanted.expiresAt === undefined ? null : futureMs(wanted.expiresAt),
      },
    );
    if (refusal !== null) throw nameError(asked, refusal);
    const entry = await readEntry(registry, asked.owner, asked.name);
    return context.json(toJson(entry), 201, { Location: `/api/repos/${asked.owner}/${asked.name}` });
  })
  .openapi(list, async (context) => {
    const { registry } = context.get("host");
    const { owner, repo } = context.req.valid("param");
    const { limit, cursor } = context.req.valid("query");
    const after = decodeCursor(cursor, z.object({ owner: z.string(), name: z.string() }));
    const parent = await readEntry(registry, owner, repo);
    const { forks, next } = await registry.listForks(parent.id, after, limit);
    const nextCursor = next === null ? null : encodeCursor({ owner: next.owner, name: next.name });
    return context.json({ forks: forks.map(toJson), nextCursor }, 200);
  });

/** @throws GitError "invalid" for a time that has passed */
function futureMs(time: string): number {
  const timeMs = Date.parse(time);
  if (timeMs > Date.now()) return timeMs;
  throw new GitError("invalid", { what: "expiresAt", field: "expiresAt", reason: "the time has passed" });
}
