// What a deployment offers to the API and to the pages. The host implements it for each request,
// with the rights of its caller.
import type { Right, Token } from "../../base/access/caller.ts";
import type { Quota, QuotaChange } from "../../base/access/quota.ts";
import type { RepositoryName } from "../../base/format/repository-name.ts";
import type {
  EntryWithForks,
  ForkPage,
  NameRefusal,
  QuotaStanding,
  RepositoryChange,
  RepositoryDetails,
  RepositoryEntry,
  FoundPage,
  NewToken,
} from "../../contract/registry.ts";
import type { EventPage, EventQuery, OwnerEventPage } from "../../contract/events.ts";
import type { Reading } from "../files/blob-reader.ts";
import type { ForkRequest } from "../../contract/merges.ts";
import type { Ambiguities, OwnerClient, RepositoryClient } from "../../contract/calls.ts";

/** The host's services for one request of a page or of the API. */
export interface Deployment {
  readonly registry: RepositoryRegistry;
  readonly tokens: TokenService;
  readonly quotas: QuotaService;
  /** Reads the bytes that a repository's object only points to. */
  readonly reading: Reading;
  /** Opens the repository named in the path, if the caller has the needed right.
   * @param noteAmbiguities
   * @see newClient
   * @throws GitError "not-found" for an invalid name, and as `authorise` */
  open(
    owner: string,
    repository: string,
    needed: Right,
    noteAmbiguities: (ambiguities: Ambiguities) => void,
  ): Promise<RepositoryClient>;
  /** Listens to the repository named in the path. The caller must have the right to read there.
   * @throws GitError as `open`, "unavailable" when too many listen already */
  listen(owner: string, repository: string): Promise<Listener>;
  /** Opens an owner, if the caller has the needed right for all that they have.
   * @throws GitError "invalid" for a name that no owner has, and as `demand` */
  openOwner(owner: string, needed: Right): Promise<OwnerClient>;
  /** Listens to an owner. The caller must have the right to read all that they have.
   * @throws GitError as `openOwner`, "unavailable" when too many listen already */
  listenToOwner(owner: string): Promise<OwnerListener>;
  /** Refuses callers without a valid token.
   * @throws GitError "unauthenticated" */
  demandToken(): Promise<void>;
  /** Refuses callers without the needed right for everything of an owner.
   * @throws GitError "unauthenticated", "forbidden" */
  demand(needed: Right, owner: string): Promise<void>;
}

/** Hears when something happens. */
export interface EventSource<Page extends EventPage = EventPage> {
  /** Whether something may have happened since it last read. */
  readonly isAwake: boolean;
  /** Reads the event log, if the caller may still do so.
   * @throws GitError as `open`, and as the call */
  events(query: EventQuery): Promise<Page>;
  /** Waits until something happens, or for this long (ms). Never fails. */
  wait(ms: number): Promise<void>;
  close(): void;
}

/** Hears when something happens to a repository. */
export interface Listener extends EventSource {
  /** Opens the repository to read something else, if the caller has the needed right now.
   * @throws GitError as `Deployment.open` */
  open(needed: Right): Promise<RepositoryClient>;
}

/** Hears when something happens to what an owner has. */
export type OwnerListener = EventSource<OwnerEventPage>;

/** Creates, shows and revokes tokens. Only an admin of a token's scope may do so, and the token
 * itself.
 * @throws GitError "not-found", and as `Deployment.demand` */
export interface TokenService {
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
 * @throws GitError "invalid", "not-found", and as `Deployment.demand` */
export interface QuotaService {
  /** @returns the quota, its usage, and the limits in effect with the deployment's defaults */
  read(place: Place): Promise<QuotaStanding & { readonly effective: Quota }>;
  /** Takes effect in this isolate at once, elsewhere within `ANSWER_LIFE_MS`. */
  set(place: Place, change: QuotaChange): ReturnType<QuotaService["read"]>;
}

/** A repository by name, or, without one, everything of an owner. */
export interface Place {
  readonly owner: string;
  readonly repository?: string | undefined;
}

/** The repositories of the deployment. Listing them wakes none. Each is shown to, and changed for,
 * only callers who may do so.
 * @throws GitError as `authorise` */
export interface RepositoryRegistry {
  /** The repositories that the caller may read. @see Registry.list */
  list(owner: string | null, after: RepositoryName | null, limit: number): Promise<RepositoryEntry[]>;
  /** A page of those whose names contain a text. @see searchRepositories */
  search(text: string, owner: string | null, after: RepositoryName | null, limit: number): Promise<FoundPage>;
  /** @see Registry.read */
  read(name: RepositoryName): Promise<RepositoryEntry | null>;
  /** The same with the first of its forks that the caller may read. @see Registry.readWithForks */
  readWithForks(name: RepositoryName, limit: number): Promise<EntryWithForks | null>;
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
