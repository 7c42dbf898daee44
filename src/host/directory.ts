// How a name leads to a repository's object, for who may use it. The registry knows; an isolate remembers what it said for `ANSWER_LIFE_MS`,
// so that a clone costs no call more. What is remembered may be stale, and is safe all the same: an object that is no repository (any
// more) says so, on which the registry is asked again, and no name passes from one living repository to another while it may be remembered.
import { authorise, everythingOf, may, type Requester, type Right } from "../access/caller.ts";
import { GitError } from "../format/errors.ts";
import { foldRepositoryName, type RepositoryName } from "../format/repository-name.ts";
import { type CallName, type CallOutcome, newRepositoryClient, type RepositoryClient } from "../repository/calls.ts";
import { ANSWER_LIFE_MS, type NameRefusal, type RepositoryRoute } from "../store/registry.ts";
import type { RepositoryDetails } from "../store/repository-rows.ts";
import { type Env, REGISTRY_NAME } from "./env.ts";
import { ExpiringMap } from "./expiring-map.ts";
import type { Timings } from "./timings.ts";
import type { RegistryObject } from "./registry-object.ts";
import { GONE, REQUESTER_HEADER, type RepositoryObject } from "./repository-object.ts";

/** Routes that an isolate remembers: some 300 bytes each. */
const MAX_ROUTES = 10_000;

type RepositoryStub = DurableObjectStub<RepositoryObject>;

/** Where names lead, as far as this isolate knows. */
const remembered = new ExpiringMap<RepositoryRoute>(MAX_ROUTES);

function recall(name: RepositoryName): RepositoryRoute | null {
  return remembered.get(foldRepositoryName(name), Date.now()) ?? null;
}

/** @param askedMs when the registry was asked: before it answered */
function remember(name: RepositoryName, route: RepositoryRoute, askedMs: number): void {
  if (route.isFormer) forgetRoute(name);
  else remembered.set(foldRepositoryName(name), route, askedMs + ANSWER_LIFE_MS);
}

/** Forgets where a name leads: this isolate knows that it changed. */
export function forgetRoute(name: RepositoryName): void {
  remembered.delete(foldRepositoryName(name));
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
  readonly #requester: Requester;
  readonly #timings: Timings;
  readonly #needed: Right;
  /** Which repository this request has met. */
  #id: string | null = null;

  /** @param needed what the request needs of whatever the name leads to */
  constructor(env: Env, name: RepositoryName, needed: Right, requester: Requester, timings: Timings) {
    this.#env = env;
    this.#name = name;
    this.#requester = requester;
    this.#timings = timings;
    this.#needed = needed;
  }

  /** The id of the repository that this request has met; null: of none so far. */
  get id(): string | null {
    return this.#id;
  }

  /** Refuses who lacks the right, before anything else is looked at. Nobody is refused by what is only remembered: it may have changed,
   * and a name that leads nowhere, which is never remembered, would be told from one that is hidden by the time it takes.
   * @throws GitError @see authorise */
  async admit(): Promise<void> {
    const known = recall(this.#name);
    if (known !== null && may(this.#requester.caller, this.#needed, known)) return;
    this.#authorise(await this.#timings.time("access", () => this.#route("find")));
  }

  /** Asks the repository.
   * @param isUnknown tells an answer by which the object says that it is no repository
   * @returns null: no repository has the name
   * @throws GitError @see authorise */
  async ask<T>(call: (repository: RepositoryStub) => Promise<T>, isUnknown: (answer: T) => boolean): Promise<T | null> {
    // A request goes on with the repository that it began with.
    if (this.#id !== null) return this.#meet(this.#id, call, isUnknown);
    const stale = recall(this.#name);
    if (stale !== null) {
      this.#authorise(stale);
      const answer = await this.#meet(stale.id, call, isUnknown);
      if (answer !== null) return answer;
    }
    const route = await this.#route("find");
    this.#authorise(route);
    return route === null || route.id === stale?.id ? null : this.#meet(route.id, call, isUnknown);
  }

  /** Tells the repository that this request has met something; nobody, if it has met none. */
  async tell(call: (repository: RepositoryStub) => Promise<void>): Promise<void> {
    if (this.#id !== null) await call(this.#open(this.#id));
  }

  /** Passes a push on; a name that leads nowhere is reserved for it.
   * @throws GitError "unavailable" when the repository is being deleted, and as `authorise` */
  async push(request: Request): Promise<Response> {
    const headers = new Headers(request.headers);
    // Whatever a client says under this name is replaced.
    headers.set(REQUESTER_HEADER, encodeURIComponent(JSON.stringify(this.#requester)));
    const method = "POST";
    let unread = new Request(request, { headers });
    const stale = recall(this.#name);
    if (stale !== null) {
      this.#authorise(stale);
      const response = await this.#fetch(stale.id, unread);
      if (response.status !== GONE) return response;
      // The object gave the body back as it came.
      unread = new Request(request.url, { method, headers, body: response.body });
    }
    const found = await this.#route("find");
    this.#authorise(found);
    const route = found ?? (await this.#route("reserve"));
    this.#authorise(route);
    if (route !== null && route.id !== stale?.id) {
      const response = await this.#fetch(route.id, unread);
      if (response.status !== GONE) return response;
      unread = new Request(request.url, { method, body: response.body });
    }
    await unread.body?.cancel();
    throw new GitError("unavailable", { what: "repository", reason: "it is being deleted; push again" });
  }

  /** The repository as the REST API asks it. */
  client(): RepositoryClient {
    return newRepositoryClient(async (name: CallName, argument: unknown) => {
      const outcome = await this.ask(
        // The stub's type would have every value of every call be a stub itself.
        (repository) => repository.call(name, argument, this.#requester) as Promise<CallOutcome>,
        ({ kind }) => kind === "unknown-repository",
      );
      return outcome ?? { kind: "unknown-repository" };
    });
  }

  /** Creates the repository, empty.
   * @returns why not, null: it is created
   * @throws GitError @see authorise */
  async create(details: RepositoryDetails, defaultBranch: string): Promise<NameRefusal | null> {
    authorise(this.#requester.caller, this.#needed, everythingOf(this.#name.owner));
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
    id: string,
    call: (repository: RepositoryStub) => Promise<T>,
    isUnknown: (answer: T) => boolean,
  ): Promise<T | null> {
    const answer = await this.#timings.time("repository", () => call(this.#open(id)));
    if (isUnknown(answer)) return null;
    this.#id = id;
    return answer;
  }

  /** @param route null: nothing has the name, which only those are told who may read all that its owner has */
  #authorise(route: RepositoryRoute | null): void {
    authorise(this.#requester.caller, this.#needed, route ?? everythingOf(this.#name.owner));
  }

  async #route(how: "find" | "reserve"): Promise<RepositoryRoute | null> {
    const askedMs = Date.now();
    const route = await registryOf(this.#env)[how](this.#name);
    if (route === null) forgetRoute(this.#name);
    else remember(this.#name, route, askedMs);
    return route;
  }

  async #fetch(id: string, request: Request): Promise<Response> {
    const response = await this.#timings.time("repository", () => this.#open(id).fetch(request));
    if (response.status !== GONE) this.#id = id;
    return response;
  }

  #open(id: string): RepositoryStub {
    return (this.#env.REPOSITORY as DurableObjectNamespace<RepositoryObject>).getByName(id);
  }
}
