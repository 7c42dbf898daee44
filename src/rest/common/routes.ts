import { createRoute, OpenAPIHono, type RouteConfig } from "@hono/zod-openapi";
import type { Context, Handler, MiddlewareHandler } from "hono";
import type { Right, Token } from "../../access/caller.ts";
import type { Quota, QuotaChange } from "../../access/quota.ts";
import { GitError } from "../../format/errors.ts";
import type { RepositoryName } from "../../format/repository-name.ts";
import type { Ambiguities, RepositoryClient } from "../../repository/calls.ts";
import type { ForkRequest } from "../../repository/forks/fork.ts";
import type { Reading } from "../../repository/files/reading.ts";
import type { PushResult, RefCommand } from "../../repository/state/push.ts";
import type { NameRefusal, QuotaStanding, RepositoryChange } from "../../store/registry/registry-answers.ts";
import type { ForkPage, RepositoryDetails, RepositoryEntry } from "../../store/registry/repository-rows.ts";
import type { NewToken } from "../../store/registry/token-table.ts";
import { AMBIGUITY_HEADER, showAmbiguities } from "./ambiguities.ts";
import { answerError } from "./error.ts";
import { checkBody } from "./request-body.ts";

/** What a route needs: a right to the repository in its path, or
 * - `token`: any valid token; the route itself checks its right to what the request names
 *   (`RestHost.demand`);
 * - `nothing`: every caller is answered, with what they may see. */
export type Need = Right | "token" | "nothing";

/** The host's services for one request. */
export interface RestHost {
  readonly registry: RepositoryRegistry;
  readonly tokens: TokenDesk;
  readonly quotas: QuotaDesk;
  /** Reads the bytes that a repository's object only points to. */
  readonly reading: Reading;
  /** Opens the repository named in the path, if the caller has the needed right.
   * @param noteAmbiguities
   * @see newRepositoryClient
   * @throws GitError "not-found" for an invalid name, and as `authorise` */
  open(
    owner: string,
    repository: string,
    needed: Right,
    noteAmbiguities: (ambiguities: Ambiguities) => void,
  ): Promise<RepositoryClient>;
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
  /** Refuses callers without a valid token.
   * @throws GitError "unauthenticated" */
  demandToken(): Promise<void>;
  /** Refuses callers without the needed right for everything of an owner.
   * @throws GitError "unauthenticated", "forbidden" */
  demand(needed: Right, owner: string): Promise<void>;
}

/** Creates, shows and revokes tokens. Only an admin of a token's scope may do so, and the token
 * itself.
 * @throws GitError "not-found", and as `RestHost.demand` */
export interface TokenDesk {
  /** @throws GitError also "conflict" when there are too many */
  create(
    place: Place,
    wanted: Omit<NewToken, "id" | "scope">,
  ): Promise<{ readonly token: Token; readonly text: string }>;
  /** @see TokenTable.list */
  list(place: Place, after: string, limit: number): Promise<Token[]>;
  /** @param id `current` for the token of this request */
  read(id: string): Promise<Token>;
  revoke(id: string): Promise<void>;
  /** Those of the ids that belong to no token for the repository or for its owner. */
  findUnknown(place: Required<Place>, ids: readonly string[]): Promise<string[]>;
}

/** Shows quotas to those who may read the repository, or administer the owner's, and lets the
 * operator set them.
 * @throws GitError "invalid", "not-found", and as `RestHost.demand` */
export interface QuotaDesk {
  /** @returns the quota, its usage, and the limits in effect with the deployment's defaults */
  read(place: Place): Promise<QuotaStanding & { readonly effective: Quota }>;
  /** Takes effect in this isolate at once, elsewhere within `ANSWER_LIFE_MS`. */
  set(place: Place, change: QuotaChange): ReturnType<QuotaDesk["read"]>;
}

/** A repository by name, or, without one, everything of an owner. */
export interface Place {
  readonly owner: string;
  readonly repository?: string | undefined;
}

