// Repositories send events to their owner's log while it has a listener: a webhook that is not
// disabled, or a reader within the last week. The first listener begins the log. From then on the
// registry tells each repository that reports to it, including new ones, that the log has
// listeners; repositories that do not report soon are visited, some at a time. A repository sends
// all events since the log began, even if it learns of the log late. After the last listener, the
// log and the registry's row are deleted; a repository learns this when it sends its next event.
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

/** How long a log is kept after its last listener (ms). A webhook that was disabled can continue at
 * its cursor within this time. */
const LISTEN_LIFE_MS = 7 * 24 * 60 * 60_000;

/** Minimum interval between two records of the last listener (ms): each writes a row. */
const HEARD_STEP_MS = 60 * 60_000;

/** Number of repositories that are visited at a time. */
const VISITED_AT_ONCE = 20;

/** Wait before the next try when a repository or the registry was not reachable (ms), and the
 * maximum number of tries. */
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
  /** Earliest time of the next visits (ms since 1970). */
  #visitMs = 0;
  /** Number of failed tries of the current visits. */
  #failedVisits = 0;

  constructor(platform: OwnerPlatform) {
    this.#platform = platform;
    this.#events = new OwnerEventTable(platform.sql);
    this.log = new OwnerLog(platform, this.#events, (dueMs) => this.#schedule(dueMs));
    this.deliverer = new Deliverer(this.log);
    this.scheduleRemaining();
  }

  /** Adds an event that a repository sends. An event that is already in the log is ignored.
   * @param text JSON: `OwnedEvent`
   * @returns whether the log has listeners; if not, the event is not added */
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

  /** Reads the log. The reader counts as a listener.
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

  /** Records that there is a listener, if a webhook is active, and sets the alarm for pending
   * work. */
  scheduleRemaining(): void {
    this.deliverer.scheduleRemaining();
  }

  /** Runs the work that is due. */
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

  /** Returns the log's record while the log has listeners; else null. */
  #listened(): BegunLog | null {
    const record = this.#events.read();
    return record === null || record.sinceMs === null ? null : { ...record, sinceMs: record.sinceMs };
  }

  /** Begins the log, if it has not begun.
   * @returns the time since which the log has listeners */
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

  /** Ends the log. The next log continues its numbers and skips one, so that a later reader learns
   * that events are missing. */
  async #end(before: BegunLog, nowMs: number): Promise<void> {
    await this.#platform.registry.listen(this.#platform.name, null);
    const record = this.#listened() ?? before;
    this.log.transact(() => {
      // A listener may have arrived meanwhile: the registry is told again.
      if (!this.#isOver(record, nowMs)) return this.#events.put({ ...record, visited: "" });
      const first = this.#events.newest() + 2;
      this.#events.clear();
      this.#events.put({ ...record, sinceMs: null, first, visited: null });
    });
  }

  /** Tells the registry that the log has listeners, then the next repositories. A repository that
   * cannot be reached learns it from the registry with its next push.
   * @throws any error of the registry or of a repository */
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
    // A log that began meanwhile starts with the first repository.
    if (record === null || record.sinceMs !== sinceMs) return;
    const last = found.length < VISITED_AT_ONCE ? null : found.at(-1)!.name;
    this.log.transact(() => this.#events.put({ ...record, visited: last }));
  }

  /** @param deliverMs time of the next deliveries; null: none */
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

/** Makes an id that is unique among the events of a repository. A push of very many refs arrives in
 * several events; their ids use negative numbers, which no other event has. */
function placeOf({ id, data }: RepositoryEventRecord): EventId {
  const { push, other } = parseEventId(id);
  const { refsFrom } = data as { readonly refsFrom?: number };
  return { push, other: refsFrom === undefined ? other : -refsFrom };
}

/** Converts an event for a caller's right; empty, if the caller may not see it. */
function show(number: number, { repository, event }: OwnedEvent, right: Right): OwnerEventRecord[] {
  // Events of tokens are shown only to admins.
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

/** An owner's log as the source of messages to its webhooks. */
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

/** The calls of an owner to the registry. */
export interface OwnerRegistry {
  /** Records the time (ms since 1970) since which an owner's log has listeners; null: it has
   * none. */
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
  /** Tells one of the owner's repositories that the log has listeners. */
  visit(repositoryId: string, owner: ListeningOwner): Promise<void>;
  /** @see Outside.wakeListeners */
  wakeListeners(): void;
  /** Makes the platform call `runAlarm` at this time (ms since 1970), or earlier. `runAlarm` sets
   * the next time itself. */
  wakeAt(timeMs: number): void;
  observe(event: RepositoryEvent): void;
}
