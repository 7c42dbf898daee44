import { z } from "@hono/zod-openapi";
import { decodeText, encodeText } from "../../../base/format/byte-string.ts";
import { failures } from "../common/error.ts";
import { toTime, json, RepositoryParams, SIGNS_IN } from "../common/schemas.ts";
import { COMMENT, HEARTBEAT_MS, STREAM_HEADERS, STREAM_LIFE_MS, wantsStream } from "../../../base/format/event-id.ts";
import type { Listener } from "../../shared/deployment.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { Authorization, Prefixes, RemoteUrl } from "../../../contract/remote-settings.ts";
import type { RepositoryClient } from "../../../contract/calls.ts";

const PATH = "/repos/{owner}/{repo}/import";

/** Interval (ms) at which a stream reads an import that is running. */
const PROGRESS_MS = 1_000;

type Status = Awaited<ReturnType<RepositoryClient["readImport"]>>;

/** The refs that a clone fetches, and notes. Hosts have further refs of their own. */
const DEFAULT_REFS = ["refs/heads/", "refs/tags/", "refs/notes/"];

const Interval = z
  .number()
  .int()
  .min(60)
  .max(30 * 24 * 60 * 60)
  .openapi({ description: "between two looks of a mirror (seconds)" });

const NewImport = z
  .strictObject({
    url: RemoteUrl.openapi({ description: "to clone from: https: or http:, without a password" }),
    authorization: Authorization.default(null).openapi({
      description: `${SIGNS_IN} the upstream wants; removed when the import ends`,
    }),
    refs: Prefixes.default(DEFAULT_REFS).openapi({ description: "what the names of the refs to import begin with" }),
    mirror: z.boolean().default(false).openapi({
      description: "whether to follow the upstream; until it is released, nobody else changes refs here",
    }),
    interval: Interval.default(600),
    lfs: z.boolean().default(false).openapi({
      description: "whether to bring the objects of Git LFS that the imported files point to",
    }),
  })
  .openapi("NewImport", { example: { url: "https://git.example.com/ada/engine.git", mirror: true } });

const Count = z.number().int().min(0);

const Import = z
  .object({
    url: z.string(),
    hasAuthorization: z.boolean(),
    refs: z.array(z.string()),
    mirror: z.boolean(),
    interval: Count,
    state: z.enum(["running", "waiting", "done", "failed"]).openapi({
      description:
        "`running`: it fetches, or tries again soon; `waiting`: the mirror is looked at again at `nextAt`; `done`, `failed`: it has ended",
    }),
    error: z.string().nullable().openapi({ description: "what went wrong last" }),
    upstreamRefs: Count.openapi({ description: "that the upstream had when last looked at" }),
    steps: Count.openapi({ description: "packs that have come" }),
    objects: Count,
    packBytes: Count,
    lfs: z
      .object({ objects: Count, bytes: Count, missing: Count.openapi({ description: "that the upstream lacks" }) })
      .nullable()
      .openapi({ description: "objects of Git LFS that have come; null: they are not asked for" }),
    underWay: z
      .object({ title: z.string(), done: Count, total: Count })
      .nullable()
      .openapi({ description: "the pack that is coming: its bytes (`title` is empty), or what is done with it" }),
    startedAt: z.iso.datetime(),
    syncedAt: z.iso.datetime().nullable().openapi({ description: "when the refs were last brought to the upstream's" }),
    nextAt: z.iso.datetime().nullable(),
  })
  .openapi("Import");

const begin = defineRoute("admin", {
  method: "post",
  path: PATH,
  tags: ["import"],
  summary: "Import another host's repository, or mirror it",
  description:
    "A job fetches it, in steps if it is too large for one, and moves the refs when all is here; it survives restarts. GET tells how far it is. " +
    "Refs that are here already stay as they are, and `error` tells of them. A mirror needs a repository without refs. " +
    "Addresses in private networks are refused.",
  request: { params: RepositoryParams, body: { required: true, ...json(NewImport) } },
  responses: { 202: { description: "It has begun.", ...json(Import) }, ...failures(409) },
});

const read = defineRoute("admin", {
  method: "get",
  path: PATH,
  tags: ["import"],
  summary: "Show the import, and how far it is",
  description:
    "With `Accept: text/event-stream` the answer is a stream of Server-Sent Events, each of them an import as `GET` shows it: one now, and one after each change that is seen. It ends with the import, or after five minutes, to be opened again.",
  request: { params: RepositoryParams },
  responses: {
    200: {
      description: "The last import, or a stream of its changes.",
      content: { ...json(Import).content, "text/event-stream": { schema: z.string() } },
    },
    ...failures(),
  },
});

