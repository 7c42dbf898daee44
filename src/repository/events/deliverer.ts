// Sends events to webhooks. Each webhook has a place in the event log and is told one message at a
// time, so its messages come in order, and one that is slow or gone delays nobody else's. The place
// moves once a message was taken: a message may be sent twice, and is never left out. What is to be
// sent is not stored: it is read from the log. A job stands behind all of it, written in the
// transaction of the push, and starts again what a lost process has left.
import type { Requester } from "../../access/caller.ts";
import { decodeText } from "../../format/byte-string.ts";
import { type EventId, formatEventId } from "../../format/event-id.ts";
import {
  type DeliveryRecord,
  QUEUE_ID,
  READY,
  type Webhook,
  type WebhookProgress,
} from "../../store/events/webhook-table.ts";
import type { Tables } from "../../store/tables.ts";
import { OpenRepository } from "../objects/open-repository.ts";
import type { EventTeller } from "../state/outside.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import { describeEvent, eventsAfter, isTold, newestEvent, START, type StoredEvent } from "./events.ts";
import type { Message, MessageSource } from "./message.ts";
import { isUpToDate, messagesOf } from "./messages.ts";
import { DELIVERY_LEASE_MS, scheduleDeliveries } from "./schedule-deliveries.ts";
import { sendMessage } from "./send-message.ts";

/** Wait after the first failure (ms), doubled with each further one up to the longest. */
const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 60 * 60_000;

/** How long a webhook may fail before nothing more is sent (ms). */
export const GIVE_UP_MS = 24 * 60 * 60_000;

/** The answer of a webhook that wants nothing more. */
export const GONE = 410;

const BRANCHES = "refs/heads/";

/** Who reads what webhooks are told: they are an admin's. */
const READER: Requester = {
  requestId: "webhook",
  caller: { kind: "operator" },
  right: "admin",
  knownMs: 0,
  quota: {
    repository: { maxBytes: null, maxObjects: null },
    owner: { maxBytes: null, maxObjects: null },
    others: { sizeBytes: 0, objectCount: 0 },
  },
};

/** Delivers a repository's events to its webhooks. */
export class Deliverer implements EventTeller {
  readonly #state: RepositoryState;
  /** Webhooks that are being told something. */
  readonly #running = new Set<string>();

  constructor(state: RepositoryState) {
    this.#state = state;
    const { tables } = state;
    if (tables !== null && state.platform.outside.sendToQueue !== null)
      state.transactAside(() => enterQueue(state, tables, newestEvent(tables)));
  }

  follow(tables: Tables): void {
    // Without its row, the repository is being made: what was there had one since it was opened.
    enterQueue(this.#state, tables, START);
    this.#state.platform.outside.wakeListeners();
    // After the transaction, of which this is the end.
    queueMicrotask(() => {
      try {
        this.start();
      } catch (error) {
        this.#observe(error, null);
      }
    });
  }

  start(): void {
    const { tables } = this.#state;
    if (tables === null || !tables.webhooks.isAnyActive()) return;
    for (const webhook of tables.webhooks.subscribers()) if (!this.#running.has(webhook.id)) void this.#run(webhook.id);
  }

  settle(): void {
    const { tables } = this.#state;
    if (tables === null) return;
    const nowMs = Date.now();
    const newest = newestEvent(tables);
    const dueMs = tables.webhooks
      .subscribers()
      .filter((webhook) => webhook.disabled === null && !isUpToDate(webhook, newest))
      .map(({ id, dueMs: atMs }) => (this.#running.has(id) ? nowMs + DELIVERY_LEASE_MS : Math.max(atMs, nowMs)));
    this.#state.transactAside(() => {
      tables.jobs.cancel("deliver", "");
      if (dueMs.length > 0)
        tables.jobs.add(
          "deliver",
          "",
          dueMs.reduce((a, b) => Math.min(a, b)),
        );
    });
    this.#state.scheduleJobs();
  }

  async #run(id: string): Promise<void> {
    this.#running.add(id);
    try {
      while (await this.#tellNext(id));
      this.#running.delete(id);
      this.settle();
    } catch (error) {
      this.#observe(error, id);
    } finally {
      this.#running.delete(id);
    }
  }

  /** Records that the database or the log cannot be read at the moment: the job tries again. */
  #observe(error: unknown, webhook: string | null): void {
    this.#state.platform.observe({ event: "delivery-failed", webhook, error: String(error) });
  }

  /** Tells a webhook the next message, if there is one and it is due.
   * @returns whether to go on */
  async #tellNext(id: string): Promise<boolean> {
    const { tables } = this.#state;
    const webhook = tables?.webhooks.find(id) ?? null;
    if (tables === null || webhook === null || webhook.disabled !== null || webhook.dueMs > Date.now()) return false;
    const { outside } = this.#state.platform;
    if (id === QUEUE_ID && outside.sendToQueue === null)
      return this.#note(webhook, null, { disabled: "there is no queue", failures: 1 });
    const [event] = eventsAfter(this.#state, tables, webhook.told, 1);
    if (event === undefined) return false;
    const messages = isTold(event) ? await this.#messages(webhook, event) : [];
    const message = messages[webhook.part];
    const isLast = webhook.part + 1 >= messages.length;
    const next = isLast ? { told: event.id, part: 0 } : { told: webhook.told, part: webhook.part + 1 };
    if (message === undefined) return this.#note(webhook, null, next);
    const record = await sendMessage(outside, webhook, formatEventId(event.id), message);
    return this.#note(
      webhook,
      webhook.id === QUEUE_ID ? null : record,
      record.error === null ? { ...next, ...NO_FAILURE } : afterFailure(webhook, record),
    );
  }

