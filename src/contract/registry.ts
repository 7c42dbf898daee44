import type { Target, Token, TokenScope } from "../base/access/caller.ts";
import type { RepositoryName } from "../base/format/repository-name.ts";
import type { PushQuota, Quota, Use } from "../base/access/quota.ts";

/** Forks are counted up to here: each that is counted is a row read. */
export const MAX_COUNTED_FORKS = 1_000;

/** A page of a repository's forks, sorted by name. */
export interface ForkPage {
  readonly forks: readonly RepositoryEntry[];
  /** `after` of the next page; null: there is none. */
  readonly next: RepositoryName | null;
}

/** The first of a repository's forks, and how many there are. */
export interface FirstForks {
  readonly first: readonly RepositoryEntry[];
  /** `MAX_COUNTED_FORKS`: as many or more. */
  readonly count: number;
}

/** A repository, and the first of its forks. */
export interface EntryWithForks {
  readonly entry: RepositoryEntry;
  readonly forks: FirstForks;
}

/** The holder of a quota: an owner, or one repository. */
export type QuotaHolder = TokenScope;

/** How long callers may cache the registry's answers: where a name leads, who may see a repository,
 * what a token is valid for. For so long a revoked token may still work, and a repository that was
 * made private may still be open. A name that leads elsewhere meanwhile is safe: a deleted
 * repository answers that it is unknown, and nobody else gets a former name for `NAME_HOLD_MS`. */
export const ANSWER_LIFE_MS = 10_000;

/** A repository's report on itself. */
export type RepositoryStanding =
  | ({ readonly kind: "live"; readonly parentId: string | null } & RepositoryFigures)
  /** Nothing has been created so far, and no push is running. */
  | { readonly kind: "absent" }
  | { readonly kind: "deleted" };

/** An owner to whose events somebody listens. */
export interface ListeningOwner {
  readonly owner: string;
  /** When the owner's log began (ms since 1970). */
  readonly sinceMs: number;
}

/** The repository that a name leads to. */
export interface RepositoryRoute extends Target {
  readonly id: string;
  /** Its present name. */
  readonly name: string;
  /** The name was a former one: it may be given to another repository, and must not be cached. */
  readonly isFormer: boolean;
  /** Whether its repository has ever announced itself, and not that it was deleted: its database
   * must be there. */
  readonly isLive: boolean;
  readonly quota: PushQuota;
}

/** A quota and its usage, as last reported by the repositories. */
export interface QuotaStanding extends Quota, Use {}

/** Why a name is refused: another repository has it (in its displayed form), or left it less than
 * `NAME_HOLD_MS` ago. */
export type NameRefusal =
  | { readonly kind: "taken"; readonly by: RepositoryName }
  | { readonly kind: "held"; readonly retryAfterMs: number };

/** Changes; omitted fields stay as they are. */
export type RepositoryChange = {
  readonly [Field in keyof (RepositoryName & RepositoryDetails)]?:
    | (RepositoryName & RepositoryDetails)[Field]
    | undefined;
};

/** Who may read a repository: everyone, or those with a token for it. */
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
  /** Without `refs/heads/`, byte string; null: there is none. */
  readonly defaultBranch: string | null;
  readonly createdMs: number;
  /** Null: never pushed to. */
  readonly pushedMs: number | null;
  /** Stored size of its own objects. */
  readonly sizeBytes: number;
  /** How many are its own. */
  readonly objectCount: number;
  /** Bytes that others of its family hold for it. */
  readonly sharedBytes: number;
  /** When it deletes itself; null: never. */
  readonly expiresMs: number | null;
}

/** A repository that others are forks of. */
export interface Parent extends RepositoryName, Target {
  readonly id: string;
}

/** A repository in a list. */
export interface RepositoryEntry extends RepositoryName, RepositoryDetails, RepositoryFigures {
  readonly id: string;
  /** What it is a fork of; null: it is none, or the other one is deleted. */
  readonly parent: Parent | null;
}

/** A page of repositories, sorted by name. */
export interface FoundPage {
  readonly entries: readonly RepositoryEntry[];
  /** `after` of the next page; null: there is none. */
  readonly next: RepositoryName | null;
}

/** Who signed in: a token, by its id, or the operator. */
export type SessionHolder = { readonly token: string } | { readonly proof: string };

/** A token to create. */
export type NewToken = Pick<Token, "id" | "name" | "scope" | "right" | "refs" | "expiresMs">;
