import { createRoute, OpenAPIHono, type RouteConfig } from "@hono/zod-openapi";
import type { Context, Handler, MiddlewareHandler } from "hono";
import type { Right, Token } from "../access/caller.ts";
import type { Quota, QuotaChange } from "../access/quota.ts";
import { GitError } from "../format/errors.ts";
import type { RepositoryName } from "../format/repository-name.ts";
import type { Ambiguities, RepositoryClient } from "../repository/calls.ts";
import type { Reading } from "../repository/files/reading.ts";
import type { PushResult, RefCommand } from "../repository/state/push.ts";
import type { NameRefusal, QuotaStanding, RepositoryChange } from "../store/registry/registry.ts";
import type { RepositoryDetails, RepositoryEntry } from "../store/registry/repository-rows.ts";
import type { NewToken } from "../store/registry/token-table.ts";
import { AMBIGUITY_HEADER, showAmbiguities } from "./ambiguities.ts";
import { answerError } from "./error.ts";
import { checkBody } from "./request-body.ts";

/** What a route needs of who asks it: a right to the repository that its path names, or
 * - `token`: any valid token; what the request names is looked at by the route itself (`RestHost.demand`);
 * - `nothing`: everybody is answered, with what they may see. */
export type Need = Right | "token" | "nothing";

/** What the API needs of its host for one request. */
export interface RestHost {
  readonly registry: RepositoryRegistry;
  readonly tokens: TokenDesk;
  readonly quotas: QuotaDesk;
  /** Reads the bytes that a repository only tells the place of. */
  readonly reading: Reading;
  /** Opens the repository that a path names, for who may do so much with it.
   * @param noteAmbiguities @see newRepositoryClient
   * @throws GitError "not-found" when the name cannot be one, and as `authorise` */
  open(
    owner: string,
    repository: string,
    needed: Right,
    noteAmbiguities: (ambiguities: Ambiguities) => void,
  ): Promise<RepositoryClient>;
  /** Pushes to the repository that a path names, and creates it if there is none, for who may write there.
   * @param pack is read as the push takes it
   * @returns what became of it: all refs moved, or none
   * @throws GitError as `open`, and what the push is refused with before its pack is looked at */
  push(
    owner: string,
    repository: string,
    commands: readonly RefCommand[],
    pack: ReadableStream<Uint8Array>,
  ): Promise<PushResult>;
  /** Refuses who shows no valid token.
   * @throws GitError "unauthenticated" */
  demandToken(): Promise<void>;
  /** Refuses who may not do so much with all that an owner has.
   * @throws GitError "unauthenticated", "forbidden" */
  demand(needed: Right, owner: string): Promise<void>;
}

/** Where tokens are given out, shown and revoked, each only to an admin of what it is for, and to itself.
 * @throws GitError "not-found", and as `RestHost.demand` */
export interface TokenDesk {
  /** @throws GitError also "conflict" when there are too many */
  create(
    place: Place,
    wanted: Omit<NewToken, "id" | "scope">,
  ): Promise<{ readonly token: Token; readonly text: string }>;
  /** @see TokenTable.list */
  list(place: Place, after: string, limit: number): Promise<Token[]>;
  /** @param id `current` for the one that the request shows */
  read(id: string): Promise<Token>;
  revoke(id: string): Promise<void>;
  /** Those of some ids which no token has that is for the repository, or for all of its owner's. */
  findUnknown(place: Required<Place>, ids: readonly string[]): Promise<string[]>;
}

/** Where quotas are shown to who may read the repository, or is an admin of the owner's, and set by the operator.
 * @throws GitError "invalid", "not-found", and as `RestHost.demand` */
export interface QuotaDesk {
  /** @returns with what holds in effect, the deployment's defaults included */
  read(place: Place): Promise<QuotaStanding & { readonly effective: Quota }>;
  /** Of here at once, within `ANSWER_LIFE_MS` everywhere. */
  set(place: Place, change: QuotaChange): ReturnType<QuotaDesk["read"]>;
}

/** A repository, or, without one, all that an owner has: by name. */
export interface Place {
  readonly owner: string;
  readonly repository?: string | undefined;
}

/** What the routes find in a request's context. */
export interface RestEnv {
  Variables: {
    host: RestHost;
    /** The repository that the path names, opened for what the route needs: there is no other way to it. */
    repository: RepositoryClient;
    /** Reads its bytes here, where the object says they lie. */
    reading: Reading;
  };
}

/** The repositories of the deployment, which need not wake to be listed; each is shown, and changed, only for who may do so.
 * @throws GitError as `authorise` */
export interface RepositoryRegistry {
  /** Those that the caller may read. @see Registry.list */
  list(owner: string | null, after: RepositoryName | null, limit: number): Promise<RepositoryEntry[]>;
  /** @see Registry.read */
  read(name: RepositoryName): Promise<RepositoryEntry | null>;
  /** Creates a repository without any ref.
   * @param defaultBranch without `refs/heads/`, byte string
   * @returns why not, null: it is created */
  create(name: RepositoryName, details: RepositoryDetails, defaultBranch: string): Promise<NameRefusal | null>;
  /** Changes what is said of a repository, and its name. @see Registry.update */
  update(
    repository: RepositoryEntry,
    change: RepositoryChange,
  ): Promise<{ readonly kind: "updated"; readonly entry: RepositoryEntry } | NameRefusal | null>;
  /** Deletes a repository at once; its bytes go by and by.
   * @returns whether there was one */
  delete(name: RepositoryName): Promise<boolean>;
}

/** An app for the routes of a resource: what its schemas refuse is answered 422, with the field at fault. */
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

/** Declares a route: what it needs of who asks, and what it takes and answers. It is asked in this order: may they; is the body JSON; is
 * the request valid. */
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

/** Serves a route whose last parameter may hold slashes as they are, which the document's templates cannot say.
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

/** Lets only those through who have what a route needs. */
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

/** The repository that a request's path names. */
export function repositoryOf(context: Context<RestEnv>): RepositoryClient {
  return context.get("repository");
}
