import { z } from "@hono/zod-openapi";
import { decodeText, encodeText } from "../../../base/format/byte-string.ts";
import { failures } from "../common/error.ts";
import { cursorFor, decodeCursor, NextCursor, PageQuery } from "../common/paging.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { json, NullableOidSchema, RepositoryParams, toTime, SIGNS_IN } from "../common/schemas.ts";
import { Authorization, Prefixes, RemoteUrl } from "../../../contract/remote-settings.ts";
import type { RepositoryClient } from "../../../contract/calls.ts";

const PATH = "/repos/{owner}/{repo}/mirrors";
const tags = ["mirrors"];

const Params = RepositoryParams.extend({ mirror: z.string().max(100) });

const Url = RemoteUrl.openapi({ description: "to push to: https: or http:, without a password" });
const Credential = Authorization.openapi({ description: `${SIGNS_IN} the target wants; null: none` });
const Refs = Prefixes.openapi({ description: "what the names of the refs to send begin with" });
const Force = z.boolean().openapi({ description: "whether the target's branches may lose commits, and its tags move" });
const Prune = z.boolean().openapi({ description: "whether refs that are not here are deleted there" });
const MaxPackBytes = z
  .number()
  .int()
  .min(1_000)
  .nullable()
  .openapi({ description: "the most that is sent at once, lowered when the target takes less; null: a gigabyte" });

const SendsLfs = z
  .boolean()
  .openapi({ description: "whether to send objects of Git LFS that the sent files point to" });

const Count = z.number().int().min(0);

const Mirror = z
  .object({
    id: z.string(),
    url: z.string(),
    hasAuthorization: z.boolean(),
    refs: z.array(z.string()),
    force: z.boolean(),
    prune: z.boolean(),
    maxPackBytes: MaxPackBytes,
    createdAt: z.iso.datetime(),
    state: z.enum(["synced", "pending", "failing"]).openapi({
      description:
        "`synced`: the target has what is here, but for refused refs; `pending`: it is being sent; `failing`: it could not be, and is tried again at `nextAt`",
    }),
    error: z.string().nullable().openapi({ description: "why it could not be sent" }),
    failures: Count.openapi({ description: "attempts in a row that failed" }),
    mirroredRefs: Count,
    refusedRefs: Count.openapi({
      description: "refs that the target does not have as here, for a reason of their own",
    }),
    extraRefs: Count.openapi({ description: "refs of the target that are not here" }),
    pushes: Count.openapi({ description: "that were sent in all, and what they brought" }),
    objects: Count,
    packBytes: Count,
    underWay: z
      .object({ done: Count, total: Count })
      .nullable()
      .openapi({ description: "bytes on their way: of the pack, or of objects of Git LFS" }),
    lfs: z
      .object({
        objects: Count.openapi({ description: "that were sent in all" }),
        bytes: Count,
        missing: Count.openapi({ description: "that the target's files point to and that are not here" }),
        refused: Count.openapi({ description: "that the target did not take" }),
        refusal: z.string().nullable().openapi({ description: "why not one of these" }),
      })
      .nullable()
      .openapi({ description: "objects of Git LFS; null: they are not sent" }),
    syncedAt: z.iso.datetime().nullable().openapi({ description: "when the target last had all that it takes" }),
    nextAt: z.iso.datetime().nullable(),
  })
  .openapi("Mirror");

const MirroredRef = z
  .object({
    name: z.string(),
    state: z.enum(["synced", "pending", "refused"]),
    here: NullableOidSchema,
    there: NullableOidSchema,
    refusal: z.string().nullable().openapi({ description: "why the target does not have it as here" }),
  })
  .openapi("MirroredRef");

const create = defineRoute("admin", {
  method: "post",
  path: PATH,
  tags,
  summary: "Mirror to another host",
  description:
    "After each push the chosen refs are sent on by a job, which tries again when it fails. Nothing there is overwritten or deleted without `force` or `prune`. Addresses in private networks are refused.",
  request: {
    params: RepositoryParams,
    body: {
      required: true,
      ...json(
        z
          .strictObject({
            url: Url,
            authorization: Credential.default(null),
            refs: Refs.default(["refs/heads/", "refs/tags/"]),
            force: Force.default(false),
            prune: Prune.default(false),
            maxPackBytes: MaxPackBytes.default(null),
            lfs: SendsLfs.default(false),
          })
          .openapi("NewMirror", { example: { url: "https://git.example.com/ada/engine.git", prune: true } }),
      ),
    },
  },
  responses: { 201: { description: "The mirror; it begins.", ...json(Mirror) }, ...failures(409) },
});

const list = defineRoute("admin", {
  method: "get",
  path: PATH,
  tags,
  summary: "List mirrors",
  request: { params: RepositoryParams },
  responses: {
    200: { description: "All, at most 10.", ...json(z.object({ mirrors: z.array(Mirror) }).openapi("Mirrors")) },
    ...failures(),
  },
});

const read = defineRoute("admin", {
  method: "get",
  path: `${PATH}/{mirror}`,
  tags,
  summary: "Show a mirror, and how far it is",
  request: { params: Params },
  responses: { 200: { description: "The mirror.", ...json(Mirror) }, ...failures() },
});

