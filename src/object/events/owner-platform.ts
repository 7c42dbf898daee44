import type { Caller } from "../../base/access/caller.ts";
import type { RepositoryName } from "../../base/format/repository-name.ts";
import type { ListeningOwner, RepositoryEntry } from "../../contract/registry.ts";
import type { Sql, Transactor } from "../store/sql/sql.ts";
import type { Receivers } from "../state/outside.ts";
import type { RepositoryEvent } from "../../contract/log-events.ts";

/** What an owner needs from the registry. */
export interface OwnerRegistry {
  /** Notes since when (ms since 1970) somebody listens to an owner; null: nobody does any more. */
  listen(owner: string, sinceMs: number | null): Promise<void>;
  /** @see Registry.list */
  list(owner: string, after: RepositoryName | null, limit: number, caller: Caller): Promise<RepositoryEntry[]>;
}

/** The platform services of an owner. */
export interface OwnerPlatform {
  /** The owner's name, in lower case. */
  readonly name: string;
  readonly registry: OwnerRegistry;
  readonly sql: Sql;
  readonly transactor: Transactor;
  readonly receivers: Receivers;
  /** Lets one of the owner's repositories know that somebody listens. */
  visit(repositoryId: string, owner: ListeningOwner): Promise<void>;
  /** @see Outside.wakeListeners */
  wakeListeners(): void;
  /** Makes the platform call `runAlarm` at this time (ms since 1970), or earlier; then `runAlarm`
   * sets the next time itself. */
  wakeAt(timeMs: number): void;
  observe(event: RepositoryEvent): void;
}
