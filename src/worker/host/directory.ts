// Resolves a repository's name to its object, with the caller's right checked. The registry knows
// the routes. An isolate caches its answers for `ANSWER_LIFE_MS`, so that a clone needs no extra
// call. A cached route may be stale, which is safe: an object that is not a repository (any more)
// says so, and the registry is asked again; and no name passes from one living repository to
// another while it may be cached.
import {
  type Asker,
  authorise,
  everythingOf,
  may,
  nameOf,
  type Requester,
  type Right,
  rightOf,
} from "../../base/access/caller.ts";
import { GitError, isGitError } from "../../base/format/errors.ts";
import type { RepositoryName } from "../../base/format/repository-name.ts";
import { type Ambiguities, newClient, type RepositoryClient } from "../../contract/calls.ts";
import type { ForkRequest } from "../../contract/merges.ts";
import type { NewPlace } from "../../contract/push.ts";
import { noCreation } from "../git/advertise-push.ts";
import type { NameRefusal, RepositoryRoute, RepositoryDetails } from "../../contract/registry.ts";
import { type Env, REGISTRY_NAME } from "../../contract/env.ts";
import { forgetRoute, type KnownRoute, recallRoute, rememberRoute } from "./known-routes.ts";
import { watchingDamage } from "./known-damage.ts";
import type { Timings } from "./timings.ts";
import {
  GONE,
  LISTEN_REQUEST,
  ORIGIN_HEADER,
  type PushOrigin,
  type RegistryRpc,
  type Remote,
  type RepositoryRpc,
} from "../../contract/objects.ts";

type RepositoryStub = Remote<RepositoryRpc>;

/** The current place of a repository found by a former name; null: the name is current. */
function newPlace({ owner, name, isFormer }: KnownRoute, requestUrl: string): NewPlace | null {
  const path = `${owner}/${name}`;
  return isFormer ? { name: path, url: new URL(`/${path}.git`, requestUrl).href } : null;
}

export function registryOf(env: Env): Remote<RegistryRpc> {
  return env.REGISTRY.getByName(REGISTRY_NAME) as unknown as Remote<RegistryRpc>;
}

export function repositoryObject(env: Env, id: string): Remote<RepositoryRpc> {
  return env.REPOSITORY.getByName(id) as unknown as Remote<RepositoryRpc>;
}

/** A named repository during one request. Its object is reached only through here: the caller's
 * right is checked first. */
export class NamedRepository {
  readonly #env: Env;
  readonly #name: RepositoryName;
  readonly #asker: Asker;
  readonly #timings: Timings;
  readonly #needed: Right;
  /** The route by which the caller was admitted. */
  #admitted: KnownRoute | null = null;
  /** The route of the repository that this request has reached. */
  #met: KnownRoute | null = null;

  /** @param needed the right that the request needs */
  constructor(env: Env, name: RepositoryName, needed: Right, asker: Asker, timings: Timings) {
    this.#env = env;
    this.#name = name;
    this.#asker = asker;
    this.#timings = timings;
    this.#needed = needed;
  }

  /** The id of the repository that this request has reached; null: none so far. */
  get id(): string | null {
    return this.#met?.id ?? null;
  }

  /** The id that the name leads to, even if its object was not reached; null: none so far. */
  get sought(): string | null {
    return this.#met?.id ?? this.#admitted?.id ?? null;
  }

  /** The repository's current place if the request used a former name; else null.
   * @param requestUrl URL of any request to the deployment */
  movedTo(requestUrl: string): NewPlace | null {
    return this.#met === null ? null : newPlace(this.#met, requestUrl);
  }

