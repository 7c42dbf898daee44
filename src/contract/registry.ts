import type { Target, Token, TokenScope } from "../base/access/caller.ts";
import type { RepositoryName } from "../base/format/repository-name.ts";
import type { PushQuota, Quota, Use } from "../base/access/quota.ts";

/** Limit to which forks are counted, because each counted fork is a row read. */
export const MAX_COUNTED_FORKS = 1_000;

/** A page of a repository's forks, sorted by name. */
export interface ForkPage {
  readonly forks: readonly RepositoryEntry[];
  /** `after` of the next page; null: there is none. */
  readonly next: RepositoryName | null;
}

/** The first of a repository's forks, and their number. */
export interface FirstForks {
  readonly first: readonly RepositoryEntry[];
  /** `MAX_COUNTED_FORKS`: that many or more. */
  readonly count: number;
}

/** A repository, and the first of its forks. */
export interface EntryWithForks {
  readonly entry: RepositoryEntry;
  readonly forks: FirstForks;
}

/** The holder of a quota: an owner, or one repository. */
export type QuotaHolder = TokenScope;

/** Time for which callers may cache the registry's answers: the repository of a name, its
 * visibility, the rights of a token. Within this time a revoked token may still work, and a
 * repository that was made private may still be open. A name that leads elsewhere by now is
 * safe: a deleted repository answers that it is unknown, and nobody else gets a former name for
 * `NAME_HOLD_MS`. */
export const ANSWER_LIFE_MS = 10_000;

/** A repository's report on itself. */
export type RepositoryStanding =
  | ({ readonly kind: "live"; readonly parentId: string | null } & RepositoryFigures)
  /** No repository exists yet, and no push is running. */
  | { readonly kind: "absent" }
  | { readonly kind: "deleted" };

/** An owner whose events somebody listens to. */
export interface ListeningOwner {
  readonly owner: string;
  /** Start of the owner's log (ms since 1970). */
  readonly sinceMs: number;
}

/** The repository that a name leads to. */
export interface RepositoryRoute extends Target {
  readonly id: string;
  /** Its present name. */
  readonly name: string;
  /** Whether the name is a former one: it may be given to another repository, and must not be
   * cached. */
  readonly isFormer: boolean;
  /** Whether the repository has ever announced itself, and not its deletion: its database must
   * exist. */
  readonly isLive: boolean;
  readonly quota: PushQuota;
}

/** A quota and its usage, as the repositories last reported it. */
export interface QuotaStanding extends Quota, Use {}

/** Reason why a name is refused: another repository has it (in its displayed form), or left it
 * less than `NAME_HOLD_MS` ago. */
export type NameRefusal =
  | { readonly kind: "taken"; readonly by: RepositoryName }
  | { readonly kind: "held"; readonly retryAfterMs: number };

/** Changes. Omitted fields keep their values. */
export type RepositoryChange = {
  readonly [Field in keyof (RepositoryName & RepositoryDetails)]?:
    | (RepositoryName & RepositoryDetails)[Field]
    | undefined;
};

/** Readers of a repository: everyone (`public`), or holders of a token for it (`private`). */
export type Visibility = Target["visibility"];

/** Details of a repository that only the registry stores. */
export interface RepositoryDetails {
  readonly description: string | null;
  readonly visibility: Visibility;
}

/** Details of a repository that a push creates. */
export const PUSHED_DETAILS: RepositoryDetails = { description: null, visibility: "private" };

/** The figures of a repository. */
interface RepositoryFigures {
  /** The default branch without `refs/heads/`, byte string; null: there is none. */
  readonly defaultBranch: string | null;
  readonly createdMs: number;
  /** Time of the last push; null: never pushed to. */
  readonly pushedMs: number | null;
  /** Stored bytes of the repository's own objects. */
  readonly sizeBytes: number;
  /** Number of the repository's own objects. */
  readonly objectCount: number;
  /** Bytes that other repositories of the family store for this one. */
  readonly sharedBytes: number;
  /** Time at which the repository deletes itself; null: never. */
  readonly expiresMs: number | null;
}

/** The repository that a fork was made of. */
export interface Parent extends RepositoryName, Target {
  readonly id: string;
}

/** A repository in a list. */
export interface RepositoryEntry extends RepositoryName, RepositoryDetails, RepositoryFigures {
  readonly id: string;
  /** The repository that this one is a fork of; null: it is no fork, or the parent is deleted. */
  readonly parent: Parent | null;
}

/** A page of repositories, sorted by name. */
export interface FoundPage {
  readonly entries: readonly RepositoryEntry[];
  /** `after` of the next page; null: there is none. */
  readonly next: RepositoryName | null;
}

/** The holder of a session: a token, by its id, or the operator. */
export type SessionHolder = { readonly token: string } | { readonly proof: string };

/** A token to create. */
export type NewToken = Pick<Token, "id" | "name" | "scope" | "right" | "refs" | "expiresMs">;
