import type { Requester } from "../../access/caller.ts";
import { NO_QUOTA } from "../../access/quota.ts";
import { decodeText } from "../../format/byte-string.ts";
import { type EventId, formatEventId } from "../../format/event-id.ts";
import { OWNER_ID, type Webhook, type WebhookTable } from "../../store/events/webhook-table.ts";
import { OpenRepository } from "../objects/open-repository.ts";
import type { Receivers } from "../state/outside.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import { describeEvent, eventsAfter, isTold, newestEvent, type StoredEvent } from "./events.ts";
import { newOwnerOf } from "./owner-changes.ts";
import type { MessageSource } from "./message.ts";
import { messagesOf } from "./messages.ts";
import type { ToldEvent, ToldLog } from "./told-log.ts";

const BRANCHES = "refs/heads/";

/** Who reads what webhooks are told: they are an admin's. */
const READER: Requester = {
  requestId: "webhook",
  caller: { kind: "operator" },
  right: "admin",
  knownMs: 0,
  quota: { repository: NO_QUOTA, owner: NO_QUOTA, others: { sizeBytes: 0, objectCount: 0 } },
};

/** The log of one repository. A job stands behind its deliveries. */
export class RepositoryLog implements ToldLog {
  readonly #state: RepositoryState;

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
    const [event] = eventsAfter(this.#state, this.#state.tables!, webhook.told, 1);
    if (event === undefined) return null;
    const name = formatEventId(event.id);
    if (!isTold(event)) return { name, messages: [], progress: { told: event.id } };
    // A repository that changes its owner is told of to both, one after the other.
    const owner = webhook.id === OWNER_ID ? newOwnerOf(event) : null;
    const leaves = owner !== null && owner !== webhook.url;
    const messages = await this.#messages(webhook, event);
    return { name, messages, progress: leaves ? { url: owner } : { told: event.id } };
  }

  #messages(webhook: Webhook, event: StoredEvent): Promise<ToldEvent["messages"]> {
    return this.#state.holdNumbers(async () => {
      const repository = new OpenRepository(this.#state, READER, async () => undefined);
      const record = await describeEvent(repository, event);
      return messagesOf(webhook, await this.describe(), record);
    });
  }

  /** @throws whatever the registry throws */
  async describe(): Promise<MessageSource> {
    const { platform, tables } = this.#state;
    const name = await platform.registry.nameOf(platform.id);
    const head = tables?.refs.head() ?? null;
    return {
      id: platform.id,
      owner: name?.owner ?? "",
      name: name?.name ?? "",
      defaultBranch: head?.startsWith(BRANCHES) === true ? decodeText(head.slice(BRANCHES.length)) : null,
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
