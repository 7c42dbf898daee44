// The services of a deployment for the API and the pages. The host implements them for each
// request, with the rights of its caller.
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
  /** The means to read bytes that a repository's object only points to. */
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
  /** Listens to the repository named in the path. The caller must have the right to read it.
   * @throws GitError as `open`, "unavailable" when there are too many listeners */
  listen(owner: string, repository: string): Promise<Listener>;
  /** Opens an owner, if the caller has the needed right for everything of the owner.
   * @throws GitError "invalid" for a name that no owner can have, and as `demand` */
  openOwner(owner: string, needed: Right): Promise<OwnerClient>;
  /** Listens to an owner. The caller must have the right to read everything of the owner.
   * @throws GitError as `openOwner`, "unavailable" when there are too many listeners */
  listenToOwner(owner: string): Promise<OwnerListener>;
  /** Refuses callers without a valid token.
   * @throws GitError "unauthenticated" */
  demandToken(): Promise<void>;
  /** Refuses callers without the needed right for everything of an owner.
   * @throws GitError "unauthenticated", "forbidden" */
  demand(needed: Right, owner: string): Promise<void>;
}

/** A listener to an event log. */
export interface EventSource<Page extends EventPage = EventPage> {
  /** Whether something may have happened since the last read. */
  readonly isAwake: boolean;
  /** Reads the event log, if the caller may still do so.
   * @throws GitError as `open`, and as the call */
  events(query: EventQuery): Promise<Page>;
  /** Waits until something happens, or until the time (ms) is over. Never fails. */
  wait(ms: number): Promise<void>;
  close(): void;
}

/** A listener to the events of a repository. */
export interface Listener extends EventSource {
  /** Opens the repository for other reads, if the caller has the needed right now.
   * @throws GitError as `Deployment.open` */
  open(needed: Right): Promise<RepositoryClient>;
}

/** A listener to the events of all repositories of an owner. */
export type OwnerListener = EventSource<OwnerEventPage>;

/** Creates, shows and revokes tokens, for admins of a token's scope and for the token itself.
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
  /** Returns the ids that belong to no token of the repository or of its owner. */
  findUnknown(place: Required<Place>, ids: readonly string[]): Promise<string[]>;
}

/** Shows quotas to callers who may read the repository, or administer the owner's repositories, and
 * lets the operator set them.
 * @throws GitError "invalid", "not-found", and as `Deployment.demand` */
export interface QuotaService {
  /** @returns the quota, its usage, and the limits in effect with the deployment's defaults */
  read(place: Place): Promise<QuotaStanding & { readonly effective: Quota }>;
  /** Sets a quota. It takes effect in this isolate at once, elsewhere within `ANSWER_LIFE_MS`. */
  set(place: Place, change: QuotaChange): ReturnType<QuotaService["read"]>;
}

/** A repository, or, without a name, everything of an owner. */
export interface Place {
  readonly owner: string;
  readonly repository?: string | undefined;
}

/** The repositories of the deployment. Listing them wakes none. A repository is shown to, and
 * changed for, only callers with the right.
 * @throws GitError as `authorise` */
export interface RepositoryRegistry {
  /** Lists the repositories that the caller may read. @see Registry.list */
  list(owner: string | null, after: RepositoryName | null, limit: number): Promise<RepositoryEntry[]>;
  /** Lists a page of the repositories whose names contain a text. @see searchRepositories */
  search(text: string, owner: string | null, after: RepositoryName | null, limit: number): Promise<FoundPage>;
  /** @see Registry.read */
  read(name: RepositoryName): Promise<RepositoryEntry | null>;
  /** Reads a repository with the first of its forks that the caller may read. @see
   * Registry.readWithForks */
  readWithForks(name: RepositoryName, limit: number): Promise<EntryWithForks | null>;
  /** Creates a repository without refs.
   * @param defaultBranch without `refs/heads/`, byte string
   * @returns why it was refused; null: it was created */
  create(name: RepositoryName, details: RepositoryDetails, defaultBranch: string): Promise<NameRefusal | null>;
  /** Creates a repository as a fork of another one, which the caller may read.
   * @returns why it was refused; null: it was created
   * @throws GitError also "not-found" for a branch, "unavailable" */
  fork(
    name: RepositoryName,
    details: RepositoryDetails,
    request: Omit<ForkRequest, "who">,
  ): Promise<NameRefusal | null>;
  /** Opens a repository of the same family for reading.
   * @param name null: the owner's only one
   * @throws GitError "not-found" also when the caller may not read it, "ambiguous" */
  openRelative(
    of: RepositoryEntry,
    owner: string,
    name: string | null,
    noteAmbiguities: (ambiguities: Ambiguities) => void,
  ): Promise<{ readonly entry: RepositoryEntry; readonly client: RepositoryClient }>;
  /** Lists the forks of a repository that the caller may read. @see listForks */
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
