import type { EventId } from "../../base/format/event-id.ts";
import type { Webhook } from "../../contract/webhooks.ts";
import type { WebhookTable } from "../store/events/webhook-table.ts";
import type { Receivers } from "../state/outside.ts";
import type { Message, PingSource } from "./message.ts";

/** An event with its messages for a webhook. */
export interface ToldEvent {
  /** Id of the event in the log of its repository. */
  readonly name: string;
  /** Empty, if the webhook does not subscribe to the event. The messages of a push with very many
   * refs come in several parts, and these are the part at the webhook's cursor. */
  readonly messages: readonly Message[];
  /** The number (`Webhook.part`) of the first message. */
  readonly first: number;
  /** The number of the next part's first message; null: there is no further part. */
  readonly next: number | null;
  /** Changes of the webhook once all messages were accepted: its new cursor. */
  readonly progress: Partial<Webhook>;
}

/** A log with webhooks that receive its events: a repository's, or an owner's. */
export interface ToldLog {
  readonly receivers: Receivers;
  /** Null: the log is gone. */
  readonly webhooks: WebhookTable | null;
  /** Id of the newest event. */
  newest(): EventId;
  /** Reads the event after the webhook's cursor; null: there is none. */
  next(webhook: Webhook): Promise<ToldEvent | null>;
  /** Returns the subject of a ping. */
  describe(): Promise<PingSource>;
  /** Runs `f` in a transaction. */
  transact<T>(f: () => T): T;
  /** Schedules the deliverer's start at this time (ms since 1970) or a little later, in any
   * process; null: nothing more to deliver. */
  wakeAt(dueMs: number | null): void;
  /** Records that a delivery could be neither made nor recorded, because of a fault of this server.
   * @param webhook its id; null: none was reached */
  noteFailure(error: unknown, webhook: string | null): void;
}
