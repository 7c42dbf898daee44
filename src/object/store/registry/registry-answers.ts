// Questions to the registry, and its answers.
import type { Caller, Standing } from "../../../base/access/caller.ts";
import type { RepositoryName } from "../../../base/format/repository-name.ts";
import { ANSWER_LIFE_MS, type RepositoryStanding, type ListeningOwner } from "../../../contract/registry.ts";

/** Time for which a former name stays reserved for its repository, in ms: longer than any clock
 * lets it be cached. */
export const NAME_HOLD_MS = 6 * ANSWER_LIFE_MS;

/** Age at which the object of a reservation is asked about it, in ms. */
export const RESERVATION_MS = 60 * 60_000;

/** The functions of the registry that a repository needs. */
export interface RegistryPort {
  /** @see Registry.admit */
  admit(id: string): Promise<boolean>;
  /** @see Registry.report */
  report(id: string, standing: RepositoryStanding): Promise<ListeningOwner | null>;
  /** Finds a repository's present name; null: no repository has the id. */
  nameOf(id: string): Promise<RepositoryName | null>;
  /** Reads a caller's present rights in a repository.
   * @returns null: no repository has the id, or the caller's token was revoked, has expired, or is
   *   no longer valid for it */
  readStanding(id: string, caller: Caller): Promise<Standing | null>;
}