const change = defineRoute("admin", {
  method: "patch",
  path: PATH,
  tags: ["import"],
  summary: "Change an import, or release a mirror",
  description: "`mirror: false` releases it: its refs stay, and may be changed from now on.",
  request: {
    params: RepositoryParams,
    body: {
      required: true,
      ...json(
        z
          .strictObject({
            mirror: z.literal(false).optional(),
            interval: Interval.optional(),
            authorization: Authorization.optional().openapi({ description: `${SIGNS_IN} the upstream wants` }),
          })
          .openapi("ImportChange", { example: { interval: 3_600 } }),
      ),
    },
  },
  responses: { 200: { description: "The import.", ...json(Import) }, ...failures(409) },
});

const sync = defineRoute("admin", {
  method: "post",
  path: `${PATH}/sync`,
  tags: ["import"],
  summary: "Make a mirror look at its upstream now",
  description: "For a hook of the upstream: it need not wait for the interval.",
  request: { params: RepositoryParams },
  responses: { 202: { description: "It looks.", ...json(Import) }, ...failures(409) },
});

const end = defineRoute("admin", {
  method: "delete",
  path: PATH,
  tags: ["import"],
  summary: "End the import, or release the mirror",
  description: "What no ref reaches yet is removed; refs stay, and may be changed from now on.",
  request: { params: RepositoryParams },
  responses: { 204: { description: "It has ended." }, ...failures() },
});

/** `/repos/:owner/:repo/import`: imports a repository from another host. */
export const importRoutes = newRoutes()
  .openapi(begin, async (context) => {
    const { url, authorization, refs, mirror, interval, lfs } = context.req.valid("json");
    const begun = await repositoryOf(context).beginImport({
      url,
      authorization,
      prefixes: refs.map(encodeText),
      isMirror: mirror,
      intervalMs: interval * 1_000,
      bringsLfs: lfs,
    });
    return context.json(show(begun), 202);
  })
  .openapi(read, async (context) => {
    const first = await repositoryOf(context).readImport();
    if (!wantsStream(context.req.header("Accept"))) return context.json(show(first), 200);
    const { owner, repo } = context.req.valid("param");
    const listener = await context.get("host").listen(owner, repo);
    return new Response(streamImport(listener, first), { headers: STREAM_HEADERS }) as never;
  })
  .openapi(change, async (context) => {
    const { mirror, interval, authorization } = context.req.valid("json");
    const changed = await repositoryOf(context).changeImport({
      ...(mirror !== undefined && { isMirror: mirror }),
      ...(interval !== undefined && { intervalMs: interval * 1_000 }),
      ...(authorization !== undefined && { authorization }),
    });
    return context.json(show(changed), 200);
  })
  .openapi(sync, async (context) => context.json(show(await repositoryOf(context).syncImport()), 202))
  .openapi(end, async (context) => {
    await repositoryOf(context).endImport();
    return context.body(null, 204);
  });

/** Streams the changes of an import until it ends. A running import is read at intervals. A waiting
 * mirror is read only when something happens, so that its object may sleep. */
function streamImport(listener: Listener, first: Status): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const endMs = Date.now() + STREAM_LIFE_MS;
  let status: Status = first;
  let told = "";
  let toldMs = 0;
  const tell = (controller: ReadableStreamDefaultController<Uint8Array>, text: string): void => {
    toldMs = Date.now();
    controller.enqueue(encoder.encode(text));
  };
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          for (;;) {
            const data = JSON.stringify(show(status));
            if (data !== told) return tell(controller, `event: import\ndata: ${(told = data)}\n\n`);
            const hasEnded = status.state === "done" || status.state === "failed";
            if (hasEnded || Date.now() >= endMs) {
              listener.close();
              return controller.close();
            }
            if (Date.now() - toldMs >= HEARTBEAT_MS) return tell(controller, COMMENT);
            await listener.wait(status.state === "running" ? PROGRESS_MS : HEARTBEAT_MS);
            if (status.state === "running" || listener.isAwake)
              status = await (await listener.open("admin")).readImport();
          }
        } catch {
          // The caller's right, the import or the repository is gone. The client learns the reason
          // from the status of its next request.
          listener.close();
          controller.close();
        }
      },
      cancel: () => listener.close(),
    },
    { highWaterMark: 0 },
  );
}

function show(status: Status) {
  const { prefixes, isMirror, intervalMs, refs, startedMs, syncedMs, nextMs, lfs = null, ...rest } = status;
  return {
    ...rest,
    refs: prefixes.map(decodeText),
    mirror: isMirror,
    interval: intervalMs / 1_000,
    lfs: lfs && { objects: lfs.objects, bytes: lfs.bytes, missing: lfs.missing },
    upstreamRefs: refs,
    startedAt: toTime(startedMs),
    syncedAt: toTime(syncedMs),
    nextAt: toTime(nextMs),
  };
}
