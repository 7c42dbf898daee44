import type { ListeningOwner } from "../../contract/registry.ts";
import type { Tables } from "../store/tables.ts";

/** The platform's services that imports need to connect to other hosts. */
export interface ImportAccess {
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** Whether private addresses are allowed. */
  readonly allowsPrivate: boolean;
  /** Key that encrypts credentials for other hosts; null: none can be stored. */
  readonly secretsKey: string | null;
}

/** The services outside of its own storage that a repository uses. */
export interface Outside {
  /** Notifies listeners that something happened. Within a transaction, they are notified only once
   * it is durable. */
  wakeListeners(): void;
  /** Refuses a URL to which the server must not connect.
   * @throws GitError "invalid" */
  checkAddress(url: URL): void;
  /** Sends a request. Within a transaction, it is sent only once that is durable. */
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** Whether admins see the responses of webhooks' receivers. They do not where webhooks may be in
   * private networks, because the responses could show them data that only the server may read. */
  readonly showsAnswers: boolean;
  /** Sends an event to the deployment's queue, as JSON; null: there is none. */
  readonly sendToQueue: ((event: string) => Promise<void>) | null;
  /** Adds an event to an owner's log.
   * @param event JSON: `OwnedEvent`
   * @returns whether the owner's log has listeners; if not, the event was not added */
  tellOwner(owner: string, event: string): Promise<boolean>;
  /** Sends a question to the deployment's policy; null: there is none. */
  readonly askPolicy: ((question: string) => Promise<Response>) | null;
  readonly imports: ImportAccess;
}

/** The services for sending messages. */
export type Receivers = Pick<Outside, "checkAddress" | "fetch" | "showsAnswers" | "sendToQueue" | "tellOwner">;

/** Delivers a repository's events to listeners and webhooks. */
export interface EventTeller {
  /** Handles the events of a transaction; called in it, at its end. */
  follow(tables: Tables): void;
  /** Begins the due deliveries, without waiting for them. */
  start(): void;
  /** Schedules the job for the remaining deliveries. */
  scheduleRemaining(): void;
  /** Learns that the repository's owner has listeners. Events are delivered to the owner's log from
   * then on. */
  hearOwner(owner: ListeningOwner): void;
}

/** Delivers nothing. */
export const NOBODY_TOLD: EventTeller = {
  follow: () => undefined,
  start: () => undefined,
  scheduleRemaining: () => undefined,
  hearOwner: () => undefined,
};