/** The routes' variables in a request's context. */
export interface RestEnv {
  Variables: {
    host: RestHost;
    /** The repository in the path, opened with the right that the route needs. Routes have no other
     * way to it. */
    repository: RepositoryClient;
    /** Reads its bytes from where the object says they are. */
    reading: Reading;
  };
}

/** The repositories of the deployment. Listing them wakes none. Each is shown to, and changed for,
 * only callers who may do so.
 * @throws GitError as `authorise` */
export interface RepositoryRegistry {
  /** The repositories that the caller may read. @see Registry.list */
  list(owner: string | null, after: RepositoryName | null, limit: number): Promise<RepositoryEntry[]>;
  /** @see Registry.read */
  read(name: RepositoryName): Promise<RepositoryEntry | null>;
  /** Creates a repository without refs.
   * @param defaultBranch without `refs/heads/`, byte string
   * @returns why it was refused; null: it is created */
  create(name: RepositoryName, details: RepositoryDetails, defaultBranch: string): Promise<NameRefusal | null>;
  /** Creates a repository as a fork of another one, which the caller may read.
   * @returns why it was refused; null: it is created
   * @throws GitError also "not-found" for a branch, "unavailable" */
  fork(
    name: RepositoryName,
    details: RepositoryDetails,
    request: Omit<ForkRequest, "who">,
  ): Promise<NameRefusal | null>;
  /** Opens a repository of the same family, to read.
   * @param name null: the owner's only one
   * @throws GitError "not-found" also when the caller may not read it, "ambiguous" */
  openRelative(
    of: RepositoryEntry,
    owner: string,
    name: string | null,
    noteAmbiguities: (ambiguities: Ambiguities) => void,
  ): Promise<{ readonly entry: RepositoryEntry; readonly client: RepositoryClient }>;
  /** The forks of a repository that the caller may read. @see listForks */
  listForks(parent: string, after: RepositoryName | null, limit: number): Promise<ForkPage>;
  /** Changes a repository's description, visibility or name. @see Registry.update */
  update(
    repository: RepositoryEntry,
    change: RepositoryChange,
  ): Promise<{ readonly kind: "updated"; readonly entry: RepositoryEntry } | NameRefusal | null>;
  /** Deletes a repository at once; its bytes are removed later.
   * @returns whether it existed */
  delete(name: RepositoryName): Promise<boolean>;
}

/** An app for the routes of a resource. What a schema refuses is answered 422, with the invalid
 * field. */
export function newRoutes(): OpenAPIHono<RestEnv> {
  return new OpenAPIHono<RestEnv>({
    defaultHook: (result) => {
      if (result.success) return undefined;
      const [issue] = result.error.issues;
      const field = issue?.path.join(".");
      return answerError(
        new GitError("invalid", { what: field === "" ? "request" : field, field, reason: issue?.message }),
      );
    },
  });
}

/** Declares a route: the right it needs, its request and its responses. Checks run in this order:
 * right, JSON body, schema. */
export function defineRoute<P extends string, R extends Omit<RouteConfig, "path"> & { path: P }>(
  needed: Need,
  route: R,
): ReturnType<typeof createRoute<P, R>> {
  const middleware = [admit(needed), ...(takesOtherThanJson(route) ? [] : [checkBody])];
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
 * @param pattern of its path */
export function serveBelow<Pattern extends string>(
  app: OpenAPIHono<RestEnv>,
  route: RouteConfig,
  pattern: Pattern,
  handler: Handler<RestEnv, Pattern>,
): void {
  const { middleware, ...documented } = route;
  app.openAPIRegistry.registerPath(documented);
  // oxlint-disable-next-line bounded/no-call-spread -- what the route declares.
  app.on("GET", [pattern], ...[middleware ?? []].flat(), handler);
}

function takesOtherThanJson({ request }: Pick<RouteConfig, "request">): boolean {
  const content = request?.body?.content;
  return content !== undefined && content["application/json"] === undefined;
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
