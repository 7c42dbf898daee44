// Repositories tell their owner's log what happens while somebody listens to it: while it has a
// webhook that is not disabled, or was read within the last week. Both begin the log. From then on
// the registry answers each repository that reports, so also each new one, that somebody listens;
// and those that do not report soon are visited, some at a time. A repository tells of all that
// happened since the log began, however late it hears of that. When nobody listens any more, the
// log and the registry's row go; a repository learns it when it tells something.
import { type Caller, includesRight, type Right } from "../../base/access/caller.ts";
import { type EventId, formatEventId, parseEventId } from "../../base/format/event-id.ts";
import type { RepositoryName } from "../../base/format/repository-name.ts";
import type { ListeningOwner, RepositoryEntry } from "../../contract/registry.ts";
import type { Sql, Transactor } from "../store/sql/sql.ts";
import type { Receivers } from "../state/outside.ts";
import type { RepositoryEvent } from "../../contract/log-events.ts";
import type { Webhook } from "../../contract/webhooks.ts";
import { WebhookTable } from "../store/events/webhook-table.ts";
import { OwnerEventTable, type OwnerLogRecord } from "../store/events/owner-event-table.ts";
import type { OwnedEvent, PingSource } from "./message.ts";
import { messagesOf, withoutHeads } from "./messages.ts";
import type { ToldEvent, ToldLog } from "./told-log.ts";
import { Deliverer } from "./deliverer.ts";
import type { EventQuery, RepositoryEventRecord, OwnerEventPage, OwnerEventRecord } from "../../contract/events.ts";
import { DELIVERY_LEASE_MS } from "./schedule-deliveries.ts";

/** How long a log is kept after somebody last listened (ms). A webhook that was disabled can go on
 * where it was for so long. */
const LISTEN_LIFE_MS = 7 * 24 * 60 * 60_000;

/** How old a note of that must be for another: each is a row (ms). */
const HEARD_STEP_MS = 60 * 60_000;

/** Repositories that are visited at a time. */
const VISITED_AT_ONCE = 20;

/** Wait when one of them, or the registry, could not be reached (ms), and how often they are
 * visited. */
const VISIT_AGAIN_MS = 60_000;
const MAX_VISITS = 3;

/** A log that has begun. */
type BegunLog = OwnerLogRecord & { readonly sinceMs: number };

/** One owner, the only writer of its database, as a Durable Object is. */
export class Owner {
  readonly log: OwnerLog;
  readonly deliverer: Deliverer;
  readonly #platform: OwnerPlatform;
  readonly #events: OwnerEventTable;
  /** When repositories may be visited (ms since 1970). */
  #visitMs = 0;
  /** How often some of those that are visited now could not be reached. */
  #failedVisits = 0;

