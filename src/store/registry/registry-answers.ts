// What the registry is told and answers.
import type { Caller, Standing, Target } from "../../access/caller.ts";
import type { PushQuota, Quota, Use } from "../../access/quota.ts";
import type { RepositoryName } from "../../format/repository-name.ts";
import type { RepositoryDetails, RepositoryFigures } from "./repository-rows.ts";

/** How long callers may cache the registry's answers: where a name leads, who may see a repository,
 * what a token is valid for. For so long a revoked token may still work, and a repository that was
 * made private may still be open. A name that leads elsewhere meanwhile is safe: a deleted
 * repository answers that it is unknown, and nobody else gets a former name for `NAME_HOLD_MS`. */
export const ANSWER_LIFE_MS = 10_000;

/** How long a former name stays reserved for its repository: longer than any clock lets it be
 * cached. */
export const NAME_HOLD_MS = 6 * ANSWER_LIFE_MS;

/** How old a reservation becomes before its object is asked about it. */
export const RESERVATION_MS = 60 * 60_000;

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

/** What a repository needs from the registry. */
export interface RegistryPort {
  /** @see Registry.admit */
  admit(id: string): Promise<boolean>;
  /** @see Registry.report */
  report(id: string, standing: RepositoryStanding): Promise<ListeningOwner | null>;
  /** A repository's present name; null: no repository has the id. */
  nameOf(id: string): Promise<RepositoryName | null>;
  /** A caller's present rights in a repository.
   * @returns null: no repository has the id, or the caller's token has been revoked, has expired,
   * or is not valid for it any more */
  readStanding(id: string, caller: Caller): Promise<Standing | null>;
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
