import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { encodeText } from "../../../base/format/byte-string.ts";
import { DEFAULT_BRANCH } from "../../../base/format/ref-name.ts";
import { parseRepositoryName } from "../../../base/format/repository-name.ts";
import { failures } from "../common/error.ts";
import { cursorFor, decodeCursor, NextCursor, PageQuery } from "../common/paging.ts";
import { changeRepository, createRepository, notFound, readEntry } from "../../shared/repository-changes.ts";
import { defineRoute, newRoutes, repositoryOf, type RestEnv } from "../common/routes.ts";
import { RepositoryParams, json } from "../common/schemas.ts";
import { Branch, Description, Name, Owner, RepositorySchema, toJson, Visibility } from "./repository-json.ts";

const Page = z
  .object({ repositories: z.array(RepositorySchema), nextCursor: NextCursor })
  .openapi("Repositories", { description: "sorted by owner and name" });

const listAll = defineRoute("nothing", {
  method: "get",
  path: "/repos",
  tags: ["repositories"],
  summary: "List all repositories that you may read",
  request: { query: PageQuery },
  responses: { 200: { description: "One page.", ...json(Page) }, ...failures() },
});

const listOwned = defineRoute("nothing", {
  method: "get",
  path: "/repos/{owner}",
  tags: ["repositories"],
  summary: "List the repositories of an owner",
  request: { params: RepositoryParams.pick({ owner: true }), query: PageQuery },
  responses: { 200: { description: "One page; empty if the owner has none.", ...json(Page) }, ...failures() },
});

const create = defineRoute("token", {
  method: "post",
  path: "/repos",
  tags: ["repositories"],
  summary: "Create an empty repository",
  description: "Needs the right `write` for the owner.",
  request: {
    body: {
      required: true,
      ...json(
        z
          .strictObject({
            owner: Owner,
            name: Name,
            description: Description.default(null),
            defaultBranch: Branch.default(DEFAULT_BRANCH),
            visibility: Visibility.default("private"),
          })
          .openapi("NewRepository", { example: { owner: "me", name: "my-repo", description: "A page" } }),
      ),
    },
  },
  responses: {
    201: { description: "The repository was created; `Location` is its URL.", ...json(RepositorySchema) },
    ...failures(409),
  },
});

const read = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}",
  tags: ["repositories"],
  summary: "Show a repository",
  request: { params: RepositoryParams },
  responses: { 200: { description: "The repository.", ...json(RepositorySchema) }, ...failures() },
});

const update = defineRoute("admin", {
  method: "patch",
  path: "/repos/{owner}/{repo}",
  tags: ["repositories"],
  summary: "Change or rename a repository",
  description:
    "A former name keeps working until another repository takes it, a minute later at the earliest. A new name needs " +
    "the right `write` for the owner; moving to another owner needs `admin` for that owner.",
  request: {
    params: RepositoryParams,
    body: {
      required: true,
      ...json(
        z
          .strictObject({
            owner: Owner,
            name: Name,
            description: Description,
            defaultBranch: Branch.openapi({ description: "an existing branch, if there are any" }),
            visibility: Visibility,
          })
          .partial()
          .openapi("RepositoryChange", { example: { visibility: "public" } }),
      ),
    },
  },
  responses: { 200: { description: "The changed repository.", ...json(RepositorySchema) }, ...failures(409) },
});

const remove = defineRoute("admin", {
  method: "delete",
  path: "/repos/{owner}/{repo}",
  tags: ["repositories"],
  summary: "Delete a repository",
  request: { params: RepositoryParams },
  responses: { 204: { description: "The repository is deleted, and its name is free." }, ...failures() },
});

/** `/repos`, `/repos/:owner` and `/repos/:owner/:repo`: list, create, change and delete
 * repositories. */
export const repositoryRoutes = newRoutes()
  .openapi(listAll, async (context) => {
    return context.json(await readPage(context, null, context.req.valid("query")), 200);
  })
  .openapi(listOwned, async (context) => {
    const { owner } = context.req.valid("param");
    return context.json(await readPage(context, owner, context.req.valid("query")), 200);
  })
  .openapi(create, async (context) => {
    const { owner, name, description, visibility, defaultBranch } = context.req.valid("json");
    const { registry } = context.get("host");
    const details = { description, visibility };
    const entry = await createRepository(registry, { owner, name }, details, encodeText(defaultBranch));
    return context.json(toJson(entry), 201, { Location: `/api/repos/${owner}/${name}` });
  })
  .openapi(read, async (context) => {
    const { owner, repo } = context.req.valid("param");
    return context.json(toJson(await readEntry(context.get("host").registry, owner, repo)), 200);
  })
  .openapi(update, async (context) => {
    const host = context.get("host");
    const { owner, repo } = context.req.valid("param");
    const entry = await readEntry(host.registry, owner, repo);
    const changed = await changeRepository(host, repositoryOf(context), entry, context.req.valid("json"));
    return context.json(toJson(changed), 200);
  })
  .openapi(remove, async (context) => {
    const { owner, repo } = context.req.valid("param");
    const name = parseRepositoryName(owner, repo);
    if (name === null || !(await context.get("host").registry.delete(name))) throw notFound();
    return context.body(null, 204);
  });

async function readPage(context: Context<RestEnv>, owner: string | null, query: z.output<typeof PageQuery>) {
  const { limit, cursor } = query;
  const { registry } = context.get("host");
  const after = decodeCursor(context, cursor, z.object({ owner: z.string(), name: z.string() }));
  const entries = await registry.list(owner, after, limit + 1);
  const last = entries.length > limit ? entries[limit - 1]! : null;
  return {
    repositories: entries.slice(0, limit).map(toJson),
    nextCursor: last === null ? null : cursorFor(context, { owner: last.owner, name: last.name }),
  };
}
