// What the registry is told and answers.
import type { Caller, Standing } from "../../../base/access/caller.ts";
import type { RepositoryName } from "../../../base/format/repository-name.ts";
import { ANSWER_LIFE_MS, type RepositoryStanding, type ListeningOwner } from "../../../contract/registry.ts";

/** How long a former name stays reserved for its repository: longer than any clock lets it be
 * cached. */
export const NAME_HOLD_MS = 6 * ANSWER_LIFE_MS;

/** How old a reservation becomes before its object is asked about it. */
export const RESERVATION_MS = 60 * 60_000;

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
