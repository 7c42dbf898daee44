// The queue and the owner's log are told of events as webhooks are, and have rows among them.
import type { EventId } from "../../base/format/event-id.ts";
import type { ListeningOwner } from "../../contract/registry.ts";
import { OWNER_ID, QUEUE_ID, READY } from "../store/events/webhook-table.ts";
import type { Webhook } from "../../contract/webhooks.ts";
import type { Tables } from "../store/tables.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import { eventBefore, newestEvent } from "./events.ts";
import { isUpToDate } from "./messages.ts";
import { scheduleDeliveries } from "./schedule-deliveries.ts";

/** Enters the deployment's queue, if there is one, among those who are told; must run in a
 * transaction.
 * @param told the last event that a new one need not be told */
export function enterQueue({ platform }: RepositoryState, tables: Tables, told: EventId): void {
  if (platform.outside.sendToQueue === null) return;
  const known = tables.webhooks.find(QUEUE_ID);
  if (known?.disabled === null) return;
  // It may have been away for a while.
  enter(tables, { id: QUEUE_ID, url: "", told: known?.told ?? told });
}

/** Enters the log of the repository's owner, to which somebody listens; must run in a transaction.
 * It is told of what happened since it began, however late the repository hears of it.
 * @returns whether it was not there already */
export function enterListeningOwner(
  state: RepositoryState,
  tables: Tables,
  { owner, sinceMs }: ListeningOwner,
): boolean {
  const url = owner.toLowerCase();
  const known = tables.webhooks.find(OWNER_ID);
  if (known === null || known.disabled !== null) {
    enterOwner(tables, url, eventBefore(state, tables, sinceMs));
    return true;
  }
  // The log tells of a new owner, unless the repository could not be told that it has one.
  if (known.url === url || !isUpToDate(known, newestEvent(tables))) return false;
  enterOwner(tables, url, known.told);
  return true;
}

/** Enters an owner's log, whether or not anybody listens to it; must run in a transaction.
 * @param owner in lower case
 * @param told the last event that it is not told */
export function enterOwner(tables: Tables, owner: string, told: EventId): void {
  enter(tables, { id: OWNER_ID, url: owner, told });
}

function enter(tables: Tables, receiver: Pick<Webhook, "id" | "url" | "told">): void {
  const nowMs = Date.now();
  tables.webhooks.put({ ...INNER, createdMs: nowMs, ...receiver });
  scheduleDeliveries(tables, nowMs);
}

/** Such a row, but for what differs. */
const INNER: Omit<Webhook, "id" | "url" | "told" | "createdMs"> = {
  format: "standard",
  events: null,
  origin: "",
  secret: "",
  formerSecret: null,
  formerUntilMs: null,
  part: 0,
  ...READY,
};
