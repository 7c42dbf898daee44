import { z } from "@hono/zod-openapi";
import { decodeText, encodeText } from "../../../base/format/byte-string.ts";
import { GitError } from "../../../base/format/errors.ts";
import { failures } from "../common/error.ts";
import { cursorFor, decodeCursor, NextCursor, PageQuery } from "../common/paging.ts";
import type { Parent } from "../../../contract/registry.ts";
import { forkRepository, readEntry } from "../../shared/repository-changes.ts";
import { openForeign } from "../common/foreign.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { OidSchema, RefSchema, RepositoryParams, json } from "../common/schemas.ts";
import { Branch, Description, Name, Owner, RepositorySchema, toJson, Visibility } from "./repository-json.ts";

/** Maximum number of branches in a request. */
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

const sync = defineRoute("write", {
  method: "post",
  path: "/repos/{owner}/{repo}/sync",
  tags: ["forks"],
  summary: "Bring a branch forward from the repository's parent",
  description:
    "The branch becomes what the parent's is, if that is ahead of it; a branch that does not exist is created. With " +
    "`from`, another repository of the same family takes the parent's place. No object is copied.",
  request: {
    params: RepositoryParams,
    body: {
      required: true,
      ...json(
        z
          .strictObject({
            branch: Branch.optional().openapi({ description: "by default the default branch" }),
            from: RefSchema.optional().openapi({
              description:
                "by default the parent's branch of the same name; `owner:branch` or `owner/repository:branch`",
              example: "me/my-repo:main",
            }),
          })
          .openapi("Sync", { example: { branch: "main" } }),
      ),
    },
  },
  responses: {
    200: {
      description: "Where the branch is now.",
      ...json(
        z
          .object({
            kind: z.enum(["created", "fast-forward", "up-to-date"]).openapi({
              description: "`up-to-date`: the branch already contained all of it",
            }),
            branch: z.string(),
            commit: OidSchema.openapi({ description: "its tip" }),
          })
          .openapi("Synced"),
      ),
    },
    ...failures(409),
  },
});

/** `/repos/:owner/:repo/forks`: creates and lists forks; `/sync`: updates a branch from the
 * parent. */
export const forkRoutes = newRoutes()
  .openapi(create, async (context) => {
    const { registry } = context.get("host");
    const { owner, repo } = context.req.valid("param");
    const wanted = context.req.valid("json");
    const parent = await readEntry(registry, owner, repo);
    const { visibility = parent.visibility, description = parent.description } = wanted;
    const entry = await forkRepository(registry, parent, {
      owner: wanted.owner ?? parent.owner,
      name: wanted.name,
      description,
      visibility,
      branches: wanted.branches?.map(encodeText) ?? null,
      expiresMs: wanted.expiresAt === undefined ? null : futureMs(wanted.expiresAt),
    });
    return context.json(toJson(entry), 201, { Location: `/api/repos/${entry.owner}/${entry.name}` });
  })
  .openapi(list, async (context) => {
    const { registry } = context.get("host");
    const { owner, repo } = context.req.valid("param");
    const { limit, cursor } = context.req.valid("query");
    const after = decodeCursor(context, cursor, z.object({ owner: z.string(), name: z.string() }));
    const parent = await readEntry(registry, owner, repo);
    const { forks, next } = await registry.listForks(parent.id, after, limit);
    const nextCursor = next === null ? null : cursorFor(context, { owner: next.owner, name: next.name });
    return context.json({ forks: forks.map(toJson), nextCursor }, 200);
  })
  .openapi(sync, async (context) => {
    const { owner, repo } = context.req.valid("param");
    const { branch, from } = context.req.valid("json");
    const { defaultBranch, parent } = await readEntry(context.get("host").registry, owner, repo);
    const name = branch === undefined ? defaultBranch : encodeText(branch);
    if (name === null) throw new GitError("invalid", { what: "branch", field: "branch", reason: "there is none" });
    const source = await openForeign(context, from ?? nameOf(parent, name));
    if (source === null)
      throw new GitError("invalid", { what: "from", field: "from", reason: "it must be owner:branch" });
    const { repository, branch: sourceBranch } = source;
    const answer = { branch: name, source: { repository, branch: sourceBranch } };
    return context.json(await repositoryOf(context).syncBranch(answer), 200);
  });

/** Names a branch of the parent as requests do.
 * @throws GitError "invalid" without a parent that the caller may read */
function nameOf(parent: Parent | null, branch: string): string {
  if (parent !== null) return `${parent.owner}/${parent.name}:${decodeText(branch)}`;
  const reason = "name a branch: this repository is not a fork of one that you may read";
  throw new GitError("invalid", { what: "from", field: "from", reason });
}

/** @throws GitError "invalid" for a time that has passed */
function futureMs(time: string): number {
  const timeMs = Date.parse(time);
  if (timeMs > Date.now()) return timeMs;
  throw new GitError("invalid", { what: "expiresAt", field: "expiresAt", reason: "the time has passed" });
}
