import { type Context, Hono } from "hono";
import { cors } from "hono/cors";
import wasm from "../codec/holdfast.wasm";
import { instantiateCodec } from "../codec/codec.ts";
import { serveBundle } from "../protocol/bundle-file.ts";
import { GitError } from "../format/errors.ts";
import { textResponse } from "../protocol/error-response.ts";
import type { FetchContext } from "../protocol/fetch-context.ts";
import { parseService, unknownServiceResponse } from "../protocol/smart-http.ts";
import { advertiseUploadPack, serveUploadPack } from "../protocol/upload-pack.ts";
import { newRepositoryClient } from "../repository/calls.ts";
import { newChunkCounters } from "../store/chunk-store.ts";
import { R2ChunkStore } from "../store/r2-chunk-store.ts";
import { API_DESCRIPTION, createRestApp } from "../rest/app.ts";
import { renderApiDocs } from "../web/api-docs.ts";
import { authorise } from "./access.ts";
import type { Env } from "./env.ts";
import { printEvent } from "./event-log.ts";
import { configuredLimits, RepositoryObject } from "./repository-object.ts";

export { RepositoryObject };

/** A part of a repository's path: what file systems and URLs bear everywhere, and no name of git's own. */
const NAME = /^(?!\.\.?$)(?!\.git$)[A-Za-z0-9._-]{1,100}$/;

type HostContext = Context<{ Bindings: Env }>;

/** One for the isolate: its calls are synchronous, so no two requests are ever in it. */
const codec = instantiateCodec(wasm);

const app = new Hono<{ Bindings: Env }>();

app.get("/", (context) =>
  context.text("Holdfast: a Git host. Push to it: git push <this URL>/<owner>/<repository>.git main\n"),
);

// Pages of any origin may use git and the API: nothing is sent that the browser would add by itself.
app.use(
  "*",
  cors({
    origin: "*",
    allowMethods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    exposeHeaders: [
      "Content-Disposition",
      "Content-Range",
      "ETag",
      "Holdfast-Cache",
      "Link",
      "Location",
      "Retry-After",
    ],
    maxAge: 86_400,
  }),
);

app.use("/:owner/:repository/*", async (context, next) => authorise(context.req.raw, context.env) ?? next());

app.get("/:owner/:repository/info/refs", (context) => {
  const service = parseService(new URL(context.req.url));
  if (service === null) return unknownServiceResponse();
  return withRepository(context, (repository) =>
    service === "git-receive-pack"
      ? repository.fetch(context.req.raw)
      : advertiseUploadPack(context.req.raw, fetchContext(context, repository)),
  );
});

app.all("/:owner/:repository/git-upload-pack", (context) =>
  withRepository(context, (repository) => serveUploadPack(context.req.raw, fetchContext(context, repository))),
);

app.all("/:owner/:repository/git-receive-pack", (context) =>
  withRepository(context, (repository) => repository.fetch(context.req.raw)),
);

app.all("/:owner/:repository/bundles/:name", (context) =>
  withRepository(context, (repository) =>
    serveBundle(
      context.req.raw,
      context.req.param("name"),
      fetchContext(context, repository),
      context.env.ACCESS === "open" ? "public" : "private",
    ),
  ),
);

const api = createRestApp((context) => {
  const host = context as unknown as HostContext;
  return {
    open: async (owner, name) => {
      const repository = findRepository(host, owner, name);
      if (repository === null) throw new GitError("not-found", { what: "repository" });
      return newRepositoryClient((call, argument) => repository.call(call, argument));
    },
    reading: {
      codec,
      openChunks: (counters) => new R2ChunkStore(host.env.BUCKET, counters),
      observe: printEvent,
    },
  };
});

app.get("/api/docs", () => renderApiDocs(api.getOpenAPI31Document(API_DESCRIPTION)));
app.route("/api", api);

app.notFound(() => textResponse(404, "not found"));

/** The Worker: routes every request.
 * @see https://developers.cloudflare.com/workers/runtime-apis/handlers/fetch/ */
export default app;

type RepositoryStub = DurableObjectStub<RepositoryObject>;

/** Serves a request to the repository that its path names. */
function withRepository(
  context: HostContext,
  serve: (repository: RepositoryStub) => Promise<Response>,
): Promise<Response> | Response {
  const { owner, repository } = context.req.param() as { owner: string; repository: string };
  const found = findRepository(context, owner, repository);
  return found === null ? textResponse(404, "repository not found") : serve(found);
}

/** Finds the repository that a path names: `name` and `name.git` are one. Null: there can be none of that name. */
function findRepository(context: HostContext, owner: string, repository: string): RepositoryStub | null {
  const name = repository.replace(/\.git$/, "");
  if (!NAME.test(owner) || !NAME.test(name)) return null;
  // The bindings do not know the class: it knows them.
  const repositories = context.env.REPOSITORY as DurableObjectNamespace<RepositoryObject>;
  return repositories.getByName(`${owner}/${name}`);
}

/** What serving a fetch needs: the object decides, this Worker carries the bytes. */
function fetchContext(context: HostContext, repository: RepositoryStub): FetchContext {
  const { env, executionCtx } = context;
  const operations = newChunkCounters();
  let planMs = 0;
  let rowsRead = 0;
  return {
    source: {
      refs: (prefixes) => repository.listRefs(prefixes),
      fetch: async (request) => {
        const startMs = Date.now();
        const outcome = await repository.planFetch(request);
        planMs = Date.now() - startMs;
        if (outcome.kind === "negotiated") rowsRead = outcome.rowsRead;
        return outcome;
      },
      settleResponse: (objectKey, sizeBytes) => repository.settleResponse(objectKey, sizeBytes),
      sizes: (oids) => repository.readSizes(oids),
      bundles: () => repository.listBundles(),
    },
    limits: configuredLimits(env),
    chunks: new R2ChunkStore(env.BUCKET, operations),
    codec,
    waitUntil: (promise) => executionCtx.waitUntil(promise),
    observe: (sent, cache) =>
      printEvent({ event: "fetch", ...sent, cache, planMs, operations: { ...operations, rowsRead } }),
  };
}
