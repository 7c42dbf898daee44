import { z } from "@hono/zod-openapi";
import { decodeText, encodeText } from "../../../base/format/byte-string.ts";
import { GitError } from "../../../base/format/errors.ts";
import {
  BODY_WAIT_MS,
  MAX_REFS_PER_PUSH,
  MAX_SENT_TIPS,
  MAX_UPLOAD_PARTS,
  MIN_INNER_PART_BYTES,
} from "../../../base/format/limits.ts";
import { fromHex, NULL_OID, type Oid } from "../../../base/format/oid.ts";
import { isPushableRefName } from "../../../base/format/ref-name.ts";
import { explainRefusal } from "../../../contract/push.ts";
import { storePart } from "../../../base/bytes/part-upload.ts";
import { newChunkCounters } from "../../../base/chunks/chunk-store.ts";
import { failures } from "../common/error.ts";
import { answerLate } from "../common/long-answer.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { json, NullableOidSchema, OidSchema, RepositoryParams, toTime } from "../common/schemas.ts";
import type { RepositoryClient } from "../../../contract/calls.ts";

const PATH = "/repos/{owner}/{repo}/uploads";

const PART_TYPE = "application/octet-stream";

const Params = RepositoryParams.extend({ upload: z.uuid().openapi({ param: { name: "upload", in: "path" } }) });

const PartNumber = z.number().int().min(1).max(1_000_000_000);

const REF_EXAMPLE = { name: "refs/heads/main", old: null, new: "e83c5163316f89bfbde7d9ab23ca2e25604af290" };

const RefChange = z
  .strictObject({
    name: z.string().refine((name) => name.isWellFormed() && isPushableRefName(encodeText(name), true), {
      message: "it must be a valid full ref name, see git check-ref-format",
    }),
    old: NullableOidSchema.openapi({ description: "where the ref must be now; null: it must not exist" }),
    new: NullableOidSchema.openapi({ description: "where it shall be; null: it is deleted" }),
  })
  .openapi("UploadedRef", { example: REF_EXAMPLE });

const Refs = z
  .array(RefChange)
  .max(MAX_REFS_PER_PUSH)
  .refine((refs) => new Set(refs.map(({ name }) => name)).size === refs.length, "a ref is named twice");

const Atomic = z.boolean().default(false).openapi({ description: "move all refs or none" });

const NewUpload = z
  .strictObject({
    refs: Refs.default([]).openapi({
      description: "the planned changes: if none of them can be allowed, the answer is 403 before anything is sent",
    }),
    atomic: Atomic,
    options: z.array(z.string().max(1_000)).max(100).default([]).openapi({ description: "push options" }),
    sizeBytes: z
      .number()
      .int()
      .min(0)
      .default(0)
      .openapi({ description: "of all packs, if known; checked against the quota" }),
  })
  .openapi("NewUpload", { example: { refs: [REF_EXAMPLE] } });

const Upload = z
  .object({
    id: z.string(),
    endsAt: z.iso.datetime().openapi({ description: "when it is removed unless it is continued" }),
    complete: z.boolean().openapi({ description: "whether its refs have moved" }),
    steps: z.number().int(),
    objects: z.number().int().openapi({ description: "that the steps brought" }),
    packBytes: z.number().int().openapi({ description: "of the steps' packs" }),
    tips: z.array(OidSchema).openapi({ description: "what these reach is there, and need not be sent again" }),
    parts: z
      .array(z.object({ part: z.number().int(), sizeBytes: z.number().int(), checksum: z.string() }))
      .openapi({ description: "that have arrived, and are no step yet" }),
    underWay: z
      .object({ title: z.string(), done: z.number().int(), total: z.number().int() })
      .nullable()
      .openapi({ description: "how far the step is that is being indexed" }),
    limits: z.object({
      partBytes: z.number().int().openapi({ description: "of one part" }),
      parts: z.number().int().openapi({ description: "that are no step yet" }),
      stepBytes: z.number().int().openapi({ description: "of one step's pack" }),
      stepObjects: z.number().int().openapi({ description: "in one step's pack" }),
    }),
  })
  .openapi("Upload");

