// How a name leads to a repository's object, for who may use it. The registry knows; an isolate remembers what it said for `ANSWER_LIFE_MS`,
// so that a clone costs no call more. What is remembered may be stale, and is safe all the same: an object that is no repository (any
// more) says so, on which the registry is asked again, and no name passes from one living repository to another while it may be remembered.
import { type Asker, authorise, everythingOf, may, type Requester, type Right, rightOf } from "../access/caller.ts";
import { GitError } from "../format/errors.ts";
import { foldRepositoryName, type RepositoryName } from "../format/repository-name.ts";
import {
  type Ambiguities,
  type CallName,
  type CallOutcome,
  newRepositoryClient,
  type RepositoryClient,
} from "../repository/calls.ts";
import type { NewPlace } from "../protocol/moved.ts";
import { noCreation } from "../protocol/receive-pack.ts";
import { ANSWER_LIFE_MS, type NameRefusal, type RepositoryRoute } from "../store/registry/registry.ts";
import type { QuotaHolder } from "../store/registry/quota-table.ts";
import type { RepositoryDetails } from "../store/registry/repository-rows.ts";
import { type Env, REGISTRY_NAME } from "./env.ts";
import { ExpiringMap } from "./expiring-map.ts";
import type { Timings } from "./timings.ts";
import type { RegistryObject } from "./registry-object.ts";
import { GONE, ORIGIN_HEADER, type PushOrigin, type RepositoryObject } from "./repository-object.ts";

/** Routes that an isolate remembers: some 300 bytes each. */
const MAX_ROUTES = 10_000;

type RepositoryStub = DurableObjectStub<RepositoryObject>;

/** Where a name led when the registry was asked. */
interface KnownRoute extends RepositoryRoute {
  /** When that was: before it answered. */
  readonly knownMs: number;
}

/** Where names lead, as far as this isolate knows. */
const remembered = new ExpiringMap<KnownRoute>(MAX_ROUTES);

function recall(name: RepositoryName): KnownRoute | null {
  return remembered.get(foldRepositoryName(name), Date.now()) ?? null;
}

function remember(name: RepositoryName, route: KnownRoute): void {
  if (route.isFormer) forgetRoute(name);
  else remembered.set(foldRepositoryName(name), route, route.knownMs + ANSWER_LIFE_MS);
}

/** Forgets where a name leads: this isolate knows that it changed. */
export function forgetRoute(name: RepositoryName): void {
  remembered.delete(foldRepositoryName(name));
}

/** Forgets the ways to an owner's repositories, or to one, by whatever name: what they may hold has changed. */
export function forgetRoutesTo(holder: QuotaHolder): void {
  remembered.deleteWhere(({ id, owner }) =>
    "owner" in holder ? owner.toLowerCase() === holder.owner.toLowerCase() : id === holder.repositoryId,
  );
}

/** Where a former name leads; null: it is none. */
function newPlace({ owner, name, isFormer }: KnownRoute, requestUrl: string): NewPlace | null {
  const path = `${owner}/${name}`;
  return isFormer ? { name: path, url: new URL(`/${path}.git`, requestUrl).href } : null;
}

/** The registry of the deployment. */
export function registryOf(env: Env): DurableObjectStub<RegistryObject> {
  // The bindings do not know the classes: they know each other.
  return (env.REGISTRY as DurableObjectNamespace<RegistryObject>).getByName(REGISTRY_NAME);
}

/** The repository that has a name, as one request meets it: no way leads to its object but for who has the right that the request needs. */
export class NamedRepository {
  readonly #env: Env;
  readonly #name: RepositoryName;
  readonly #asker: Asker;
  readonly #timings: Timings;
  readonly #needed: Right;
  /** Which repository this request has met. */
  #met: KnownRoute | null = null;

  /** @param needed what the request needs of whatever the name leads to */
  constructor(env: Env, name: RepositoryName, needed: Right, asker: Asker, timings: Timings) {
    this.#env = env;
    this.#name = name;
    this.#asker = asker;
    this.#timings = timings;
    this.#needed = needed;
  }

  /** The id of the repository that this request has met; null: of none so far. */
  get id(): string | null {
    return this.#met?.id ?? null;
  }

  /** Where the repository is that this request has met, if it came by a name which that left; else null.
   * @param requestUrl of the deployment */
  movedTo(requestUrl: string): NewPlace | null {
    return this.#met === null ? null : newPlace(this.#met, requestUrl);
  }

