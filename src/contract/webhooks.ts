import type { EventId } from "../base/format/event-id.ts";

/** A webhook without its secrets and internal fields. */
export type ShownWebhook = Omit<Webhook, "secret" | "formerSecret" | "told" | "part" | "origin">;

/** A webhook with its new secret. */
export type NewWebhook = ShownWebhook & { readonly secret: string };

/** Changes to a webhook. Omitted fields keep their values. */
export type WebhookChange = Partial<Pick<WebhookSettings, "url" | "events">> & {
  readonly enabled?: boolean | undefined;
};

/** The settings that a webhook's owner chooses. */
export interface WebhookSettings {
  readonly url: string;
  readonly format: "standard" | "github";
  /** Types of events to deliver; null: all. */
  readonly events: readonly string[] | null;
  /** Base URL of the server, for addresses in messages. */
  readonly origin: string;
}

/** The progress of a webhook's deliveries. */
export interface WebhookProgress {
  /** The last event that was delivered completely. */
  readonly told: EventId;
  /** Number of messages of the next event that were delivered. */
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
  /** The receiver's response; null: none came. */
  readonly response: { readonly status: number; readonly body: string } | null;
  /** Reason of the failure; null: delivered. */
  readonly error: string | null;
}

/** A kept attempt. */
export interface Delivery extends DeliveryRecord {
  readonly id: number;
}
