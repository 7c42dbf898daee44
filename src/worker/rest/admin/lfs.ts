import { z } from "@hono/zod-openapi";
import { failures } from "../common/error.ts";
import { cursorFor, decodeCursor, NextCursor, PageQuery } from "../common/paging.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { json, RepositoryParams } from "../common/schemas.ts";

const Count = z.number().int().min(0);

/** Maximum number of objects in a page. */
const MAX_PAGE_OBJECTS = 1_000;

const Cursor = z.object({ after: z.string().regex(/^[0-9a-f]{64}$/) });

const State = z
  .object({
    objects: Count,
    sizeBytes: Count,
    sharedBytes: Count.openapi({ description: "of these, what others of the family keep: no quota counts it twice" }),
    missing: Count.openapi({ description: "that pointer files name and that are not there" }),
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

const Objects = z
  .object({
    objects: z.array(z.object({ oid: z.string().openapi({ description: "SHA-256" }), size: Count })),
    nextCursor: NextCursor,
  })
  .openapi("LfsObjects", { description: "by id" });

const list = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/lfs/objects",
  tags: ["repositories"],
  summary: "List the objects of Git LFS",
  description:
    "For backups, beside the bundle: each object is at `/{owner}/{repo}.git/info/lfs/objects/{oid}`, where PUT restores it.",
  request: {
    params: RepositoryParams,
    query: z.object({
      which: z
        .enum(["stored", "missing"])
        .default("stored")
        .openapi({ description: "those that are there, or those that pointer files name and that are not" }),
      limit: z.coerce.number().int().min(1).max(MAX_PAGE_OBJECTS).default(MAX_PAGE_OBJECTS),
      cursor: PageQuery.shape.cursor,
    }),
  },
  responses: { 200: { description: "Objects.", ...json(Objects) }, ...failures() },
});

/** `/repos/:owner/:repo/lfs`: the objects and uploads stored for Git LFS. */
export const lfsRoutes = newRoutes()
  .openapi(read, async (context) => context.json(await repositoryOf(context).lfsState(), 200))
  .openapi(list, async (context) => {
    const { which, limit, cursor } = context.req.valid("query");
    const after = decodeCursor(context, cursor, Cursor)?.after ?? "";
    const found = await repositoryOf(context).listLfsObjects({ which, after, limit });
    const objects = found.slice(0, limit).map(({ oid, sizeBytes }) => ({ oid, size: sizeBytes }));
    const nextCursor = found.length > limit ? cursorFor(context, { after: objects.at(-1)!.oid }) : null;
    return context.json({ objects, nextCursor }, 200);
  });