  /** Refuses callers without the right, before anything else is looked at. A cached route alone
   * refuses nobody: it may have changed. Asking the registry also takes the same time for hidden
   * repositories and missing ones, which are never cached.
   * @throws GitError
   * @see authorise */
  async admit(): Promise<void> {
    const known = recallRoute(this.#name);
    if (known !== null && may(this.#asker.caller, this.#needed, known)) {
      this.#admitted = known;
      return;
    }
    const route = await this.#timings.time("access", () => this.#route("find"));
    this.#authorise(route);
    this.#admitted = route;
  }

  /** The name's route and the caller's right there, once admitted; null: it leads nowhere. */
  get place(): (RepositoryRoute & { readonly right: Right }) | null {
    const route = this.#met ?? this.#admitted;
    return route === null ? null : { ...route, right: rightOf(this.#asker.caller, route)! };
  }

  /** Calls the repository.
   * @param isUnknown recognises the answer of an object that is not a repository
   * @returns null: no repository has the name
   * @throws GitError
   * @see authorise */
  async ask<T>(
    call: (repository: RepositoryStub, requester: Requester) => Promise<T>,
    isUnknown: (answer: T) => boolean,
  ): Promise<T | null> {
    // A request stays with the repository that it began with.
    if (this.#met !== null) return this.#meet(this.#met, call, isUnknown);
    const stale = recallRoute(this.#name);
    if (stale !== null) {
      this.#authorise(stale);
      const answer = await this.#meet(stale, call, isUnknown);
      if (answer !== null) return answer;
    }
    const route = await this.#route("find");
    this.#authorise(route);
    if (route === null) return null;
    const answer = route.id === stale?.id ? null : await this.#meet(route, call, isUnknown);
    if (answer === null) await this.#checkLost(route);
    return answer;
  }

  /** Throws if an object that says it is no repository has lost its database, instead of having
   * been deleted.
   * @throws GitError "damaged-data" */
  async #checkLost(route: KnownRoute): Promise<void> {
    if (route.isLive && (await this.#open(route.id).isBlank()))
      await watchingDamage(route.id, () => this.#tellLost(route));
  }

  async #tellLost({ id }: KnownRoute): Promise<void> {
    // The repository may have been deleted since the registry was asked.
    const now = await registryOf(this.#env).find(this.#name);
    if (now === null || now.id !== id || !now.isLive) return;
    const reason = `the registry knows ${now.owner}/${now.name} (${id}), and its database is empty; bring that back from a backup, or delete the repository`;
    throw new GitError("damaged-data", { what: "repository's database", reason });
  }

  /** Calls the repository that this request has reached, if any. */
  async tell(call: (repository: RepositoryStub) => Promise<void>): Promise<void> {
    if (this.#met !== null) await call(this.#open(this.#met.id));
  }

  /** Opens a WebSocket to the repository's object, which sends a message after each event.
   * @returns null: no repository has the name
   * @throws GitError "unavailable" when there are too many listeners, and as `authorise` */
  async listen(): Promise<WebSocket | null> {
    const response = await this.ask(
      (repository) => repository.fetch(new Request(LISTEN_REQUEST.url, { headers: LISTEN_REQUEST.headers })),
      ({ status }) => status === GONE,
    );
    if (response === null) return null;
    if (response.webSocket !== null) return response.webSocket;
    throw new GitError("unavailable", { what: "event stream", reason: "too many listen to this repository" });
  }

  /** Forwards a push.
   * @param creates whether an unknown name is reserved for a new repository
   * @throws GitError "unavailable" while the repository is being deleted, "not-found" if it is
   * missing and must not be created, and as `authorise` */
  async push(request: Request, creates: boolean): Promise<Response> {
    const { url, headers } = request;
    let unread = request;
    const stale = recallRoute(this.#name);
    if (stale !== null) {
      this.#authorise(stale);
      const response = await this.#fetch(stale, unread);
      if (response.status !== GONE) return response;
      // The object returned the body unread.
      unread = new Request(url, { method: "POST", headers, body: response.body });
    }
    const found = await this.#route("find");
    this.#authorise(found);
    if (found === null && !creates) {
      await unread.body?.cancel();
      throw noCreation();
    }
    const route = found ?? (await this.#route("reserve"));
    this.#authorise(route);
    if (route !== null && route.id !== stale?.id) {
      const response = await this.#fetch(route, unread);
      if (response.status !== GONE) return response;
      unread = new Request(url, { method: "POST", body: response.body });
    }
    await unread.body?.cancel();
    if (route !== null) await this.#checkLost(route);
    throw new GitError("unavailable", { subject: "repository", reason: "it is being deleted; push again" });
  }

  /** The repository's client for the REST API. @see newClient */
  client(noteAmbiguities: (ambiguities: Ambiguities) => void): RepositoryClient {
    return newClient<RepositoryClient>(async (name, argument) => {
      const outcome = await this.ask(
        (repository, requester) => repository.call(name, argument, requester),
        ({ kind }) => kind === "unknown-repository",
      );
      return outcome ?? { kind: "unknown-repository" };
    }, noteAmbiguities);
  }

  /** Creates the repository, empty.
   * @returns why it was refused; null: it was created
   * @throws GitError
   * @see authorise */
  async create(details: RepositoryDetails, defaultBranch: string): Promise<NameRefusal | null> {
    authorise(this.#asker.caller, this.#needed, everythingOf(this.#name.owner));
    const reserved = await registryOf(this.#env).create(this.#name, details);
    if (reserved.kind !== "reserved") return reserved;
    forgetRoute(this.#name);
    const isCreated = await this.#open(reserved.id).create(defaultBranch);
    return isCreated ? null : { kind: "taken", by: this.#name };
  }

  /** Creates the repository as a fork of another one, which the caller may read.
   * @returns why it was refused; null: it was created
   * @throws GitError also "not-found" when the parent or a branch is missing, "unavailable"
   * @see authorise
   * @see ForkRequest */
  async fork(details: RepositoryDetails, request: Omit<ForkRequest, "who">): Promise<NameRefusal | null> {
    authorise(this.#asker.caller, this.#needed, everythingOf(this.#name.owner));
    const reserved = await registryOf(this.#env).create(this.#name, details);
    if (reserved.kind !== "reserved") return reserved;
    forgetRoute(this.#name);
    const outcome = await this.#open(reserved.id).fork({ ...request, who: nameOf(this.#asker.caller) });
    if (outcome.kind === "failed") throw new GitError(outcome.code, outcome.data);
    return outcome.kind === "forked" ? null : { kind: "taken", by: this.#name };
  }

  /** Deletes the repository.
   * @returns whether it existed
   * @throws GitError
   * @see authorise */
  async delete(): Promise<boolean> {
    try {
      const deleted = await this.ask(
        (repository, { caller }) => repository.delete(caller),
        (existed) => !existed,
      );
      return deleted !== null;
    } catch (error) {
      if (!isGitError(error, "damaged-data")) throw error;
      // Only the name is left to delete. Its R2 objects stay.
      const lost = await registryOf(this.#env).find(this.#name);
      if (lost !== null) await registryOf(this.#env).report(lost.id, { kind: "deleted" });
      return lost !== null;
    } finally {
      forgetRoute(this.#name);
    }
  }

  async #meet<T>(
    route: KnownRoute,
    call: (repository: RepositoryStub, requester: Requester) => Promise<T>,
    isUnknown: (answer: T) => boolean,
  ): Promise<T | null> {
    const requester = this.#requesterAt(route);
    const answer = await this.#timings.time("repository", () =>
      watchingDamage(route.id, () => call(this.#open(route.id), requester)),
    );
    if (isUnknown(answer)) return null;
    this.#met = route;
    return answer;
  }

  /** Makes the requester for calls to the route's repository, once authorised. */
  #requesterAt(route: KnownRoute): Requester {
    const { caller } = this.#asker;
    const knownMs = Math.min(caller.kind === "token" ? caller.knownMs : Infinity, route.knownMs);
    return { ...this.#asker, knownMs, right: rightOf(this.#asker.caller, route)!, quota: route.quota };
  }

  /** @param route null: the name is unknown, which only callers with the right to read everything
   * of its owner may learn */
  #authorise(route: RepositoryRoute | null): void {
    authorise(this.#asker.caller, this.#needed, route ?? everythingOf(this.#name.owner));
  }

  async #route(how: "find" | "reserve"): Promise<KnownRoute | null> {
    const knownMs = Date.now();
    const found = await registryOf(this.#env)[how](this.#name);
    const route = found === null ? null : { ...found, knownMs };
    if (route === null) forgetRoute(this.#name);
    else rememberRoute(this.#name, route);
    return route;
  }

  async #fetch(route: KnownRoute, request: Request): Promise<Response> {
    const headers = new Headers(request.headers);
    // Replaces the header that the client may have sent.
    const place = { name: `${route.owner}/${route.name}`, movedTo: newPlace(route, request.url)?.url ?? null };
    const origin: PushOrigin = { requester: this.#requesterAt(route), place };
    headers.set(ORIGIN_HEADER, encodeURIComponent(JSON.stringify(origin)));
    const sent = new Request(request, { headers });
    const response = await this.#timings.time("repository", () =>
      watchingDamage(route.id, () => this.#open(route.id).fetch(sent)),
    );
    if (response.status !== GONE) this.#met = route;
    return response;
  }

  #open(id: string): RepositoryStub {
    return repositoryObject(this.#env, id);
  }
}
