import { includesRight, nameOf, type Requester } from "../../base/access/caller.ts";
import { decodeText } from "../../base/format/byte-string.ts";
import { compareEventIds, type EventId, formatEventId, parseEventId } from "../../base/format/event-id.ts";
import type { OtherEvent } from "../store/events/event-table.ts";
import type { Push } from "../store/refs/push-log.ts";
import type { Tables } from "../store/tables.ts";
import { ListBudget } from "../objects/list-budget.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import { scheduleDeliveries } from "./schedule-deliveries.ts";
import { describePush } from "./described-push.ts";
import type { EventQuery, EventPage, RepositoryEventRecord } from "../../contract/events.ts";

/** Time in ms after which a page ends early: the next page continues there. */
const PAGE_MS = 1_000;

/** An event as it is stored. */
export type StoredEvent =
  | { readonly kind: "created"; readonly id: EventId; readonly timeMs: number; readonly isFork: boolean }
  | { readonly kind: "push"; readonly id: EventId; readonly push: Push & { readonly refsFrom?: number } }
  | { readonly kind: "other"; readonly id: EventId; readonly event: OtherEvent };

/** Before the first event. */
export const START: EventId = { push: -1, other: 0 };

/** Id of the event for the repository's creation. */
const CREATION: EventId = { push: 0, other: 0 };

/** Reads the event log. A page ends early when describing its events has taken a second, or when
 * their texts reach the limit of a list.
 * @throws GitError "invalid" for another `after` */
export async function events(repository: OpenRepository, { after, limit }: EventQuery): Promise<EventPage> {
  const from = after === null ? START : after === "latest" ? newestEvent(repository.tables) : parseEventId(after);
  const found = eventsAfter(repository.state, repository.tables, from, limit + 1);
  const shown: RepositoryEventRecord[] = [];
  const { right } = repository.requester;
  const isShown = includesRight(right, "write");
  const endMs = Date.now() + PAGE_MS;
  const budget = new ListBudget();
  let last = from;
  let seen = 0;
  for (const event of found.slice(0, limit)) {
    if (seen > 0 && (Date.now() > endMs || budget.isSpent)) break;
    seen += 1;
    last = event.id;
    if (isTold(event) && (!isOfToken(event) || includesRight(right, "admin"))) {
      const record = await describeEvent(repository, event, budget);
      shown.push(isShown ? record : { ...record, who: null });
    }
  }
  return {
    events: shown,
    next: formatEventId(last === START ? CREATION : last),
    more: seen < found.length,
    missed: from !== START && isGap(repository.tables, from),
  };
}

/** Yields the events after an id, in order. */
export function eventsAfter(
  { createdMs, parent }: Pick<RepositoryState, "createdMs" | "parent">,
  tables: Tables,
  after: EventId,
  limit: number,
): StoredEvent[] {
  const merged: StoredEvent[] = [
    ...tables.pushes.after(Math.max(after.push, 0), limit).map(toStoredPush),
    ...tables.events.after(after, limit).map((event): StoredEvent => ({ kind: "other", id: event, event })),
  ];
  if (after.push < 0) merged.push({ kind: "created", id: CREATION, timeMs: createdMs, isFork: parent !== null });
  return merged.sort((a, b) => compareEventIds(a.id, b.id)).slice(0, limit);
}

/** Finds the id of the last event before a time. */
export function eventBefore(
  { createdMs }: Pick<RepositoryState, "createdMs">,
  { pushes, events: others }: Tables,
  timeMs: number,
): EventId {
  if (createdMs >= timeMs) return START;
  const push = { push: pushes.newestBefore(timeMs), other: 0 };
  const other = others.newestBefore(timeMs);
  return other !== null && compareEventIds(other, push) > 0 ? other : push;
}

/** Returns the id of the newest event. */
export function newestEvent({ pushes, events: others }: Tables): EventId {
  const push = { push: pushes.ends().newest, other: 0 };
  const other = others.newest();
  return other !== null && compareEventIds(other, push) > 0 ? other : push;
}

/** Whether an event is shown: a step of an upload moves no ref. */
export function isTold(event: StoredEvent): boolean {
  return event.kind !== "push" || event.push.refCount > 0;
}

/** Events of tokens are shown only to admins. */
function isOfToken(event: StoredEvent): boolean {
  return event.kind === "other" && event.event.type === "token";
}

/** Describes an event. @see describePush */
export async function describeEvent(
  repository: OpenRepository,
  event: StoredEvent,
  budget = new ListBudget(),
  withHeads = false,
): Promise<RepositoryEventRecord> {
  const id = formatEventId(event.id);
  const timestamp = (timeMs: number): string => new Date(timeMs).toISOString();
  switch (event.kind) {
    case "created": {
      const data = { action: event.isFork ? "forked" : "created" };
      return { id, type: "repository", timestamp: timestamp(event.timeMs), who: null, data };
    }
    case "push": {
      const { timeMs, who } = event.push;
      const data = { ...(await describePush(repository, event.push, budget, withHeads)) };
      return { id, type: "push", timestamp: timestamp(timeMs), who: who && decodeText(who), data };
    }
    case "other": {
      const { timeMs, who, type, data } = event.event;
      budget.noteText(JSON.stringify(data).length);
      return { id, type, timestamp: timestamp(timeMs), who: who && decodeText(who), data };
    }
  }
}

/** Records an event other than a push, and wakes listeners; must run in a transaction. */
export function addEvent(
  state: RepositoryState,
  tables: Tables,
  { caller }: Pick<Requester, "caller">,
  type: string,
  data: Readonly<Record<string, unknown>>,
): void {
  const push = tables.pushes.ends().newest;
  tables.events.add({ push, timeMs: Date.now(), who: nameOf(caller), type, data });
  scheduleDeliveries(tables, Date.now());
  state.teller.follow(tables);
}

function toStoredPush(push: Push): StoredEvent {
  return { kind: "push", id: { push: push.id, other: 0 }, push };
}

/** Whether events between an id and the next kept event were dropped. */
function isGap({ pushes, events: others }: Tables, after: EventId): boolean {
  if (pushes.ends().oldest > after.push + 1) return true;
  const oldest = others.oldest();
  if (oldest === null || oldest.other === 1 || compareEventIds(after, oldest) >= 0) return false;
  return after.other === 0 || oldest.other > after.other + 1;
}
