// The objects' interfaces for the Worker. A class that implements one is described here.
import type { Caller, Requester, Right, Target, Token, TokenScope } from "../base/access/caller.ts";
import type { QuotaChange } from "../base/access/quota.ts";
import type { GitErrorCode, GitErrorData } from "../base/format/errors.ts";
import type { RepositoryName } from "../base/format/repository-name.ts";
import type { TokenEvent } from "./events.ts";
import type { ForkRequest } from "./merges.ts";
import type { FetchOutcome, FetchRequest, FetchSource, RefList, StoredBundle } from "./fetch.ts";
import type {
  EntryWithForks,
  ForkPage,
  QuotaHolder,
  ListeningOwner,
  NameRefusal,
  QuotaStanding,
  RepositoryChange,
  RepositoryRoute,
  RepositoryStanding,
  RepositoryDetails,
  RepositoryEntry,
  FoundPage,
  SessionHolder,
  NewToken,
} from "./registry.ts";
import type { CallName, CallOutcome, OwnerCallName } from "./calls.ts";

/** A remote object: each method is a request, and its result arrives later. */
export type Remote<Object> = {
  readonly [Name in keyof Object]: Object[Name] extends (...given: infer Given) => infer Result
    ? (...given: Given) => Promise<Awaited<Result>>
    : never;
};

/** A repository's object. */
export interface RepositoryRpc {
  /** Takes a push, or registers a listener (`LISTEN_REQUEST`). The Worker has authorised the
   * request. */
  fetch(request: Request): Promise<Response>;
  /** Serves a call. @see RepositoryClient */
  call(name: CallName, argument: unknown, requester: Requester): Promise<CallOutcome>;
  /** @see Repository.isBlank */
  isBlank(): boolean;
  /** @see Repository.create */
  create(defaultBranch: string): Promise<boolean>;
  /** @see Repository.fork */
  fork(request: ForkRequest): Promise<ForkOutcome>;
  /** @see Repository.delete */
  delete(caller: Caller): Promise<boolean>;
  /** @see Repository.noteToken */
  noteToken(caller: Caller, change: TokenEvent): Promise<void>;
  /** @see FetchSource.refs */
  listRefs(prefixes: string[]): Promise<RefList | null>;
  /** @see FetchSource.fetch: renamed, since every Durable Object has a `fetch` method */
  planFetch(request: FetchRequest): Promise<FetchOutcome>;
  /** @see FetchSource.finishResponse */
  finishResponse(objectKey: string, sizeBytes: number | null): Promise<void>;
  /** @see FetchSource.awaitResponse */
  awaitResponse(objectKey: string): ReturnType<FetchSource["awaitResponse"]>;
  /** @see FetchSource.sizes */
  readSizes(oids: Uint8Array): Promise<Float64Array | null>;
  /** @see FetchSource.bundles */
  listBundles(): Promise<StoredBundle[] | null>;
}

/** An owner's object. */
export interface OwnerRpc {
  /** Registers a listener. The Worker has authorised the request. */
  fetch(request: Request): Promise<Response>;
  /** Serves a call.
   * @see OwnerClient
   * @param right the caller's right to everything that the owner has */
  call(name: OwnerCallName, argument: unknown, right: Right): Promise<CallOutcome>;
}

