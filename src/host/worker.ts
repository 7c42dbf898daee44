import { type Context, Hono } from "hono";
import { cors } from "hono/cors";
import wasm from "../codec/holdfast.wasm";
import { instantiateCodec } from "../codec/codec.ts";
import { serveBundle } from "../protocol/bundle-file.ts";
import { parseRepositoryName } from "../format/repository-name.ts";
import { errorResponse, textResponse } from "../protocol/error-response.ts";
import type { FetchContext } from "../protocol/fetch-context.ts";
import { advertiseReceivePack } from "../protocol/receive-pack.ts";
import { parseService, refuseRpc, unknownServiceResponse } from "../protocol/smart-http.ts";
import { advertiseUploadPack, serveUploadPack } from "../protocol/upload-pack.ts";
import { newChunkCounters } from "../store/chunk-store.ts";
import { R2ChunkStore } from "../store/r2-chunk-store.ts";
import type { FetchOutcome } from "../repository/fetch-source.ts";
import { API_DESCRIPTION, createRestApp } from "../rest/app.ts";
import { renderApiDocs } from "../web/api-docs.ts";
import { authorise } from "./access.ts";
import { NamedRepository } from "./directory.ts";
import type { Env } from "./env.ts";
import { printEvent } from "./event-log.ts";
import { RegistryObject } from "./registry-object.ts";
import { configuredLimits, RepositoryObject } from "./repository-object.ts";
import { newRestHost } from "./rest-host.ts";

export { RegistryObject, RepositoryObject };

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
    (service === "git-receive-pack" ? advertiseReceivePack : advertiseUploadPack)(
      context.req.raw,
      fetchContext(context, repository),
    ),
  );
});

app.all("/:owner/:repository/git-upload-pack", (context) =>
  withRepository(context, (repository) => serveUploadPack(context.req.raw, fetchContext(context, repository))),
);

app.all("/:owner/:repository/git-receive-pack", (context) =>
  // What is no push reserves no name.
  withRepository(
    context,
    async (repository) => refuseRpc(context.req.raw, "git-receive-pack") ?? pushTo(repository, context.req.raw),
  ),
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

const api = createRestApp((context) => newRestHost((context as unknown as HostContext).env, codec));

app.get("/api/docs", () => renderApiDocs(api.getOpenAPI31Document(API_DESCRIPTION)));
app.route("/api", api);

app.notFound(() => textResponse(404, "not found"));

/** The Worker: routes every request.
 * @see https://developers.cloudflare.com/workers/runtime-apis/handlers/fetch/ */
export default app;

/** Serves a request to the repository that its path names. */
function withRepository(
  context: HostContext,
  serve: (repository: NamedRepository) => Promise<Response>,
): Promise<Response> | Response {
  const { owner, repository } = context.req.param() as { owner: string; repository: string };
  const name = parseRepositoryName(owner, repository);
  return name === null ? textResponse(404, "repository not found") : serve(new NamedRepository(context.env, name));
}

async function pushTo(repository: NamedRepository, request: Request): Promise<Response> {
  try {
    return await repository.push(request);
  } catch (error) {
    return errorResponse(error);
  }
}

/** What serving a fetch needs: the object decides, this Worker carries the bytes. */
function fetchContext(context: HostContext, repository: NamedRepository): FetchContext {
  const { env, executionCtx } = context;
  const operations = newChunkCounters();
  let planMs = 0;
  let rowsRead = 0;
  return {
    source: {
      refs: (prefixes) => repository.ask((stub) => stub.listRefs(prefixes), isNull),
      fetch: async (request) => {
        const startMs = Date.now();
        const outcome = await repository.ask(
          (stub) => stub.planFetch(request) as Promise<FetchOutcome>,
          ({ kind }) => kind === "unknown-repository",
        );
        planMs = Date.now() - startMs;
        if (outcome?.kind === "negotiated") rowsRead = outcome.rowsRead;
        return outcome ?? { kind: "unknown-repository" };
      },
      settleResponse: (objectKey, sizeBytes) => repository.tell((stub) => stub.settleResponse(objectKey, sizeBytes)),
      sizes: (oids) => repository.ask((stub) => stub.readSizes(oids), isNull),
      bundles: () => repository.ask((stub) => stub.listBundles(), isNull),
    },
    limits: configuredLimits(env),
    chunks: new R2ChunkStore(env.BUCKET, operations),
    codec,
    waitUntil: (promise) => executionCtx.waitUntil(promise),
    observe: (sent, cache) =>
      printEvent({ event: "fetch", ...sent, cache, planMs, operations: { ...operations, rowsRead } }),
  };
}

function isNull(answer: unknown): boolean {
  return answer === null;
}