const begin = defineRoute("write", {
  method: "post",
  path: PATH,
  tags: ["uploads"],
  summary: "Begin an upload: a push that is too large for one request",
  description:
    "Packs come as parts (PUT), each pack is indexed as a step, oldest history first, and `complete` moves the refs, at once and by the rules of any push. " +
    "A cut loses nothing that was acknowledged: GET says what is there. Nobody sees what has arrived before `complete`. A session ends a day after it was last continued. " +
    "`git-remote-holdfast` does all this for `git push`.",
  request: { params: RepositoryParams, body: { required: true, ...json(NewUpload) } },
  responses: { 201: { description: "The session.", ...json(Upload) }, ...failures(409) },
});

const read = defineRoute("write", {
  method: "get",
  path: `${PATH}/{upload}`,
  tags: ["uploads"],
  summary: "Show what has arrived of an upload",
  request: { params: Params },
  responses: { 200: { description: "The session.", ...json(Upload) }, ...failures() },
});

const end = defineRoute("write", {
  method: "delete",
  path: `${PATH}/{upload}`,
  tags: ["uploads"],
  summary: "End an upload, and remove what it has brought",
  request: { params: Params },
  responses: { 204: { description: "It has ended." }, ...failures() },
});

const putPart = defineRoute("write", {
  method: "put",
  path: `${PATH}/{upload}/parts/{part}`,
  tags: ["uploads"],
  summary: "Send a part of a pack or bundle",
  description:
    "In any order, several at a time, and again if in doubt: a part counts once its checksum is right, and replaces one of the same number. It counts against the quota from then on.",
  request: {
    params: Params.extend({
      part: z.coerce
        .number()
        .pipe(PartNumber)
        .openapi({ param: { name: "part", in: "path" }, type: "integer" }),
    }),
    query: z.object({
      sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .openapi({ description: "SHA-256 of the part, hex" }),
    }),
    body: { required: true, content: { [PART_TYPE]: { schema: z.string().openapi({ format: "binary" }) } } },
  },
  responses: { 204: { description: "The part is stored." }, ...failures(409) },
});

const Tips = z
  .array(OidSchema)
  .min(1)
  .openapi({ description: "commits, tags or other objects of the pack that nothing else in it refers to" });

const stepResponses = {
  200: { description: "The session after the step.", ...json(Upload) },
  202: { description: "The session after the step, or `error`: look into the JSON." },
  ...failures(409),
};

const PACK =
  "one pack, as `git pack-objects --thin` makes it, or a bundle of version 2, as `git bundle create` does. Everything that the tips reach must be in it, or in the repository, or in earlier steps. ";

const LATE = "After 20 seconds the response begins with the status 202, and its JSON is the session, or `error`.";

const step = defineRoute("write", {
  method: "post",
  path: `${PATH}/{upload}/steps`,
  tags: ["uploads"],
  summary: "Index parts as a step",
  description: `The parts, one after the other, are ${PACK}A pack that is refused leaves its parts. ${LATE}`,
  request: {
    params: Params,
    body: {
      required: true,
      ...json(
        z
          .strictObject({
            parts: z
              .array(PartNumber)
              .min(1)
              .max(MAX_UPLOAD_PARTS)
              .openapi({ description: "their numbers, in the pack's order" }),
            tips: Tips,
          })
          .openapi("UploadStep", { example: { parts: [1], tips: [REF_EXAMPLE.new] } }),
      ),
    },
  },
  responses: stepResponses,
});

const sendPack = defineRoute("write", {
  method: "post",
  path: `${PATH}/{upload}/packs`,
  tags: ["uploads"],
  summary: "Send a pack, and have it indexed as a step as it comes",
  description:
    `The body is ${PACK}` +
    `With \`from\`, the pack may go on behind the body, in parts: each is waited for, ${BODY_WAIT_MS / 1_000} seconds at most, and all but the last must have ${MIN_INNER_PART_BYTES} bytes or more. ` +
    `Of a pack that is refused, or cut off, the body is gone, and the parts are there. ${LATE}`,
  request: {
    params: Params,
    query: z.object({
      tips: z
        .string()
        .transform((text) => text.split(","))
        .pipe(Tips.max(MAX_SENT_TIPS))
        .openapi({
          param: { name: "tips", in: "query" },
          type: "string",
          description: `${MAX_SENT_TIPS} at most, with commas between: commits, tags or other objects of the pack that nothing else in it refers to`,
          example: REF_EXAMPLE.new,
        }),
      from: z.coerce
        .number()
        .pipe(PartNumber)
        .optional()
        .openapi({
          param: { name: "from", in: "query" },
          type: "integer",
          description:
            "the number of the part in which the pack goes on, and after it in those that follow, up to its end",
        }),
    }),
    body: { required: true, content: { [PART_TYPE]: { schema: z.string().openapi({ format: "binary" }) } } },
  },
  responses: stepResponses,
});