/** The registry's object: repositories, tokens, sessions and quotas. */
export interface RegistryRpc {
  /** @see Registry.find */
  find(name: RepositoryName): RepositoryRoute | null;
  /** @see Registry.reserve */
  reserve(name: RepositoryName): Promise<RepositoryRoute>;
  /** @see Registry.create */
  create(
    name: RepositoryName,
    details: RepositoryDetails,
  ): Promise<{ readonly kind: "reserved"; readonly id: string } | NameRefusal>;
  /** @see Registry.report */
  report(id: string, standing: RepositoryStanding): ListeningOwner | null;
  /** @see Registry.read */
  read(name: RepositoryName): RepositoryEntry | null;
  /** @see Registry.list */
  list(owner: string | null, after: RepositoryName | null, limit: number, caller: Caller): RepositoryEntry[];
  /** @see Registry.search */
  search(text: string, owner: string | null, after: RepositoryName | null, limit: number, caller: Caller): FoundPage;
  /** @see Registry.findRelatives */
  findRelatives(id: string, owner: string, name: string | null): RepositoryEntry[];
  /** @see Registry.listForks */
  listForks(parent: string, after: RepositoryName | null, limit: number, caller: Caller): ForkPage;
  /** @see Registry.readWithForks */
  readWithForks(name: RepositoryName, limit: number, caller: Caller): EntryWithForks | null;
  /** @see Registry.update */
  update(
    id: string,
    change: RepositoryChange,
  ): { readonly kind: "updated"; readonly entry: RepositoryEntry } | NameRefusal | null;
  /** @see TokenTable.use */
  useToken(hash: string): Token | null;
  /** Creates a token.
   * @returns the token and its secret text, which is returned only here; null: the scope is
   *   at its limit of tokens */
  createToken(wanted: Omit<NewToken, "id">): { readonly token: Token; readonly text: string } | null;
  /** @see TokenTable.read */
  readToken(id: string): Token | null;
  /** @see Registry.targetOf */
  targetOf(scope: TokenScope): Target | null;
  /** @see TokenTable.list */
  listTokens(scope: TokenScope, after: string, limit: number): Token[];
  /** @see TokenTable.findUnknown */
  findUnknownTokens(ids: readonly string[], owner: string, repositoryId: string): string[];
  /** @see TokenTable.revoke */
  revokeToken(id: string): boolean;
  /** @see SessionTable.create */
  createSession(hash: string, holder: SessionHolder, expiresMs: number): void;
  /** Finds the holder of a session, while the holder's token is valid: a session without a valid
   * token does not count, whatever else is stored.
   * @returns null: the session is unknown or over */
  useSession(hash: string): KnownSession | null;
  /** @see SessionTable.end */
  endSession(hash: string): void;
  /** @see Registry.readQuota */
  readQuota(holder: QuotaHolder): QuotaStanding;
  /** @see Registry.setQuota */
  setQuota(holder: QuotaHolder, change: QuotaChange): void;
}

// Listening: how a Worker learns that something happened to a repository. The repository's object
// sends over a WebSocket that the platform keeps open while the object sleeps, so an idle listener
// costs no object time. A message carries no data: the Worker then reads the log, with the rights
// that the caller has at that moment.

/** Status with which an object refuses a request because it has no repository. The answer
 * returns a push's unread body, because the name may lead to another object by now. Clients
 * never see this status. */
export const GONE = 410;

/** The request that registers a listener. No push has this path. */
export const LISTEN_REQUEST = { url: "https://holdfast/-/listen", headers: { Upgrade: "websocket" } } as const;

/** The holder of a session and its end (ms since 1970). The Worker checks the operator's proof. */
export type KnownSession =
  | { readonly kind: "token"; readonly token: Token; readonly expiresMs: number }
  | { readonly kind: "operator"; readonly proof: string; readonly expiresMs: number };

/** Header that carries a `PushOrigin` to the object as percent-encoded JSON. The Worker always
 * sets it and overwrites the client's. */
export const ORIGIN_HEADER = "Holdfast-Origin";

/** The sender of a push, and the name to which it was sent. */
export interface PushOrigin {
  readonly requester: Requester;
  readonly place: PushPlace;
}

/** The result of a fork, as data: an error that crosses from the object to the Worker would lose
 * its fields. */
export type ForkOutcome =
  | { readonly kind: "forked" }
  /** The repository exists already, or is being made. */
  | { readonly kind: "taken" }
  | { readonly kind: "failed"; readonly code: GitErrorCode; readonly data: GitErrorData };

/** The destination of a push, as its sender is told. */
export interface PushPlace {
  /** The present owner and name, such as `me/diary`. */
  readonly name: string;
  /** The present URL, if the push used a former name; else null. */
  readonly movedTo: string | null;
}
