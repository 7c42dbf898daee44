import { type Context, Hono, type MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { namingRequest } from "../base/format/failure-log.ts";
import { parseRepositoryName } from "../base/format/repository-name.ts";
import { errorResponse, textResponse } from "../base/http/error-response.ts";
import type { FetchContext } from "./git/fetch-context.ts";
import { explainPath } from "./git/misplaced.ts";
import { parseService, unknownServiceResponse } from "../base/http/smart-http.ts";
import { newChunkCounters } from "../base/chunks/chunk-store.ts";
import { R2ChunkStore } from "../base/chunks/r2-chunk-store.ts";
import { API_DESCRIPTION, createRestApp } from "./rest/app.ts";
import { answerError } from "./rest/common/error.ts";
import { routePath } from "./rest/slashes.ts";
import { createWebApp } from "./web/app.ts";
import { renderApiDocs } from "./web/api-docs/api-docs.ts";
import type { NamedRepository } from "./host/directory.ts";
import { type Env, configuredLimits } from "../contract/env.ts";
import { printEvent } from "../contract/event-log.ts";
import { GIT_ROUTES, type GitRoute } from "./host/git-routes.ts";
import { serveHealth } from "./host/health.ts";
import { HostRequest } from "./host/host-request.ts";
import { codec, traffic } from "../base/isolate.ts";
import { serveLfsRequest } from "./host/lfs-host.ts";
import { refuseForeign, explainRepository, welcome } from "./host/visitors.ts";
import { newRestHost, newWebHost } from "./host/deployment.ts";

type HostEnv = { Bindings: Env; Variables: { request: HostRequest } };
type HostContext = Context<HostEnv>;

const app = new Hono<HostEnv>({ getPath: routePath });

/** Refuses web pages of other sites under open access, where no token protects the server. */
const guard: MiddlewareHandler<HostEnv> = async ({ env, req }, next) => {
  const refusal = env.ACCESS === "open" ? refuseForeign(req.raw) : null;
  if (refusal === null) return next();
  return req.path.startsWith("/api/") ? answerError(refusal) : errorResponse(refusal);
};

/** Pages of any origin may use git and the API with a token: a browser adds no credential by
 * itself. */
const admitPages = cors({
  origin: "*",
  allowMethods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
  exposeHeaders: [
    "Content-Disposition",
    "Content-Range",
    "ETag",
    "Holdfast-Ambiguous",
    "Holdfast-Cache",
    "Link",
    "Location",
    "Retry-After",
    "Server-Timing",
    "X-Request-Id",
  ],
  maxAge: 86_400,
});

app.use("*", async (context, next) => {
  const request = new HostRequest(context.req.raw, context.env);
  context.set("request", request);
  await namingRequest(() => request.failed, next);
  context.header("X-Request-Id", request.id);
  context.header("Server-Timing", request.timings.toHeader());
  request.log(context.res.status);
});

app.use("*", guard);

const crossOrigin: MiddlewareHandler<HostEnv> = (context, next) =>
  context.env.ACCESS === "open" ? next() : admitPages(context, next);
app.use("/api/*", crossOrigin);
for (const path of new Set(GIT_ROUTES.map((route) => route.path))) app.use(`/:owner/:repository${path}`, crossOrigin);

app.get("/healthz", (context) => serveHealth(context.env));

for (const [path, routes] of Map.groupBy(GIT_ROUTES, (route) => route.path)) {
  app.all(`/:owner/:repository${path}`, async (context) => {
    const service = parseService(new URL(context.req.url));
    const route = routes.find((one) => one.service === undefined || one.service === service);
    return route === undefined ? unknownServiceResponse() : serveGit(context, route);
  });
}

const api = createRestApp((context) => newRestHost((context as unknown as HostContext).get("request"), codec));

app.get("/api/docs", ({ req }) =>
  renderApiDocs(api.getOpenAPI31Document(API_DESCRIPTION), `${new URL(req.url).origin}/api`),
);
app.route("/api", api);

app.use("/:owner/:repository/info/lfs/*", crossOrigin);
app.all("/:owner/:repository/info/lfs/*", (context) => {
  const { owner, repository } = context.req.param();
  return serveLfsRequest(context.get("request"), owner, repository);
});

// After the API, whose paths have the same form.
app.route(
  "/",
  createWebApp((context) => newWebHost((context as unknown as HostContext).get("request"), codec)),
);

app.get("/", welcome);
app.on("GET", ["/:owner/:repository", "/:owner/:repository/"], (context) =>
  explainRepository(context, async (name) => {
    await context.get("request").open(name, "read");
    return newRestHost(context.get("request"), codec).registry.read(name);
  }),
);

app.notFound((context) => textResponse(404, explainPath(context.req.path) ?? "not found"));

/** The Worker: routes every request.
 * @see https://developers.cloudflare.com/workers/runtime-apis/handlers/fetch/ */
export default app;

/** Serves a Git request to the repository in its path, if the caller has the needed right. */
async function serveGit(context: HostContext, route: GitRoute): Promise<Response> {
  const request = context.req.raw;
  const methods = route.method === "GET" ? ["GET", "HEAD"] : ["POST"];
  if (!methods.includes(request.method))
    return textResponse(405, `method not allowed: use ${methods.join(" or ")}`, { Allow: methods.join(", ") });
  const { owner, repository: name } = context.req.param() as { owner: string; repository: string };
  // Counts as traffic from here on: the advertisement for a push to a new name reaches no object,
  // and jobs must not begin between it and the push.
  const end = traffic.begin();
  try {
    const repository = await context.get("request").open(parseRepositoryName(owner, name), route.needed);
    const fetch = fetchContext(context, repository);
    const { ACCESS, CREATE_ON_PUSH } = context.env;
    const isOpen = ACCESS === "open";
    return await route.serve({ request, repository, fetch, isOpen, createsOnPush: CREATE_ON_PUSH !== "off" });
  } catch (error) {
    return (route.fail ?? errorResponse)(error);
  } finally {
    end();
  }
}

/** Environment for serving a fetch: the object makes the plan, this Worker sends the bytes. */
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
          (stub) => stub.planFetch(request),
          ({ kind }) => kind === "unknown-repository",
        );
        planMs = Date.now() - startMs;
        if (outcome?.kind === "negotiated") rowsRead = outcome.rowsRead;
        return outcome ?? { kind: "unknown-repository" };
      },
      finishResponse: (objectKey, sizeBytes) => repository.tell((stub) => stub.finishResponse(objectKey, sizeBytes)),
      awaitResponse: (objectKey) => repository.ask((stub) => stub.awaitResponse(objectKey), isNull),
      sizes: (oids) => repository.ask((stub) => stub.readSizes(oids), isNull),
      bundles: () => repository.ask((stub) => stub.listBundles(), isNull),
    },
    limits: configuredLimits(env),
    movedTo: () => repository.movedTo(context.req.url),
    chunks: new R2ChunkStore(env.BUCKET, operations),
    codec,
    waitUntil: (promise) => executionCtx.waitUntil(promise),
    observe: (sent, cache) =>
      printEvent(
        { event: "fetch", ...sent, cache, planMs, operations: { ...operations, rowsRead } },
        context.get("request").origin,
      ),
  };
}

function isNull(answer: unknown): boolean {
  return answer === null;
}