  #messages(webhook: Webhook, event: StoredEvent): Promise<Message[]> {
    return this.#state.holdNumbers(async () => {
      const repository = new OpenRepository(this.#state, READER, async () => undefined);
      const record = await describeEvent(repository, event);
      return messagesOf(webhook, await readSource(this.#state), record);
    });
  }

  /** Keeps an attempt, and moves the webhook on, unless it was changed or removed meanwhile.
   * @returns whether to go on */
  #note(before: Webhook, record: DeliveryRecord | null, progress: Partial<WebhookProgress>): boolean {
    const { tables } = this.#state;
    const webhook = tables?.webhooks.find(before.id) ?? null;
    if (tables === null || webhook === null) return false;
    this.#state.transactAside(() => {
      if (record !== null) tables.webhooks.addDelivery(webhook.id, record);
      const isSame = webhook.disabled === null && webhook.url === before.url;
      if (isSame) tables.webhooks.put({ ...webhook, ...progress });
    });
    return progress.failures === undefined || progress.failures === 0;
  }
}

const NO_FAILURE = { failures: 0, failingMs: null };

/** What a failure makes of a webhook's progress. */
function afterFailure(
  { id, failures, failingMs }: Webhook,
  { error, response, timeMs }: DeliveryRecord,
): Partial<WebhookProgress> {
  const nowMs = Date.now();
  const sinceMs = failingMs ?? timeMs;
  const retryMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures, 20), LONGEST_RETRY_MS);
  // The queue is the deployment's own, so it is not given up.
  const isOver = id !== QUEUE_ID && (nowMs - sinceMs >= GIVE_UP_MS || response?.status === GONE);
  return {
    failures: failures + 1,
    failingMs: sinceMs,
    dueMs: nowMs + retryMs,
    disabled: isOver ? `it has failed since ${new Date(sinceMs).toISOString()}: ${error}` : null,
  };
}

/** Enters the deployment's queue, if there is one, among those who are told; must run in a transaction.
 * @param told the last event that a new one need not be told */
function enterQueue({ platform }: RepositoryState, tables: Tables, told: EventId): void {
  if (platform.outside.sendToQueue === null) return;
  const { webhooks } = tables;
  const known = webhooks.find(QUEUE_ID);
  if (known?.disabled === null) return;
  // It may have been away for a while.
  webhooks.put({ createdMs: Date.now(), told, ...known, ...QUEUE });
  scheduleDeliveries(tables, Date.now());
}

/** The queue's row, but for what differs. */
const QUEUE: Omit<Webhook, "createdMs" | "told"> = {
  id: QUEUE_ID,
  url: "",
  format: "standard",
  events: null,
  origin: "",
  secret: "",
  formerSecret: null,
  formerUntilMs: null,
  part: 0,
  ...READY,
};

/** What messages say about the repository.
 * @throws whatever the registry throws */
export async function readSource({ platform, tables }: RepositoryState): Promise<MessageSource> {
  const name = await platform.registry.nameOf(platform.id);
  const head = tables?.refs.head() ?? null;
  return {
    id: platform.id,
    owner: name?.owner ?? "",
    name: name?.name ?? "",
    defaultBranch: head?.startsWith(BRANCHES) === true ? decodeText(head.slice(BRANCHES.length)) : null,
  };
}
