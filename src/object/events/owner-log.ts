import type { EventId } from "../../base/format/event-id.ts";
import type { Webhook } from "../../contract/webhooks.ts";
import { WebhookTable } from "../store/events/webhook-table.ts";
import type { OwnerEventTable } from "../store/events/owner-event-table.ts";
import type { OwnedEvent, PingSource } from "./message.ts";
import { messagesOf } from "./messages.ts";
import type { ToldEvent, ToldLog } from "./told-log.ts";
import type { Receivers } from "../state/outside.ts";
import type { OwnerPlatform } from "./owner-platform.ts";

/** The log of an owner as its webhooks are told of it. */
export class OwnerLog implements ToldLog {
  readonly webhooks: WebhookTable;
  readonly #platform: OwnerPlatform;
  readonly #events: OwnerEventTable;
  readonly #wakeAt: ToldLog["wakeAt"];

  constructor(platform: OwnerPlatform, events: OwnerEventTable, wakeAt: ToldLog["wakeAt"]) {
    this.webhooks = new WebhookTable(platform.sql);
    this.#platform = platform;
    this.#events = events;
    this.#wakeAt = wakeAt;
  }

  get receivers(): Receivers {
    return this.#platform.receivers;
  }

  newest(): EventId {
    return { push: this.#events.last() ?? 0, other: 0 };
  }

  async next(webhook: Webhook): Promise<ToldEvent | null> {
    const [stored] = this.#events.after(webhook.told.push, 1);
    if (stored === undefined) return null;
    const { repository, event } = JSON.parse(stored.event) as OwnedEvent;
    const told = { push: stored.number, other: 0 };
    const messages = messagesOf(webhook, repository, event);
    return { name: event.id, messages, first: 0, next: null, progress: { told } };
  }

  async describe(): Promise<PingSource> {
    return { owner: this.#platform.name, name: null };
  }

  transact<T>(f: () => T): T {
    return this.#platform.transactor.transactionSync(f);
  }

  wakeAt(dueMs: number | null): void {
    this.#wakeAt(dueMs);
  }

  noteFailure(error: unknown, webhook: string | null): void {
    this.#platform.observe({ event: "delivery-failed", webhook, error: String(error) });
  }
}
