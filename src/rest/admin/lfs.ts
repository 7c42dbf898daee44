import { z } from "@hono/zod-openapi";
import { failures } from "../common/error.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { json, RepositoryParams } from "../common/schemas.ts";

const Count = z.number().int().min(0);

const State = z
  .object({
    objects: Count,
    sizeBytes: Count,
    sharedBytes: Count.openapi({ description: "of these, what others of the family keep: no quota counts it twice" }),
    locks: Count,
  })
  .openapi("Lfs");

const read = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/lfs",
  tags: ["repositories"],
  summary: "Count what is kept for Git LFS",
  description: "The client of Git LFS has routes of its own, below `/{owner}/{repo}.git/info/lfs`.",
  request: { params: RepositoryParams },
  responses: { 200: { description: "Objects, bytes and locks.", ...json(State) }, ...failures() },
});

/** `/repos/:owner/:repo/lfs`: what is kept for Git LFS. */
export const lfsRoutes = newRoutes().openapi(read, async (context) =>
  context.json(await repositoryOf(context).lfsState(), 200),
);
