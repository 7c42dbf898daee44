// How a name leads to a repository's object. The registry knows; an isolate remembers what it said for `ROUTE_LIFE_MS`, so that a
// clone costs no call more. What is remembered may be stale, and is safe all the same: an object that is no repository (any more)
// says so, on which the registry is asked again, and no name passes from one living repository to another while it may be remembered.
import { GitError } from "../format/errors.ts";
import { foldRepositoryName, type RepositoryName } from "../format/repository-name.ts";
import { type CallName, type CallOutcome, newRepositoryClient, type RepositoryClient } from "../repository/calls.ts";
import { type NameRefusal, ROUTE_LIFE_MS, type RepositoryDetails, type RepositoryRoute } from "../store/registry.ts";
import { type Env, REGISTRY_NAME } from "./env.ts";
import type { RegistryObject } from "./registry-object.ts";
import { GONE, type RepositoryObject } from "./repository-object.ts";

/** Routes that an isolate remembers: some 200 bytes each. */
const MAX_ROUTES = 10_000;

type RepositoryStub = DurableObjectStub<RepositoryObject>;

/** What this isolate remembers, the oldest first. */
const remembered = new Map<string, { readonly id: string; readonly untilMs: number }>();

function recall(name: RepositoryName): string | null {
  const route = remembered.get(foldRepositoryName(name));
  return route !== undefined && route.untilMs > Date.now() ? route.id : null;
}

/** @param askedMs when the registry was asked: before it answered */
function remember(name: RepositoryName, { id, isFormer }: RepositoryRoute, askedMs: number): void {
  const key = foldRepositoryName(name);
  remembered.delete(key);
  if (isFormer) return;
  remembered.set(key, { id, untilMs: askedMs + ROUTE_LIFE_MS });
  for (const oldest of remembered.keys()) {
    if (remembered.size <= MAX_ROUTES) break;
    remembered.delete(oldest);
  }
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

/** The repository that has a name, as one request meets it. */
export class NamedRepository {
  readonly #env: Env;
  readonly #name: RepositoryName;
  /** Which repository this request has met. */
  #id: string | null = null;

  constructor(env: Env, name: RepositoryName) {
    this.#env = env;
    this.#name = name;
  }

  /** Asks the repository.
   * @param isUnknown tells an answer by which the object says that it is no repository
   * @returns null: no repository has the name */
  async ask<T>(call: (repository: RepositoryStub) => Promise<T>, isUnknown: (answer: T) => boolean): Promise<T | null> {
    // A request goes on with the repository that it began with.
    if (this.#id !== null) return this.#meet(this.#id, call, isUnknown);
    const stale = recall(this.#name);
    if (stale !== null) {
      const answer = await this.#meet(stale, call, isUnknown);
      if (answer !== null) return answer;
    }
    const route = await this.#route("find");
    return route === null || route.id === stale ? null : this.#meet(route.id, call, isUnknown);
  }

  /** Tells the repository that this request has met something; nobody, if it has met none. */
  async tell(call: (repository: RepositoryStub) => Promise<void>): Promise<void> {
    if (this.#id !== null) await call(this.#open(this.#id));
  }

  /** Passes a push on; a name that leads nowhere is reserved for it.
   * @throws GitError "unavailable" when the repository is being deleted */
  async push(request: Request): Promise<Response> {
    const stale = recall(this.#name);
    let unread = request;
    if (stale !== null) {
      const response = await this.#open(stale).fetch(unread);
      if (response.status !== GONE) return response;
      // The object gave the body back as it came.
      unread = new Request(request.url, { method: request.method, headers: request.headers, body: response.body });
    }
    const route = await this.#route("reserve");
    if (route !== null && route.id !== stale) {
      const response = await this.#open(route.id).fetch(unread);
      if (response.status !== GONE) return response;
      unread = new Request(request.url, { method: request.method, body: response.body });
    }
    await unread.body?.cancel();
    throw new GitError("unavailable", { what: "repository", reason: "it is being deleted; push again" });
  }

  /** The repository as the REST API asks it. */
  client(): RepositoryClient {
    return newRepositoryClient(async (name: CallName, argument: unknown) => {
      const outcome = await this.ask(
        // The stub's type would have every value of every call be a stub itself.
        (repository) => repository.call(name, argument) as Promise<CallOutcome>,
        ({ kind }) => kind === "unknown-repository",
      );
      return outcome ?? { kind: "unknown-repository" };
    });
  }

  /** Creates the repository, empty.
   * @returns why not, null: it is created */
  async create(details: RepositoryDetails, defaultBranch: string): Promise<NameRefusal | null> {
    const reserved = await registryOf(this.#env).create(this.#name, details);
    if (reserved.kind !== "reserved") return reserved;
    forgetRoute(this.#name);
    const isCreated = await this.#open(reserved.id).create(defaultBranch);
    return isCreated ? null : { kind: "taken", by: this.#name };
  }

  /** Deletes the repository.
   * @returns whether there was one */
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
    const answer = await call(this.#open(id));
    if (isUnknown(answer)) return null;
    this.#id = id;
    return answer;
  }

  async #route(how: "find" | "reserve"): Promise<RepositoryRoute | null> {
    const askedMs = Date.now();
    const route = await registryOf(this.#env)[how](this.#name);
    if (route === null) forgetRoute(this.#name);
    else remember(this.#name, route, askedMs);
    return route;
  }

  #open(id: string): RepositoryStub {
    return (this.#env.REPOSITORY as DurableObjectNamespace<RepositoryObject>).getByName(id);
  }
}
