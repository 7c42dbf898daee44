// The objects as the Worker sees them. What an object's class implements is described here.
import type { Caller, Requester, Right, Target, Token, TokenScope } from "../access/caller.ts";
import type { QuotaChange } from "../access/quota.ts";
import type { RepositoryName } from "../format/repository-name.ts";
import type { TokenEvent } from "../repository/events/events.ts";
import type { ForkRequest } from "../repository/forks/fork.ts";
import type { FetchOutcome, FetchRequest, FetchSource, RefList } from "../repository/state/fetch-source.ts";
import type { EntryWithForks, ForkPage } from "../store/registry/fork-rows.ts";
import type { QuotaHolder } from "../store/registry/quota-table.ts";
import type {
  ListeningOwner,
  NameRefusal,
  QuotaStanding,
  RepositoryChange,
  RepositoryRoute,
  RepositoryStanding,
} from "../store/registry/registry-answers.ts";
import type { RepositoryDetails, RepositoryEntry } from "../store/registry/repository-rows.ts";
import type { FoundPage } from "../store/registry/search.ts";
import type { SessionHolder } from "../store/registry/session-table.ts";
import type { NewToken } from "../store/registry/token-table.ts";
import type { StoredBundle } from "../store/jobs/bundle-table.ts";
import type { KnownSession } from "../host/registry-object.ts";
import type { ForkOutcome } from "../host/repository-object.ts";
import type { CallName, CallOutcome, OwnerCallName } from "./calls.ts";

/** An object in another place: each method is a request, and its result arrives later. */
export type Remote<Object> = {
  readonly [Name in keyof Object]: Object[Name] extends (...given: infer Given) => infer Result
    ? (...given: Given) => Promise<Awaited<Result>>
    : never;
};

/** A repository's object. */
export interface RepositoryRpc {
  /** Takes a push, or begins to listen (`LISTEN_REQUEST`). The Worker has authorised it. */
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
  /** Begins to listen. The Worker has authorised it. */
  fetch(request: Request): Promise<Response>;
  /** Serves a call. @see OwnerClient
   * @param right the caller's, for all that the owner has */
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
   * @returns the token and its secret text, which is returned only here; null: its scope has too
   * many */
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
  /** Who signed in, while the token is good: a session without it is none, whatever else is stored.
   * @returns null: nobody, or no longer */
  useSession(hash: string): KnownSession | null;
  /** @see SessionTable.end */
  endSession(hash: string): void;
  /** @see Registry.readQuota */
  readQuota(holder: QuotaHolder): QuotaStanding;
  /** @see Registry.setQuota */
  setQuota(holder: QuotaHolder, change: QuotaChange): void;
}