  constructor(platform: OwnerPlatform) {
    this.#platform = platform;
    this.#events = new OwnerEventTable(platform.sql);
    this.log = new OwnerLog(platform, this.#events, (dueMs) => this.#schedule(dueMs));
    this.deliverer = new Deliverer(this.log);
    this.scheduleRemaining();
  }

  /** Enters an event that a repository tells; again, without effect, if it was told before.
   * @param text JSON: `OwnedEvent`
   * @returns whether anybody listens; if not, it is not entered */
  tell(text: string): boolean {
    const record = this.#listened();
    if (record === null) return false;
    const { repository, event } = JSON.parse(text) as OwnedEvent;
    const timeMs = Date.parse(event.timestamp);
    if (timeMs < record.sinceMs) return true;
    const told = { repository: repository.id, place: placeOf(event), timeMs, event: text };
    this.log.transact(() => {
      if (!this.#events.add(told)) return;
      this.#platform.wakeListeners();
      if (this.log.webhooks.isAnyActive()) this.#platform.wakeAt(Date.now() + DELIVERY_LEASE_MS);
      this.deliverer.startSoon();
    });
    return true;
  }

  /** Reads the log. Who reads it listens.
   * @throws GitError "invalid" for another `after` */
  async events({ after, limit }: EventQuery, right: Right): Promise<OwnerEventPage> {
    const known = after === null || after === "latest" ? null : parseEventId(after).push;
    const sinceMs = this.#noteListening(Date.now());
    const oldest = this.#events.oldest();
    const from = after === "latest" ? this.#events.newest() : Math.max(known ?? 0, oldest - 1);
    const found = this.#events.after(from, limit + 1);
    const shown = found.slice(0, limit);
    return {
      events: shown.flatMap(({ number, event }) => show(number, JSON.parse(event) as OwnedEvent, right)),
      next: formatEventId({ push: shown.at(-1)?.number ?? from, other: 0 }),
      more: found.length > limit,
      missed: known !== null && known + 1 < oldest,
      since: new Date(sinceMs).toISOString(),
    };
  }

  /** Notes that somebody listens, if a webhook does, and sets the alarm for what remains to be
   * done. */
  scheduleRemaining(): void {
    this.deliverer.scheduleRemaining();
  }

  /** Does what is due. */
  async runAlarm(nowMs: number): Promise<void> {
    try {
      const record = this.#listened();
      if (record !== null && this.#isOver(record, nowMs)) await this.#end(record, nowMs);
      else if (record !== null && record.visited !== null && this.#visitMs <= nowMs) await this.#visit(record);
    } catch (error) {
      this.#visitMs = nowMs + VISIT_AGAIN_MS;
      this.#platform.observe({ event: "announcement-failed", error: String(error) });
    }
    this.deliverer.start();
    this.scheduleRemaining();
  }

  /** The log while somebody listens; else null. */
  #listened(): BegunLog | null {
    const record = this.#events.read();
    return record === null || record.sinceMs === null ? null : { ...record, sinceMs: record.sinceMs };
  }

  /** Begins the log, if it has not begun.
   * @returns since when somebody listens */
  #noteListening(nowMs: number): number {
    const record = this.#listened();
    if (record === null) {
      const first = this.#events.read()?.first ?? 1;
      this.log.transact(() => this.#events.put({ sinceMs: nowMs, heardMs: nowMs, first, visited: "" }));
      this.#platform.wakeAt(nowMs);
    } else if (nowMs - record.heardMs >= HEARD_STEP_MS)
      this.log.transact(() => this.#events.put({ ...record, heardMs: nowMs }));
    return record?.sinceMs ?? nowMs;
  }

  #isOver({ heardMs }: OwnerLogRecord, nowMs: number): boolean {
    return !this.log.webhooks.isAnyActive() && heardMs + LISTEN_LIFE_MS <= nowMs;
  }

  /** Ends the log. Its numbers go on with the next one, and leave one out, so that who reads on is
   * told that events are missing. */
  async #end(before: BegunLog, nowMs: number): Promise<void> {
    await this.#platform.registry.listen(this.#platform.name, null);
    const record = this.#listened() ?? before;
    this.log.transact(() => {
      // Somebody may have come meanwhile: the registry is told again.
      if (!this.#isOver(record, nowMs)) return this.#events.put({ ...record, visited: "" });
      const first = this.#events.newest() + 2;
      this.#events.clear();
      this.#events.put({ ...record, sinceMs: null, first, visited: null });
    });
  }

  /** Tells the registry that somebody listens, then the next repositories. One that cannot be
   * reached at all hears it from the registry, with its next push.
   * @throws whatever the registry or a repository throws */
  async #visit({ sinceMs, visited }: BegunLog): Promise<void> {
    const { name: owner, registry } = this.#platform;
    await registry.listen(owner, sinceMs);
    const after = visited === "" ? null : { owner, name: visited! };
    const found = await registry.list(owner, after, VISITED_AT_ONCE, { kind: "operator" });
    const visits = await Promise.allSettled(found.map(({ id }) => this.#platform.visit(id, { owner, sinceMs })));
    const failed = visits.find((one) => one.status === "rejected");
    if (failed !== undefined && ++this.#failedVisits < MAX_VISITS) throw failed.reason;
    this.#failedVisits = 0;
    const record = this.#events.read();
    // A log that began meanwhile begins with the first repository.
    if (record === null || record.sinceMs !== sinceMs) return;
    const last = found.length < VISITED_AT_ONCE ? null : found.at(-1)!.name;
    this.log.transact(() => this.#events.put({ ...record, visited: last }));
  }

  /** @param deliverMs when deliveries are due; null: there are none */
  #schedule(deliverMs: number | null): void {
    const isWanted = this.log.webhooks.isAnyActive();
    if (isWanted) this.#noteListening(Date.now());
    const record = this.#listened();
    if (record === null) return;
    if (deliverMs !== null) this.#platform.wakeAt(deliverMs);
    if (record.visited !== null) this.#platform.wakeAt(Math.max(this.#visitMs, Date.now()));
    if (!isWanted) this.#platform.wakeAt(Math.max(this.#visitMs, record.heardMs + LISTEN_LIFE_MS));
  }
}

/** What distinguishes an event from the others of its repository. A push of very many refs comes in
 * several; no other event counts down. */
function placeOf({ id, data }: RepositoryEventRecord): EventId {
  const { push, other } = parseEventId(id);
  const { refsFrom } = data as { readonly refsFrom?: number };
  return { push, other: refsFrom === undefined ? other : -refsFrom };
}

/** An event as one with a right sees it; nothing, if it is not for them. */
function show(number: number, { repository, event }: OwnedEvent, right: Right): OwnerEventRecord[] {
  // Tokens are shown to admins alone.
  if (event.type === "token" && !includesRight(right, "admin")) return [];
  const { id, owner, name } = repository;
  return [
    {
      ...event,
      data: withoutHeads(event.data),
      id: formatEventId({ push: number, other: 0 }),
      who: includesRight(right, "write") ? event.who : null,
      repository: { id, owner, name, event: event.id },
    },
  ];
}

/** The log of an owner as its webhooks are told of it. */
class OwnerLog implements ToldLog {
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

/** What an owner needs from the registry. */
export interface OwnerRegistry {
  /** Notes since when (ms since 1970) somebody listens to an owner; null: nobody does any more. */
  listen(owner: string, sinceMs: number | null): Promise<void>;
  /** @see Registry.list */
  list(owner: string, after: RepositoryName | null, limit: number, caller: Caller): Promise<RepositoryEntry[]>;
}

/** The platform services of an owner. */
interface OwnerPlatform {
  /** The owner's name, in lower case. */
  readonly name: string;
  readonly registry: OwnerRegistry;
  readonly sql: Sql;
  readonly transactor: Transactor;
  readonly receivers: Receivers;
  /** Lets one of the owner's repositories know that somebody listens. */
  visit(repositoryId: string, owner: ListeningOwner): Promise<void>;
  /** @see Outside.wakeListeners */
  wakeListeners(): void;
  /** Makes the platform call `runAlarm` at this time (ms since 1970), or earlier; then `runAlarm`
   * sets the next time itself. */
  wakeAt(timeMs: number): void;
  observe(event: RepositoryEvent): void;
}