  /** Refuses who lacks the right, before anything else is looked at. Nobody is refused by what is only remembered: it may have changed,
   * and a name that leads nowhere, which is never remembered, would be told from one that is hidden by the time it takes.
   * @throws GitError @see authorise */
  async admit(): Promise<void> {
    const known = recall(this.#name);
    if (known !== null && may(this.#asker.caller, this.#needed, known)) return;
    this.#authorise(await this.#timings.time("access", () => this.#route("find")));
  }

  /** Asks the repository.
   * @param isUnknown tells an answer by which the object says that it is no repository
   * @returns null: no repository has the name
   * @throws GitError @see authorise */
  async ask<T>(
    call: (repository: RepositoryStub, requester: Requester) => Promise<T>,
    isUnknown: (answer: T) => boolean,
  ): Promise<T | null> {
    // A request goes on with the repository that it began with.
    if (this.#met !== null) return this.#meet(this.#met, call, isUnknown);
    const stale = recall(this.#name);
    if (stale !== null) {
      this.#authorise(stale);
      const answer = await this.#meet(stale, call, isUnknown);
      if (answer !== null) return answer;
    }
    const route = await this.#route("find");
    this.#authorise(route);
    return route === null || route.id === stale?.id ? null : this.#meet(route, call, isUnknown);
  }

  /** Tells the repository that this request has met something; nobody, if it has met none. */
  async tell(call: (repository: RepositoryStub) => Promise<void>): Promise<void> {
    if (this.#met !== null) await call(this.#open(this.#met.id));
  }

  /** Passes a push on.
   * @param creates whether a name that leads nowhere is reserved for it
   * @throws GitError "unavailable" when the repository is being deleted, "not-found" where it is not to be created, and as `authorise` */
  async push(request: Request, creates: boolean): Promise<Response> {
    const { url, headers } = request;
    let unread = request;
    const stale = recall(this.#name);
    if (stale !== null) {
      this.#authorise(stale);
      const response = await this.#fetch(stale, unread);
      if (response.status !== GONE) return response;
      // The object gave the body back as it came.
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
    throw new GitError("unavailable", { what: "repository", reason: "it is being deleted; push again" });
  }

  /** The repository as the REST API asks it. @see newRepositoryClient */
  client(noteAmbiguities: (ambiguities: Ambiguities) => void): RepositoryClient {
    return newRepositoryClient(async (name: CallName, argument: unknown) => {
      const outcome = await this.ask(
        // The stub's type would have every value of every call be a stub itself.
        (repository, requester) => repository.call(name, argument, requester) as Promise<CallOutcome>,
        ({ kind }) => kind === "unknown-repository",
      );
      return outcome ?? { kind: "unknown-repository" };
    }, noteAmbiguities);
  }

  /** Creates the repository, empty.
   * @returns why not, null: it is created
   * @throws GitError @see authorise */
  async create(details: RepositoryDetails, defaultBranch: string): Promise<NameRefusal | null> {
    authorise(this.#asker.caller, this.#needed, everythingOf(this.#name.owner));
    const reserved = await registryOf(this.#env).create(this.#name, details);
    if (reserved.kind !== "reserved") return reserved;
    forgetRoute(this.#name);
    const isCreated = await this.#open(reserved.id).create(defaultBranch);
    return isCreated ? null : { kind: "taken", by: this.#name };
  }

  /** Deletes the repository.
   * @returns whether there was one
   * @throws GitError @see authorise */
  async delete(): Promise<boolean> {
    const deleted = await this.ask(
      (repository) => repository.delete(),
      (existed) => !existed,
    );
    forgetRoute(this.#name);
    return deleted !== null;
  }

  async #meet<T>(
    route: KnownRoute,
    call: (repository: RepositoryStub, requester: Requester) => Promise<T>,
    isUnknown: (answer: T) => boolean,
  ): Promise<T | null> {
    const requester = this.#requesterAt(route);
    const answer = await this.#timings.time("repository", () => call(this.#open(route.id), requester));
    if (isUnknown(answer)) return null;
    this.#met = route;
    return answer;
  }

  /** The request as the repository sees it that a route leads to, where it was authorised. */
  #requesterAt(route: KnownRoute): Requester {
    const { caller } = this.#asker;
    const knownMs = Math.min(caller.kind === "token" ? caller.knownMs : Infinity, route.knownMs);
    return { ...this.#asker, knownMs, right: rightOf(this.#asker.caller, route)!, quota: route.quota };
  }

  /** @param route null: nothing has the name, which only those are told who may read all that its owner has */
  #authorise(route: RepositoryRoute | null): void {
    authorise(this.#asker.caller, this.#needed, route ?? everythingOf(this.#name.owner));
  }

  async #route(how: "find" | "reserve"): Promise<KnownRoute | null> {
    const knownMs = Date.now();
    const found = await registryOf(this.#env)[how](this.#name);
    const route = found === null ? null : { ...found, knownMs };
    if (route === null) forgetRoute(this.#name);
    else remember(this.#name, route);
    return route;
  }

  async #fetch(route: KnownRoute, request: Request): Promise<Response> {
    const headers = new Headers(request.headers);
    // Whatever a client says under this name is replaced.
    const place = { name: `${route.owner}/${route.name}`, movedTo: newPlace(route, request.url)?.url ?? null };
    const origin: PushOrigin = { requester: this.#requesterAt(route), place };
    headers.set(ORIGIN_HEADER, encodeURIComponent(JSON.stringify(origin)));
    const sent = new Request(request, { headers });
    const response = await this.#timings.time("repository", () => this.#open(route.id).fetch(sent));
    if (response.status !== GONE) this.#met = route;
    return response;
  }

  #open(id: string): RepositoryStub {
    return (this.#env.REPOSITORY as DurableObjectNamespace<RepositoryObject>).getByName(id);
  }
}
