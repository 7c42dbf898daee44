// The queue and the owner's log receive events as webhooks do, and have rows in the same table.
import type { EventId } from "../../base/format/event-id.ts";
import type { ListeningOwner } from "../../contract/registry.ts";
import { OWNER_ID, QUEUE_ID, READY } from "../store/events/webhook-table.ts";
import type { Webhook } from "../../contract/webhooks.ts";
import type { Tables } from "../store/tables.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import { eventBefore, newestEvent } from "./events.ts";
import { isUpToDate } from "./messages.ts";
import { scheduleDeliveries } from "./schedule-deliveries.ts";

/** Adds the deployment's queue, if there is one, to the receivers; must run in a transaction.
 * @param told the last event that a new queue is not sent */
export function enterQueue({ platform }: RepositoryState, tables: Tables, told: EventId): void {
  if (platform.outside.sendToQueue === null) return;
  const known = tables.webhooks.find(QUEUE_ID);
  if (known?.disabled === null) return;
  // The queue may have been missing for a while: it continues at its old cursor.
  enter(tables, { id: QUEUE_ID, url: "", told: known?.told ?? told });
}

/** Adds the log of the repository's owner, which has listeners, to the receivers; must run in a
 * transaction. The log gets all events since it began, even if the repository learns of it late.
 * @returns whether it was added now */
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
  // The log itself reports a new owner, unless the repository could not be told that it has one.
  if (known.url === url || !isUpToDate(known, newestEvent(tables))) return false;
  enterOwner(tables, url, known.told);
  return true;
}

/** Adds an owner's log to the receivers, whether or not it has listeners; must run in a
 * transaction.
 * @param owner in lower case
 * @param told the last event that the log is not sent */
export function enterOwner(tables: Tables, owner: string, told: EventId): void {
  enter(tables, { id: OWNER_ID, url: owner, told });
}

function enter(tables: Tables, receiver: Pick<Webhook, "id" | "url" | "told">): void {
  const nowMs = Date.now();
  tables.webhooks.put({ ...INNER, createdMs: nowMs, ...receiver });
  scheduleDeliveries(tables, nowMs);
}

/** Common fields of such rows. */
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
