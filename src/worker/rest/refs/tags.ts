import { z } from "@hono/zod-openapi";
import { encodeText } from "../../../base/format/byte-string.ts";
import { MAX_LISTED_MESSAGE_BYTES } from "../../../base/format/shown-limits.ts";
import type { Annotation } from "../../../contract/refs.ts";
import { failures } from "../common/error.ts";
import { cursorFor, decodeCursor, NextCursor, PageQuery } from "../common/paging.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import {
  ExpectedSchema,
  ForceSchema,
  IdentSchema,
  MessagePartsSchema,
  OidSchema,
  PartSchema,
  PERSON_EXAMPLE,
  PersonSchema,
  RefSchema,
  RepositoryParams,
  TagSchema,
  TextSchema,
  toIdent,
  json,
} from "../common/schemas.ts";

const Tag = z
  .object({
    name: z.string(),
    oid: OidSchema.openapi({ description: "the object that the ref names; for an annotated tag, its tag object" }),
    isAnnotated: z.boolean(),
    target: z
      .object({ oid: OidSchema, type: z.enum(["commit", "tree", "blob", "tag"]) })
      .openapi({ description: "the object that it finally points to" }),
    message: z.string().nullable(),
    messageTruncated: z
      .boolean()
      .optional()
      .openapi({
        description: `true: the message is cut; in lists after ${MAX_LISTED_MESSAGE_BYTES / 1_024} KiB, or less if a list holds much`,
      }),
    messageParts: MessagePartsSchema,
    tagger: IdentSchema.nullable(),
  })
  .openapi("Tag");

/** The fields that make a tag annotated. */
const ANNOTATION = {
  message: TextSchema.optional().openapi({ description: "makes an annotated tag; needs a tagger" }),
  tagger: PersonSchema.optional(),
};

const isWholeAnnotation = ({ message, tagger }: { message?: unknown; tagger?: unknown }): boolean =>
  (message === undefined) === (tagger === undefined);

const INCOMPLETE = { path: ["tagger"], message: "an annotated tag needs both a message and a tagger" };

const TagChange = z
  .union([
    z
      .strictObject({ target: RefSchema, ...ANNOTATION, expected: ExpectedSchema, force: ForceSchema })
      .refine(isWholeAnnotation, INCOMPLETE),
    z.strictObject({ newName: TagSchema, expected: ExpectedSchema }),
  ])
  .openapi("TagChange", { example: { newName: "v1.0.0" } });

const Params = RepositoryParams.extend({ name: TagSchema });

const path = "/repos/{owner}/{repo}/tags";
const tags = ["tags"];

const answers = (description: string) => ({ description, ...json(Tag) });

const list = defineRoute("read", {
  method: "get",
  path,
  tags,
  summary: "List tags by name",
  request: { params: RepositoryParams, query: PageQuery },
  responses: {
    200: {
      description: "A page of tags.",
      content: {
        "application/json": { schema: z.object({ tags: z.array(Tag), nextCursor: NextCursor }).openapi("Tags") },
      },
    },
    ...failures(),
  },
});

const create = defineRoute("write", {
  method: "post",
  path,
  tags,
  summary: "Create a lightweight or annotated tag",
  request: {
    params: RepositoryParams,
    body: {
      required: true,
      content: {
        "application/json": {
          schema: z
            .strictObject({ name: TagSchema, target: RefSchema, ...ANNOTATION })
            .refine(isWholeAnnotation, INCOMPLETE)
            .openapi("NewTag", {
              example: { name: "v1.0", target: "main", message: "The first\n", tagger: PERSON_EXAMPLE },
            }),
        },
      },
    },
  },
  responses: { 201: answers("The tag was created."), ...failures(409) },
});

const read = defineRoute("read", {
  method: "get",
  path: `${path}/{name}`,
  tags,
  summary: "Read a tag",
  request: { params: Params, query: z.object({ part: PartSchema }) },
  responses: { 200: answers("The tag."), ...failures() },
});

const change = defineRoute("write", {
  method: "patch",
  path: `${path}/{name}`,
  tags,
  summary: "Move or rename a tag",
  request: {
    params: Params,
    body: {
      required: true,
      ...json(TagChange),
    },
  },
  responses: { 200: answers("The changed tag."), ...failures(409) },
});

const remove = defineRoute("write", {
  method: "delete",
  path: `${path}/{name}`,
  tags,
  summary: "Delete a tag",
  request: { params: Params, query: z.object({ expected: OidSchema.optional() }) },
  responses: { 204: { description: "The tag is deleted." }, ...failures(409) },
});

/** `/repos/:owner/:repo/tags`. */
export const tagRoutes = newRoutes()
  .openapi(list, async (context) => {
    const { limit, cursor } = context.req.valid("query");
    const page = await repositoryOf(context).tags({ after: decodeCursor(context, cursor, z.string()), limit });
    return context.json({ tags: page.tags, nextCursor: page.next && cursorFor(context, page.next) }, 200);
  })
  .openapi(create, async (context) => {
    const { name, target, ...annotation } = context.req.valid("json");
    const tag = { name: encodeText(name), target, annotation: toAnnotation(annotation) };
    return context.json(await repositoryOf(context).createTag(tag), 201);
  })
  .openapi(read, async (context) => {
    const name = encodeText(context.req.valid("param").name);
    const { part } = context.req.valid("query");
    return context.json(await repositoryOf(context).tag({ name, part }), 200);
  })
  .openapi(change, async (context) => {
    const name = encodeText(context.req.valid("param").name);
    const wanted = context.req.valid("json");
    const repository = repositoryOf(context);
    const tag =
      "newName" in wanted
        ? await repository.renameTag({ ...wanted, name, newName: encodeText(wanted.newName) })
        : await repository.moveTag({ ...wanted, name, annotation: toAnnotation(wanted) });
    return context.json(tag, 200);
  })
  .openapi(remove, async (context) => {
    const name = `refs/tags/${encodeText(context.req.valid("param").name)}`;
    await repositoryOf(context).deleteRef({ name, expected: context.req.valid("query").expected });
    return context.body(null, 204);
  });

function toAnnotation({
  message,
  tagger,
}: {
  message?: string | undefined;
  tagger?: z.infer<typeof PersonSchema> | undefined;
}): Annotation | null {
  if (message === undefined || tagger === undefined) return null;
  return {
    message: encodeText(message.endsWith("\n") ? message : `${message}\n`),
    tagger: toIdent(tagger, Date.now()),
  };
}
