import type { ListeningOwner } from "../../contract/registry.ts";
import type { Tables } from "../store/tables.ts";

/** What imports need of the platform to ask other hosts. */
export interface ImportAccess {
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** Whether private addresses may be asked. */
  readonly allowsPrivate: boolean;
  /** With it credentials for other hosts are encrypted; null: none can be kept. */
  readonly secretsKey: string | null;
}

/** What a repository reaches outside of its own storage. */
export interface Outside {
  /** Tells listeners that something has happened; within a transaction they hear of it only once
   * that is durable. */
  wakeListeners(): void;
  /** Refuses an address that must not be asked.
   * @throws GitError "invalid" */
  checkAddress(url: URL): void;
  /** Sends a request; within a transaction it leaves only once that is durable. */
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** Whether admins see what webhooks answer. Where webhooks may be in private networks they do
   * not: they would read what only the server may. */
  readonly showsAnswers: boolean;
  /** Sends an event to the deployment's queue, as JSON; null: there is none. */
  readonly sendToQueue: ((event: string) => Promise<void>) | null;
  /** Enters an event in an owner's log.
   * @param event JSON: `OwnedEvent`
   * @returns whether anybody listens to the owner; if not, it was not entered */
  tellOwner(owner: string, event: string): Promise<boolean>;
  /** Sends a question to the deployment's policy; null: there is none. */
  readonly askPolicy: ((question: string) => Promise<Response>) | null;
  readonly imports: ImportAccess;
}

/** What messages are sent with. */
export type Receivers = Pick<Outside, "checkAddress" | "fetch" | "showsAnswers" | "sendToQueue" | "tellOwner">;

/** Tells listeners and webhooks of a repository's events. */
export interface EventTeller {
  /** Follows a transaction with an event; called in it, at its end. */
  follow(tables: Tables): void;
  /** Begins the deliveries that are due, and does not wait for them. */
  start(): void;
  /** Sets the job for the deliveries that remain. */
  scheduleRemaining(): void;
  /** Hears that somebody listens to the repository's owner, whose log is then told of what
   * happens. */
  hearOwner(owner: ListeningOwner): void;
}

/** Tells nobody. */
export const NOBODY_TOLD: EventTeller = {
  follow: () => undefined,
  start: () => undefined,
  scheduleRemaining: () => undefined,
  hearOwner: () => undefined,
};