const change = defineRoute("admin", {
  method: "patch",
  path: `${PATH}/{mirror}`,
  tags,
  summary: "Change a mirror",
  description: "It is brought up to date at once. Another `url` without `authorization` has none.",
  request: {
    params: Params,
    body: {
      required: true,
      ...json(
        z
          .strictObject({
            url: Url.optional(),
            authorization: Credential.optional(),
            refs: Refs.optional(),
            force: Force.optional(),
            prune: Prune.optional(),
            maxPackBytes: MaxPackBytes.optional(),
            lfs: SendsLfs.optional(),
          })
          .openapi("MirrorChange", { example: { force: true } }),
      ),
    },
  },
  responses: { 200: { description: "The mirror.", ...json(Mirror) }, ...failures() },
});

const sync = defineRoute("admin", {
  method: "post",
  path: `${PATH}/{mirror}/sync`,
  tags,
  summary: "Bring a mirror up to date now",
  description: "Refs that were refused are tried again, too.",
  request: { params: Params },
  responses: { 202: { description: "It begins.", ...json(Mirror) }, ...failures() },
});

const remove = defineRoute("admin", {
  method: "delete",
  path: `${PATH}/{mirror}`,
  tags,
  summary: "Delete a mirror",
  description: "The target stays as it is.",
  request: { params: Params },
  responses: { 204: { description: "It is deleted." }, ...failures() },
});

const listRefs = defineRoute("admin", {
  method: "get",
  path: `${PATH}/{mirror}/refs`,
  tags,
  summary: "List what became of each ref",
  request: {
    params: Params,
    query: PageQuery.extend({
      state: z.enum(["all", "refused"]).default("all").openapi({ description: "which are listed" }),
    }),
  },
  responses: {
    200: {
      description: "Refs by name.",
      ...json(z.object({ refs: z.array(MirroredRef), nextCursor: NextCursor }).openapi("MirroredRefs")),
    },
    ...failures(),
  },
});

/** `/repos/:owner/:repo/mirrors`: mirrors of the repository on other hosts. */
export const mirrorRoutes = newRoutes()
  .openapi(create, async (context) => {
    const { refs, lfs, ...wanted } = context.req.valid("json");
    const settings = { ...wanted, prefixes: refs.map(encodeText), sendsLfs: lfs };
    const made = await repositoryOf(context).createMirror(settings);
    return context.json(show(made), 201);
  })
  .openapi(list, async (context) => {
    const found = await repositoryOf(context).mirrors();
    return context.json({ mirrors: found.map(show) }, 200);
  })
  .openapi(read, async (context) =>
    context.json(show(await repositoryOf(context).mirror(context.req.valid("param").mirror)), 200),
  )
  .openapi(change, async (context) => {
    const { mirror: id } = context.req.valid("param");
    const { url, authorization, refs, force, prune, maxPackBytes, lfs } = context.req.valid("json");
    const changed = await repositoryOf(context).changeMirror({
      id,
      ...(url !== undefined && { url }),
      ...(authorization !== undefined && { authorization }),
      ...(refs !== undefined && { prefixes: refs.map(encodeText) }),
      ...(force !== undefined && { force }),
      ...(prune !== undefined && { prune }),
      ...(maxPackBytes !== undefined && { maxPackBytes }),
      ...(lfs !== undefined && { sendsLfs: lfs }),
    });
    return context.json(show(changed), 200);
  })
  .openapi(sync, async (context) =>
    context.json(show(await repositoryOf(context).syncMirror(context.req.valid("param").mirror)), 202),
  )
  .openapi(remove, async (context) => {
    await repositoryOf(context).deleteMirror(context.req.valid("param").mirror);
    return context.body(null, 204);
  })
  .openapi(listRefs, async (context) => {
    const { mirror: id } = context.req.valid("param");
    const { limit, cursor, state } = context.req.valid("query");
    const after = decodeCursor(context, cursor, z.string());
    const query = { id, after, limit, isRefused: state === "refused" };
    const { refs, isLast } = await repositoryOf(context).mirrorRefs(query);
    const last = refs.at(-1);
    const nextCursor = isLast || last === undefined ? null : cursorFor(context, last.name);
    return context.json({ refs: refs.map(showRef), nextCursor }, 200);
  });

type Shown = Awaited<ReturnType<RepositoryClient["mirror"]>>;

function show(mirror: Shown): z.output<typeof Mirror> {
  const { prefixes, refs, refused, extra, createdMs, syncedMs, nextMs, underWay, lfs, ...rest } = mirror;
  return {
    ...rest,
    refs: prefixes.map(decodeText),
    mirroredRefs: refs,
    refusedRefs: refused,
    extraRefs: extra,
    underWay: underWay && { done: underWay.done, total: underWay.total },
    lfs: lfs && showLfs(lfs),
    createdAt: toTime(createdMs),
    syncedAt: toTime(syncedMs),
    nextAt: toTime(nextMs),
  };
}

function showLfs(lfs: NonNullable<Shown["lfs"]>): z.output<typeof Mirror>["lfs"] {
  const { objects, bytes, missing, refused, refusal } = lfs;
  return { objects, bytes, missing, refused, refusal };
}

function showRef({
  name,
  here,
  there,
  refusal,
}: Awaited<ReturnType<RepositoryClient["mirrorRefs"]>>["refs"][number]): z.output<typeof MirroredRef> {
  const state = refusal !== null ? "refused" : here === there ? "synced" : "pending";
  return { name: decodeText(name), state, here, there, refusal };
}
