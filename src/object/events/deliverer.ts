// Sends events to webhooks. Each webhook has a place in the event log and is told one message at a
// time, so its messages come in order, and one that is slow or gone delays nobody else's. The place
// moves once a message was taken: a message may be sent twice, and is never left out. What is to be
// sent is not stored: it is read from the log. An alarm stands behind all of it, set in the
// transaction of the event, and starts again what a lost process has left.
import type { DeliveryRecord, Webhook, WebhookProgress } from "../../contract/webhooks.ts";
import { pause } from "../../base/pacing/time-slice.ts";
import { isInner } from "../store/events/webhook-table.ts";
import { isUpToDate } from "./messages.ts";
import { DELIVERY_LEASE_MS } from "./schedule-deliveries.ts";
import { GONE, sendMessage } from "./send-message.ts";
import type { ToldEvent, ToldLog } from "./told-log.ts";

/** How long after an event deliveries begin (ms): an answer waits for all rows written before it
 * leaves, so theirs would make a push slower. */
const AFTER_ANSWER_MS = 20;

/** Wait after the first failure (ms), doubled with each further one up to the longest. */
const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 60 * 60_000;

/** How long a webhook may fail before nothing more is sent (ms). */
export const GIVE_UP_MS = 24 * 60 * 60_000;

/** Delivers the events of a log to its webhooks. */
export class Deliverer {
  readonly #log: ToldLog;
  /** Webhooks that are being told something. */
  readonly #running = new Set<string>();
  /** Whether they begin soon. */
  #isStarting = false;

  constructor(log: ToldLog) {
    this.#log = log;
  }

  /** Begins the deliveries that are due, and does not wait for them. */
  start(): void {
    const { webhooks } = this.#log;
    if (webhooks === null || !webhooks.isAnyActive()) return;
    for (const webhook of webhooks.subscribers()) if (!this.#running.has(webhook.id)) void this.#run(webhook.id);
  }

  /** Begins them once the request that runs has been answered. */
  startSoon(): void {
    // While a repository is being made, nothing is known of its webhooks.
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
      // An owner's log answers at once: others run between two messages.
      while (await this.#tellNext(id)) await pause();
      this.#running.delete(id);
      this.scheduleRemaining();
    } catch (error) {
      // The database or the log cannot be read at the moment: the alarm tries again.
      this.#log.noteFailure(error, id);
    } finally {
      this.#running.delete(id);
    }
  }

  /** Tells a webhook the next message, if there is one and it is due.
   * @returns whether to go on */
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

  /** Keeps an attempt, and moves the webhook on, unless it was changed or removed meanwhile.
   * @returns whether to go on */
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

/** What changes of a webhook when a message was taken. */
function progressAfter({ part }: Webhook, { first, messages, next, progress }: ToldEvent): Partial<Webhook> {
  if (part - first + 1 < messages.length) return { part: part + 1 };
  return next === null ? { part: 0, ...progress } : { part: next };
}

const NO_FAILURE = { failures: 0, failingMs: null };

/** What a failure makes of a webhook's progress. */
function afterFailure(
  webhook: Webhook,
  { progress }: ToldEvent,
  { error, response, timeMs }: DeliveryRecord,
): Partial<WebhookProgress> {
  const { failures, failingMs } = webhook;
  const nowMs = Date.now();
  const sinceMs = failingMs ?? timeMs;
  const isGone = response?.status === GONE;
  // Its former owner does not listen; the next one may.
  if (isInner(webhook) && isGone && progress.url !== undefined) return { part: 0, ...progress, ...NO_FAILURE };
  const retryMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures, 20), LONGEST_RETRY_MS);
  // What belongs to the deployment is not given up, unless it wants nothing.
  const isOver = isGone || (!isInner(webhook) && nowMs - sinceMs >= GIVE_UP_MS);
  return {
    failures: failures + 1,
    failingMs: sinceMs,
    dueMs: nowMs + retryMs,
    disabled: isOver ? `it has failed since ${new Date(sinceMs).toISOString()}: ${error}` : null,
  };
}
