import { z } from "@hono/zod-openapi";
import { encodeText } from "../../../base/format/byte-string.ts";
import { failures } from "../common/error.ts";
import { cursorFor, decodeCursor, NextCursor, PageQuery } from "../common/paging.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import {
  BranchSchema,
  ExpectedSchema,
  ForceSchema,
  OidSchema,
  RefSchema,
  RepositoryParams,
  json,
} from "../common/schemas.ts";

const Branch = z
  .object({
    name: z.string(),
    commit: OidSchema.openapi({ description: "the commit at its tip" }),
    committed: z.iso.datetime({ offset: true }).openapi({ description: "commit date of the tip" }),
    isDefault: z.boolean(),
    ahead: z
      .number()
      .int()
      .nullable()
      .openapi({ description: "commits that the default branch lacks; null: there is no default branch" }),
    behind: z.number().int().nullable().openapi({
      description: "commits of the default branch that this branch lacks; null: there is no default branch",
    }),
  })
  .openapi("Branch");

const BranchChange = z
  .union([
    z.strictObject({
      target: RefSchema.openapi({ description: "the commit to move it to" }),
      expected: ExpectedSchema,
      force: ForceSchema,
    }),
    z.strictObject({
      newName: BranchSchema.openapi({ description: "the new name; a renamed default branch stays the default" }),
      expected: ExpectedSchema,
    }),
  ])
  .openapi("BranchChange", { example: { target: "main~1", force: true } });

const Params = RepositoryParams.extend({ name: BranchSchema });

const path = "/repos/{owner}/{repo}/branches";
const tags = ["branches"];

const answers = (description: string) => ({ description, ...json(Branch) });

const list = defineRoute("read", {
  method: "get",
  path,
  tags,
  summary: "List branches by name",
  request: { params: RepositoryParams, query: PageQuery },
  responses: {
    200: {
      description: "A page of branches.",
      content: {
        "application/json": {
          schema: z.object({ branches: z.array(Branch), nextCursor: NextCursor }).openapi("Branches"),
        },
      },
    },
    ...failures(),
  },
});

const create = defineRoute("write", {
  method: "post",
  path,
  tags,
  summary: "Create a branch",
  request: {
    params: RepositoryParams,
    body: {
      required: true,
      content: {
        "application/json": {
          schema: z
            .strictObject({
              name: BranchSchema,
              startPoint: RefSchema.openapi({ description: "the commit at which it starts" }),
            })
            .openapi("NewBranch", { example: { name: "topic", startPoint: "main" } }),
        },
      },
    },
  },
  responses: { 201: answers("The branch was created."), ...failures(409) },
});

const read = defineRoute("read", {
  method: "get",
  path: `${path}/{name}`,
  tags,
  summary: "Read a branch",
  request: { params: Params },
  responses: { 200: answers("The branch."), ...failures() },
});

const change = defineRoute("write", {
  method: "patch",
  path: `${path}/{name}`,
  tags,
  summary: "Move or rename a branch",
  description: "A renamed default branch stays the default. Renaming it needs the right `admin`.",
  request: {
    params: Params,
    body: {
      required: true,
      ...json(BranchChange),
    },
  },
  responses: { 200: answers("The changed branch."), ...failures(409) },
});

const remove = defineRoute("write", {
  method: "delete",
  path: `${path}/{name}`,
  tags,
  summary: "Delete a branch other than the default branch",
  request: { params: Params, query: z.object({ expected: OidSchema.optional() }) },
  responses: { 204: { description: "The branch is deleted." }, ...failures(409) },
});

/** `/repos/:owner/:repo/branches`. */
export const branchRoutes = newRoutes()
  .openapi(list, async (context) => {
    const { limit, cursor } = context.req.valid("query");
    const page = await repositoryOf(context).branches({ after: decodeCursor(context, cursor, z.string()), limit });
    return context.json({ branches: page.branches, nextCursor: page.next && cursorFor(context, page.next) }, 200);
  })
  .openapi(create, async (context) => {
    const { name, startPoint } = context.req.valid("json");
    return context.json(await repositoryOf(context).createBranch({ name: encodeText(name), startPoint }), 201);
  })
  .openapi(read, async (context) => {
    return context.json(await repositoryOf(context).branch(encodeText(context.req.valid("param").name)), 200);
  })
  .openapi(change, async (context) => {
    const name = encodeText(context.req.valid("param").name);
    const wanted = context.req.valid("json");
    const repository = repositoryOf(context);
    const branch =
      "newName" in wanted
        ? await repository.renameBranch({ ...wanted, name, newName: encodeText(wanted.newName) })
        : await repository.moveBranch({ ...wanted, name });
    return context.json(branch, 200);
  })
  .openapi(remove, async (context) => {
    const name = `refs/heads/${encodeText(context.req.valid("param").name)}`;
    await repositoryOf(context).deleteRef({ name, expected: context.req.valid("query").expected });
    return context.body(null, 204);
  });