const complete = defineRoute("write", {
  method: "post",
  path: `${PATH}/{upload}/complete`,
  tags: ["uploads"],
  summary: "Move the refs of an upload",
  description:
    "In one transaction, each as in a push: one that is refused does not hinder the others unless `atomic` is set. If none moves, the upload can be completed again.",
  request: {
    params: Params,
    body: {
      required: true,
      ...json(
        z
          .strictObject({ refs: Refs.min(1), atomic: Atomic })
          .openapi("UploadCompletion", { example: { refs: [REF_EXAMPLE] } }),
      ),
    },
  },
  responses: {
    200: {
      description: "What has become of each ref.",
      ...json(
        z
          .object({
            refs: z.array(
              z.object({
                name: z.string(),
                refused: z.string().nullable().openapi({ description: "why it did not move; null: it moved" }),
              }),
            ),
          })
          .openapi("UploadResult"),
      ),
    },
    ...failures(409),
  },
});

/** `/repos/:owner/:repo/uploads`: pushes that are too large for one request. */
export const uploadRoutes = newRoutes()
  .openapi(begin, async (context) => {
    const { refs, options, ...wanted } = context.req.valid("json");
    const commands = refs.map((ref) => ({ name: encodeText(ref.name), old: toOid(ref.old), new: toOid(ref.new) }));
    const upload = await repositoryOf(context).beginUpload({
      ...wanted,
      refs: commands,
      options: options.map(encodeText),
    });
    return context.json(show(upload), 201);
  })
  .openapi(read, async (context) =>
    context.json(show(await repositoryOf(context).readUpload(context.req.valid("param").upload)), 200),
  )
  .openapi(end, async (context) => {
    await repositoryOf(context).endUpload(context.req.valid("param").upload);
    return context.body(null, 204);
  })
  .openapi(putPart, async (context) => {
    const { upload: id, part } = context.req.valid("param");
    const { raw } = context.req;
    const declared = raw.headers.get("Content-Length");
    if (raw.body === null || declared === null) {
      throw new GitError("invalid", { what: "part", reason: "it needs a body and the header Content-Length" });
    }
    const wanted = { id, part, sizeBytes: Number(declared), checksum: context.req.valid("query").sha256 };
    const key = await repositoryOf(context).beginPart(wanted);
    if (key !== null) {
      const chunks = context.get("reading").openChunks(newChunkCounters());
      await storePart((...bytes) => chunks.putStream(key, ...bytes), raw.body, wanted);
      await repositoryOf(context).addPart({ ...wanted, key });
    }
    return context.body(null, 204);
  })
  .openapi(step, async (context) => {
    const { upload: id } = context.req.valid("param");
    const { parts, tips } = context.req.valid("json");
    const indexing = repositoryOf(context).indexStep({ id, pack: parts, tips });
    return (await answerLate(indexing.then(show))) as never;
  })
  .openapi(sendPack, async (context) => {
    const { upload: id } = context.req.valid("param");
    const { tips, from = null } = context.req.valid("query");
    const { body } = context.req.raw;
    if (body === null) throw new GitError("invalid", { what: "pack", reason: "it needs a body" });
    const repository = repositoryOf(context);
    // A request's body can be sent to an object only once. Reading the upload first finds the
    // object.
    await repository.readUpload(id);
    return (await answerLate(repository.indexStep({ id, pack: { body, from }, tips }).then(show))) as never;
  })
  .openapi(complete, async (context) => {
    const { refs, atomic } = context.req.valid("json");
    const outcomes = await repositoryOf(context).completeUpload({
      id: context.req.valid("param").upload,
      refs: refs.map((ref) => ({ ...ref, name: encodeText(ref.name) })),
      atomic,
    });
    const shown = outcomes.map(({ name, refusal }) => ({
      name: decodeText(name),
      refused: refusal === null ? null : decodeText(explainRefusal(refusal)),
    }));
    return context.json({ refs: shown }, 200);
  });

function show({ endsMs, isDone, ...upload }: Awaited<ReturnType<RepositoryClient["readUpload"]>>) {
  return {
    ...upload,
    tips: [...upload.tips],
    parts: [...upload.parts],
    endsAt: toTime(endsMs),
    complete: isDone,
  };
}

function toOid(hex: string | null): Oid {
  return hex === null ? NULL_OID : fromHex(hex);
}
