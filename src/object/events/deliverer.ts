// Sends events to webhooks. Each webhook has a cursor in the event log and gets one message at a
// time, so its messages arrive in order, and a slow or dead one delays no other. The cursor
// advances once a message was accepted: a message may be sent twice, but is never left out.
// Messages are not stored: they are made from the log. An alarm, set in the transaction of the
// event, restarts deliveries that a lost process has left.
import type { DeliveryRecord, Webhook, WebhookProgress } from "../../contract/webhooks.ts";
import { pause } from "../../base/pacing/time-slice.ts";
import { isInner } from "../store/events/webhook-table.ts";
import { isUpToDate } from "./messages.ts";
import { DELIVERY_LEASE_MS } from "./schedule-deliveries.ts";
import { GONE, sendMessage } from "./send-message.ts";
import type { ToldEvent, ToldLog } from "./told-log.ts";

/** Delay of deliveries after an event (ms). The answer to a push waits for all rows written before
 * it leaves, so rows of deliveries would make a push slower. */
const AFTER_ANSWER_MS = 20;

/** Wait after the first failure (ms), doubled with each further one up to the maximum. */
const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 60 * 60_000;

/** How long a webhook may fail before it is disabled (ms). */
export const GIVE_UP_MS = 24 * 60 * 60_000;

/** Delivers the events of a log to its webhooks. */
export class Deliverer {
  readonly #log: ToldLog;
  /** Ids of webhooks with a delivery in progress. */
  readonly #running = new Set<string>();
  /** Whether `start` is already scheduled. */
  #isStarting = false;

  constructor(log: ToldLog) {
    this.#log = log;
  }

  /** Starts the deliveries that are due, without waiting for them. */
  start(): void {
    const { webhooks } = this.#log;
    if (webhooks === null || !webhooks.isAnyActive()) return;
    for (const webhook of webhooks.subscribers()) if (!this.#running.has(webhook.id)) void this.#run(webhook.id);
  }

  /** Starts the deliveries after the current request has been answered. */
  startSoon(): void {
    // While a repository is being created, its webhooks are not known.
    if (this.#isStarting || this.#log.webhooks?.isAnyActive() === false) return;
    this.#isStarting = true;
    setTimeout(() => {
      this.#isStarting = false;
      try {
        this.start();
      } catch (error) {
        this.#log.noteFailure(error, null);
      }
    }, AFTER_ANSWER_MS);
  }

  /** Sets the alarm for the deliveries that remain. */
  scheduleRemaining(): void {
    const { webhooks } = this.#log;
    if (webhooks === null) return;
    const nowMs = Date.now();
    const newest = this.#log.newest();
    const dueMs = webhooks
      .subscribers()
      .filter((webhook) => webhook.disabled === null && !isUpToDate(webhook, newest))
      .map(({ id, dueMs: atMs }) => (this.#running.has(id) ? nowMs + DELIVERY_LEASE_MS : Math.max(atMs, nowMs)));
    this.#log.wakeAt(dueMs.length === 0 ? null : dueMs.reduce((a, b) => Math.min(a, b)));
  }

  async #run(id: string): Promise<void> {
    this.#running.add(id);
    try {
      // An owner's log answers without waiting: the pause lets other requests run.
      while (await this.#tellNext(id)) await pause();
      this.#running.delete(id);
      this.scheduleRemaining();
    } catch (error) {
      // The database or the log cannot be read now: the alarm retries.
      this.#log.noteFailure(error, id);
    } finally {
      this.#running.delete(id);
    }
  }

  /** Sends a webhook its next message, if there is one and it is due.
   * @returns whether to continue */
  async #tellNext(id: string): Promise<boolean> {
    const webhook = this.#log.webhooks?.find(id) ?? null;
    if (webhook === null || webhook.disabled !== null || webhook.dueMs > Date.now()) return false;
    const event = await this.#log.next(webhook);
    if (event === null) return false;
    const message = event.messages[webhook.part - event.first];
    const progress = progressAfter(webhook, event);
    if (message === undefined) return this.#note(webhook, null, progress);
    const record = await sendMessage(this.#log.receivers, webhook, event.name, message);
    return this.#note(
      webhook,
      isInner(webhook) ? null : record,
      record.error === null ? { ...progress, ...NO_FAILURE } : afterFailure(webhook, event, record),
    );
  }

  /** Records an attempt, and advances the webhook's cursor, unless the webhook was changed or
   * removed meanwhile.
   * @returns whether to continue */
  #note(before: Webhook, record: DeliveryRecord | null, progress: Partial<Webhook>): boolean {
    const { webhooks } = this.#log;
    const webhook = webhooks?.find(before.id) ?? null;
    if (webhooks === null || webhook === null) return false;
    this.#log.transact(() => {
      if (record !== null) webhooks.addDelivery(webhook.id, record);
      const isSame = webhook.disabled === null && webhook.url === before.url;
      if (isSame) webhooks.put({ ...webhook, ...progress });
    });
    return progress.failures === undefined || progress.failures === 0;
  }
}

/** Returns a webhook's changes after a message was accepted. */
function progressAfter({ part }: Webhook, { first, messages, next, progress }: ToldEvent): Partial<Webhook> {
  if (part - first + 1 < messages.length) return { part: part + 1 };
  return next === null ? { part: 0, ...progress } : { part: next };
}

const NO_FAILURE = { failures: 0, failingMs: null };

/** Returns a webhook's changes after a failure. */
function afterFailure(
  webhook: Webhook,
  { progress }: ToldEvent,
  { error, response, timeMs }: DeliveryRecord,
): Partial<WebhookProgress> {
  const { failures, failingMs } = webhook;
  const nowMs = Date.now();
  const sinceMs = failingMs ?? timeMs;
  const isGone = response?.status === GONE;
  // The former owner has no listeners; the next owner may have some.
  if (isInner(webhook) && isGone && progress.url !== undefined) return { part: 0, ...progress, ...NO_FAILURE };
  const retryMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures, 20), LONGEST_RETRY_MS);
  // The deployment's own receivers are never given up, unless they answer 410.
  const isOver = isGone || (!isInner(webhook) && nowMs - sinceMs >= GIVE_UP_MS);
  return {
    failures: failures + 1,
    failingMs: sinceMs,
    dueMs: nowMs + retryMs,
    disabled: isOver ? `it has failed since ${new Date(sinceMs).toISOString()}: ${error}` : null,
  };
}
