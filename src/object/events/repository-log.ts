import type { Requester } from "../../base/access/caller.ts";
import { NO_QUOTA } from "../../base/access/quota.ts";
import { decodeText } from "../../base/format/byte-string.ts";
import { type EventId, formatEventId } from "../../base/format/event-id.ts";
import { OWNER_ID, type WebhookTable } from "../store/events/webhook-table.ts";
import type { Webhook } from "../../contract/webhooks.ts";
import { MAX_LISTED_REFS } from "../store/refs/push-log.ts";
import { ListBudget } from "../objects/list-budget.ts";
import { OpenRepository } from "../objects/open-repository.ts";
import type { Receivers } from "../state/outside.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import type { RepositoryEventRecord } from "../../contract/events.ts";
import { describeEvent, eventsAfter, isTold, newestEvent, type StoredEvent } from "./events.ts";
import { newOwnerOf } from "./owner-changes.ts";
import type { MessageSource } from "./message.ts";
import { messagesOf } from "./messages.ts";
import type { ToldEvent, ToldLog } from "./told-log.ts";
import { HEADS } from "../../base/format/ref-name.ts";

/** The requester of events for webhooks, with an admin's right, since only admins create
 * webhooks. */
const READER: Requester = {
  requestId: "webhook",
  caller: { kind: "operator" },
  right: "admin",
  knownMs: 0,
  quota: { repository: NO_QUOTA, owner: NO_QUOTA, others: { sizeBytes: 0, objectCount: 0 } },
};

/** Upper bound of a message's number within its part. A push has a part for every `MAX_LISTED_REFS`
 * refs, with at most two messages for each ref. */
const PART_MESSAGES = 1_000;

/** Maximum number of a push's refs in messages: in GitHub's format each has a message of its
 * own. */
const MAX_TOLD_REFS = 5_000;

/** How long a push's description is reused for the messages of a part (ms). A description shows the
 * current state: commits that are no longer reachable are left out. */
const DESCRIBED_MS = 1_000;

/** Whether an event continues in another part. */
function tellsMore({ events }: Webhook, event: StoredEvent, part: number): boolean {
  if (event.kind !== "push") return false;
  const isWanted = events === null || events.some((type) => ["push", "create", "delete"].includes(type));
  return isWanted && (part + 1) * MAX_LISTED_REFS < Math.min(event.push.refCount, MAX_TOLD_REFS);
}

/** The log of one repository. A job restarts deliveries that were interrupted. */
export class RepositoryLog implements ToldLog {
  readonly #state: RepositoryState;
  /** Cache of the event that was read last, by the id before it, and of the part that was described
   * last. A part has up to 200 messages, and a push of many refs 50 parts: reading the event again
   * for each message would take seconds. */
  #read: { readonly after: string; readonly event: StoredEvent } | null = null;
  #described: { readonly name: string; readonly record: RepositoryEventRecord; readonly timeMs: number } | null = null;

  constructor(state: RepositoryState) {
    this.#state = state;
  }

  get receivers(): Receivers {
    return this.#state.platform.outside;
  }

  get webhooks(): WebhookTable | null {
    return this.#state.tables?.webhooks ?? null;
  }

  newest(): EventId {
    return newestEvent(this.#state.tables!);
  }

  async next(webhook: Webhook): Promise<ToldEvent | null> {
    const event = this.#eventAfter(webhook.told);
    if (event === null) return null;
    const name = formatEventId(event.id);
    if (!isTold(event)) return { name, messages: [], first: 0, next: null, progress: { told: event.id } };
    // Both owners' logs get the event of a change of owner, one after the other.
    const owner = webhook.id === OWNER_ID ? newOwnerOf(event) : null;
    const leaves = owner !== null && owner !== webhook.url;
    const told = Math.floor(webhook.part / PART_MESSAGES);
    const messages = await this.#messages(webhook, event, told);
    const first = told * PART_MESSAGES;
    const next = tellsMore(webhook, event, told) ? first + PART_MESSAGES : null;
    if (webhook.part - first >= messages.length - 1) this.#forget(next === null);
    return { name, messages, first, next, progress: leaves ? { url: owner } : { told: event.id } };
  }

  /** Finds the event after an id; null: there is none. */
  #eventAfter(place: EventId): StoredEvent | null {
    const after = formatEventId(place);
    // New events have larger ids than all before them, so the cached one stays the next.
    if (this.#read?.after === after) return this.#read.event;
    const [event] = eventsAfter(this.#state, this.#state.tables!, place, 1);
    if (event === undefined) return null;
    this.#read = { after, event };
    return event;
  }

  /** Restricts an event to the refs of a part of its messages.
   * @param part from 0 */
  #partOf(event: StoredEvent, part: number): StoredEvent {
    if (event.kind !== "push" || part === 0) return event;
    const refsFrom = part * MAX_LISTED_REFS;
    const refs = this.#state.tables!.pushes.refs(event.push.id, refsFrom);
    return { ...event, push: { ...event.push, refs, refsFrom } };
  }

  async #messages(webhook: Webhook, event: StoredEvent, part: number): Promise<ToldEvent["messages"]> {
    const withHeads = webhook.format === "github" || webhook.id === OWNER_ID;
    return this.#state.holdNumbers(async () => {
      const record = await this.#describe(event, part, withHeads);
      return messagesOf(webhook, await this.describe(), record);
    });
  }

  async #describe(event: StoredEvent, part: number, withHeads: boolean): Promise<RepositoryEventRecord> {
    const name = `${formatEventId(event.id)} ${part} ${withHeads}`;
    const kept = this.#described;
    if (kept?.name === name && Date.now() - kept.timeMs < DESCRIBED_MS) return kept.record;
    const repository = new OpenRepository(this.#state, READER, async () => undefined);
    const record = await describeEvent(repository, this.#partOf(event, part), new ListBudget(), withHeads);
    this.#described = { name, record, timeMs: Date.now() };
    return record;
  }

  /** Drops the cache of a part whose last message was made.
   * @param isLast whether it is the last part */
  #forget(isLast: boolean): void {
    this.#described = null;
    if (isLast) this.#read = null;
  }

  /** @throws any error of the registry */
  async describe(): Promise<MessageSource> {
    const { platform, tables } = this.#state;
    const name = await platform.registry.nameOf(platform.id);
    const head = tables?.refs.head() ?? null;
    return {
      id: platform.id,
      owner: name?.owner ?? "",
      name: name?.name ?? "",
      defaultBranch: head?.startsWith(HEADS) === true ? decodeText(head.slice(HEADS.length)) : null,
    };
  }

  transact<T>(f: () => T): T {
    return this.#state.transactAside(f);
  }

  wakeAt(dueMs: number | null): void {
    const { tables } = this.#state;
    if (tables === null) return;
    this.#state.transactAside(() => {
      tables.jobs.cancel("deliver", "");
      if (dueMs !== null) tables.jobs.add("deliver", "", dueMs);
    });
    this.#state.scheduleJobs();
  }

  noteFailure(error: unknown, webhook: string | null): void {
    this.#state.platform.observe({ event: "delivery-failed", webhook, error: String(error) });
  }
}
