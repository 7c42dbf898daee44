import { type z, createRoute, OpenAPIHono, type RouteConfig } from "@hono/zod-openapi";
import { GitError } from "../../../base/format/errors.ts";
import type { Context, MiddlewareHandler } from "hono";
import type { Right } from "../../../base/access/caller.ts";
import { AMBIGUITY_HEADER, showAmbiguities } from "../../../base/format/ambiguities.ts";
import type { Deployment } from "../../shared/deployment.ts";
import type { Reading } from "../../files/blob-reader.ts";
import type { PushResult, RefCommand } from "../../../contract/push.ts";
import { answerError } from "./error.ts";
import { checkBody, endBody, refuseBody } from "./request-body.ts";
import { checkQuery, readQuery } from "./request-query.ts";
import type { Ambiguities, RepositoryClient } from "../../../contract/calls.ts";

/** Right that a route needs: a right to the repository in its path, or
 * - `token`: any valid token; the route itself checks its right to the resource that the request
 *   names (`Deployment.demand`);
 * - `nothing`: every caller is answered, with the data that they may see. */
export type Need = Right | "token" | "nothing";

/** The host's services for one request. */
export interface RestHost extends Deployment {
  /** Pushes to the repository named in the path, and creates it if needed. The caller must have the
   * right to write there.
   * @param pack read as the push consumes it
   * @returns the result: all refs moved, or none
   * @throws GitError as `open`, and when the push is refused before its pack is read */
  push(
    owner: string,
    repository: string,
    commands: readonly RefCommand[],
    pack: ReadableStream<Uint8Array>,
  ): Promise<PushResult>;
}

/** Variables of a route in a request's context. */
export interface RestEnv {
  Variables: {
    host: RestHost;
    /** The repository in the path, opened with the right that the route needs. Routes have no other
     * access to it. */
    repository: RepositoryClient;
    /** Reads the repository's bytes from the places that the object names. */
    reading: Reading;
  };
}

/** Makes an app for the routes of a resource. Input that a schema refuses is answered 422, with the
 * invalid field. */
export function newRoutes(): OpenAPIHono<RestEnv> {
  return new OpenAPIHono<RestEnv>({
    defaultHook: (result) => (result.success ? undefined : answerError(toRefusal(result.error))),
  });
}

/** Declares a route: the right it needs, its request and its responses. Checks run in this order:
 * right, names in the query, JSON body, schema. Undeclared input is refused: parameters of the
 * query, a body, keys of a body (whose schemas are strict objects). */
export function defineRoute<P extends string, R extends Omit<RouteConfig, "path"> & { path: P }>(
  needed: Need,
  route: R,
): ReturnType<typeof createRoute<P, R>> {
  const middleware = [admit(needed), checkQuery(route.request?.query), ...bodyChecks(route)];
  const tokens = [{ bearer: [] }, { basic: [] }];
  const isOpen = needed === "nothing" || needed === "read";
  return createRoute<P, R>({
    ...route,
    middleware,
    security: isOpen ? [{}, ...tokens] : tokens,
    "x-needs": needed,
  });
}

/** Serves a route whose last parameter may contain unencoded slashes, which OpenAPI path templates
 * cannot express.
 * @param pattern of its path
 * @param handler gets the query, parsed by the route's schema */
export function serveBelow<Pattern extends string, Query extends z.ZodType>(
  app: OpenAPIHono<RestEnv>,
  route: RouteConfig & { readonly request: { readonly query: Query } },
  pattern: Pattern,
  handler: (context: Context<RestEnv, Pattern>, query: z.output<Query>) => Promise<Response>,
): void {
  const { middleware, ...documented } = route;
  app.openAPIRegistry.registerPath(documented);
  // oxlint-disable-next-line bounded/no-call-spread -- what the route declares.
  app.on("GET", [pattern], ...[middleware ?? []].flat(), async (context) => {
    const query = route.request.query.safeParse(readQuery(context));
    if (!query.success) throw toRefusal(query.error);
    return handler(context, query.data);
  });
}

function bodyChecks({ request }: Pick<RouteConfig, "request">): MiddlewareHandler[] {
  const content = request?.body?.content;
  if (content === undefined) return [checkBody, refuseBody];
  return [content["application/json"] === undefined ? endBody : checkBody];
}

/** Admits only callers with the right that a route needs. */
function admit(needed: Need): MiddlewareHandler<RestEnv> {
  return async (context, next) => {
    const host = context.get("host");
    if (needed === "token") await host.demandToken();
    else if (needed !== "nothing") {
      const { owner, repo } = context.req.param() as { owner: string; repo: string };
      let ambiguities: Ambiguities = [];
      const note = (more: Ambiguities): void => void (ambiguities = [...ambiguities, ...more]);
      context.set("repository", await host.open(owner, repo, needed, note));
      context.set("reading", host.reading);
      await next();
      if (ambiguities.length > 0) context.header(AMBIGUITY_HEADER, showAmbiguities(ambiguities));
      return;
    }
    await next();
  };
}

/** The repository named in a request's path. */
export function repositoryOf(context: Context<RestEnv>): RepositoryClient {
  return context.get("repository");
}

type Issue = z.core.$ZodIssue;

/** Makes the error for input that a schema refuses: it names the first invalid field. */
function toRefusal({ issues }: { readonly issues: readonly Issue[] }): GitError {
  const { field, reason } = describe(issues[0]!);
  return new GitError("invalid", { what: field === "" ? "request" : field, field, reason });
}

function describe(issue: Issue, above: readonly PropertyKey[] = []): { field: string; reason: string } {
  const path = [...above, ...issue.path];
  if (issue.code === "unrecognized_keys")
    return { field: [...path, issue.keys[0]].join("."), reason: "there is no such field" };
  if (issue.code === "invalid_union" && issue.errors.length > 0) {
    // The sender most likely meant the alternative with the fewest faults.
    const [closest] = issue.errors.toSorted((a, b) => countFaults(a) - countFaults(b));
    if (closest!.length > 0) return describe(closest![0]!, path);
  }
  return { field: path.join("."), reason: issue.message };
}

function countFaults(issues: readonly Issue[]): number {
  return issues.reduce((sum, issue) => sum + (issue.code === "unrecognized_keys" ? issue.keys.length : 1), 0);
}
