import type { EventId } from "../../base/format/event-id.ts";
import type { Webhook } from "../../contract/webhooks.ts";
import type { WebhookTable } from "../store/events/webhook-table.ts";
import type { Receivers } from "../state/outside.ts";
import type { Message, PingSource } from "./message.ts";

/** An event as a webhook is told of it. */
export interface ToldEvent {
  /** Its id in the log of its repository. */
  readonly name: string;
  /** None, if the webhook does not want to hear of it. Of a push of very many refs they come in
   * several parts, of which this is the one in which the webhook is. */
  readonly messages: readonly Message[];
  /** The number (`Webhook.part`) of the first of them. */
  readonly first: number;
  /** The number of the first one of the next part; null: there is none. */
  readonly next: number | null;
  /** What changes of the webhook once all of them were taken: where it is in the log. */
  readonly progress: Partial<Webhook>;
}

/** A log of events whose webhooks are told of them: a repository's, or an owner's. */
export interface ToldLog {
  readonly receivers: Receivers;
  /** Null: the log is gone. */
  readonly webhooks: WebhookTable | null;
  /** The place of the newest event. */
  newest(): EventId;
  /** Reads the event after the last one that a webhook was told of; null: there is none. */
  next(webhook: Webhook): Promise<ToldEvent | null>;
  /** What a webhook is for, as a ping says it. */
  describe(): Promise<PingSource>;
  /** Runs `f` in a transaction. */
  transact<T>(f: () => T): T;
  /** Has the deliverer started, and what remains scheduled, at this time (ms since 1970) or a
   * little later, by whichever process is there; null: there is nothing more to deliver. */
  wakeAt(dueMs: number | null): void;
  /** Records that a delivery could not be made, nor noted, for a reason of this side.
   * @param webhook its id; null: none was reached */
  noteFailure(error: unknown, webhook: string | null): void;
}
