import type { EventId } from "../base/format/event-id.ts";

/** A webhook without what nobody may see again. */
export type ShownWebhook = Omit<Webhook, "secret" | "formerSecret" | "told" | "part" | "origin">;

/** A webhook whose secret has just been made. */
export type NewWebhook = ShownWebhook & { readonly secret: string };

/** What may be changed of a webhook. */
export type WebhookChange = Partial<Pick<WebhookSettings, "url" | "events">> & {
  readonly enabled?: boolean | undefined;
};

/** What the owner of a webhook chooses. */
export interface WebhookSettings {
  readonly url: string;
  readonly format: "standard" | "github";
  /** Types of events; null: all. */
  readonly events: readonly string[] | null;
  /** Where the server is reached, for addresses in messages. */
  readonly origin: string;
}

/** Where the delivery of events to a webhook is. */
export interface WebhookProgress {
  /** The last event that was told whole. */
  readonly told: EventId;
  /** Messages of the event after it that were delivered. */
  readonly part: number;
  readonly dueMs: number;
  readonly failures: number;
  readonly failingMs: number | null;
  readonly disabled: string | null;
}

/** A webhook. */
export interface Webhook extends WebhookSettings, WebhookProgress {
  readonly id: string;
  readonly createdMs: number;
  readonly secret: string;
  readonly formerSecret: string | null;
  readonly formerUntilMs: number | null;
}

/** An attempt to deliver a message. */
export interface DeliveryRecord {
  readonly messageId: string;
  readonly event: string;
  readonly type: string;
  readonly timeMs: number;
  readonly ms: number;
  readonly request: { readonly headers: Readonly<Record<string, string>>; readonly body: string };
  /** Null: none came. */
  readonly response: { readonly status: number; readonly body: string } | null;
  /** Why it failed; null: it was delivered. */
  readonly error: string | null;
}

/** A kept attempt. */
export interface Delivery extends DeliveryRecord {
  readonly id: number;
}
