import { z } from "@hono/zod-openapi";
import { decodeText } from "../../../base/format/byte-string.ts";
import { checkLimit } from "../../../base/format/limits.ts";
import { formatMode, typeOfMode } from "../../../base/format/tree.ts";
import { BlobReader } from "../../files/blob-reader.ts";
import { MAX_ENTRIES_PER_PAGE, MAX_SHOWN_BYTES } from "../../../contract/files.ts";
import { answerByIds } from "../common/conditional.ts";
import { failures } from "../common/error.ts";
import { cursorFor, decodeCursor, NextCursor, PageQuery } from "../common/paging.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import {
  CommitSchema,
  IdentSchema,
  json,
  MessagePartsSchema,
  ModeSchema,
  OidSchema,
  PartSchema,
  RepositoryParams,
} from "../common/schemas.ts";

const Type = z.enum(["commit", "tree", "blob", "tag"]);

const BlobSchema = z
  .object({
    oid: OidSchema,
    size: z.number().int().openapi({ description: "bytes" }),
    encoding: z.enum(["utf-8", "base64"]).openapi({ description: "of `content`: base64 if the blob is not UTF-8" }),
    content: z.string(),
  })
  .openapi("Blob");

const TreeSchema = z
  .object({
    oid: OidSchema,
    entries: z.array(
      z.object({
        name: z.string(),
        mode: ModeSchema,
        type: Type,
        oid: OidSchema,
      }),
    ),
    nextCursor: NextCursor,
  })
  .openapi("Tree");

const TagSchema = z
  .object({
    oid: OidSchema,
    object: OidSchema,
    type: Type.openapi({ description: "the type of `object`" }),
    name: z.string(),
    tagger: z.union([IdentSchema, z.null()]),
    message: z.string().openapi({ description: "includes the signature at its end, if there is one" }),
    messageTruncated: z.boolean().optional().openapi({ description: "true: the message comes in parts" }),
    messageParts: MessagePartsSchema,
    nameTruncated: z.boolean().optional().openapi({ description: "true: the name is cut" }),
  })
  .openapi("TagObject");

const CommitObject = CommitSchema.extend({ messageParts: MessagePartsSchema }).openapi("CommitObject");

function describe<Schema extends z.ZodType, const Path extends string>(path: Path, summary: string, schema: Schema) {
  return describeWith(path, summary, schema, z.object({}));
}

function describeWith<Schema extends z.ZodType, const Path extends string, Query extends z.ZodObject>(
  path: Path,
  summary: string,
  schema: Schema,
  query: Query,
) {
  return defineRoute("read", {
    method: "get",
    path,
    tags: ["git objects"],
    summary,
    request: { params: RepositoryParams.extend({ oid: OidSchema }), query },
    responses: {
      200: { description: "The object.", ...json(schema) },
      304: { description: "Not modified: objects never change." },
      ...failures(),
    },
  });
}

const PartQuery = z.object({ part: PartSchema });

const readBlob = describe("/repos/{owner}/{repo}/git/blob/{oid}", "Read a blob", BlobSchema);
const readTree = describeWith(
  "/repos/{owner}/{repo}/git/tree/{oid}",
  "Read a tree",
  TreeSchema,
  z.object({
    limit: z.coerce.number().int().min(1).max(MAX_ENTRIES_PER_PAGE).default(MAX_ENTRIES_PER_PAGE),
    cursor: PageQuery.shape.cursor,
  }),
);
const readCommit = describeWith("/repos/{owner}/{repo}/git/commit/{oid}", "Read a commit", CommitObject, PartQuery);
const readTag = describeWith("/repos/{owner}/{repo}/git/tag/{oid}", "Read an annotated tag", TagSchema, PartQuery);

/** `/repos/:owner/:repo/git/{blob,tree,commit,tag}/:oid`: objects by their ids, as JSON. */
export const gitObjectRoutes = newRoutes()
  .openapi(readBlob, async (context) => {
    const { oid } = context.req.valid("param");
    const { plan, sizeBytes } = await repositoryOf(context).locateBlob(oid);
    checkLimit("the blob", MAX_SHOWN_BYTES, sizeBytes);
    const answer = async () => {
      const reader = new BlobReader(context.get("reading"), "blob");
      const blobs = await reader.open(plan, [sizeBytes]);
      const bytes = blobs.isStreamed(0) ? await readWhole(await blobs.stream(0)) : await blobs.read(0);
      reader.sent(bytes.length);
      reader.finish(true);
      return context.json({ oid, size: bytes.length, ...encodeContent(bytes) }, 200);
    };
    return (await answerByIds(context, [oid], true, answer)) as Awaited<ReturnType<typeof answer>>;
  })
  .openapi(readTree, async (context) => {
    const { oid } = context.req.valid("param");
    const { limit, cursor } = context.req.valid("query");
    const after = decodeCursor(context, cursor, z.object({ after: z.string() }))?.after ?? "";
    const { names, modes, oids, next } = await repositoryOf(context).listTree({ oid, after, limit });
    const answer = () => {
      const entries = names.map((name, i) => ({
        name: decodeText(name),
        mode: formatMode(modes[i]!),
        type: typeOfMode(modes[i]!),
        oid: oids[i]!,
      }));
      return context.json(
        { oid, entries, nextCursor: next === null ? null : cursorFor(context, { after: next }) },
        200,
      );
    };
    return (await answerByIds(context, [oid], true, answer)) as ReturnType<typeof answer>;
  })
  .openapi(readCommit, async (context) => {
    const { oid } = context.req.valid("param");
    const {
      signature: _,
      signatureTruncated: __,
      ...commit
    } = await repositoryOf(context).readCommit({
      oid,
      part: context.req.valid("query").part,
    });
    const answer = () => context.json(commit, 200);
    return (await answerByIds(context, [oid], true, answer)) as ReturnType<typeof answer>;
  })
  .openapi(readTag, async (context) => {
    const { oid } = context.req.valid("param");
    const tag = await repositoryOf(context).readTag({ oid, part: context.req.valid("query").part });
    const answer = () => context.json({ oid, ...tag }, 200);
    return (await answerByIds(context, [oid], true, answer)) as ReturnType<typeof answer>;
  });

async function readWhole(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function encodeContent(bytes: Uint8Array): { encoding: "utf-8" | "base64"; content: string } {
  try {
    return { encoding: "utf-8", content: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { encoding: "base64", content: bytes.toBase64() };
  }
}
