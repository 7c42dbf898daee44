// Notifies webhooks of a repository's deletion. The log is deleted with the repository, so the
// message is in the key of a job that outlives it. Other deliveries that were still to be made are
// dropped.
import { nameOf, type Requester } from "../../base/access/caller.ts";
import { decodeText } from "../../base/format/byte-string.ts";
import { formatEventId } from "../../base/format/event-id.ts";
import type { Webhook } from "../../contract/webhooks.ts";
import { WebhookTable } from "../store/events/webhook-table.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import { GIVE_UP_MS } from "./deliverer.ts";
import type { Message } from "./message.ts";
import { messagesOf } from "./messages.ts";
import { RepositoryLog } from "./repository-log.ts";
import { GONE, sendMessage } from "./send-message.ts";

/** Minimum and maximum wait between attempts (ms). In between, the wait is the time since the
 * deletion, so attempts become rarer. */
const FIRST_AGAIN_MS = 5_000;
const LONGEST_AGAIN_MS = 60 * 60_000;

/** The key of a job that notifies a webhook of the deletion, as JSON. */
interface Farewell {
  readonly webhook: string;
  readonly event: string;
  readonly message: Message;
  readonly deletedMs: number;
}

/** Deletes the repository, and schedules the messages to its webhooks.
 * @param caller who deletes it; null: it has expired
 * @returns whether it existed
 * @throws any error of the registry, if the repository has webhooks */
export async function deleteRepository(state: RepositoryState, caller: Requester["caller"] | null): Promise<boolean> {
  const { tables } = state;
  if (tables === null) return false;
  const told = tables.webhooks.subscribers().filter(({ disabled }) => disabled === null);
  const source = told.length === 0 ? null : await new RepositoryLog(state).describe();
  return state.delete(({ webhooks, events, jobs, pushes }) => {
    const nowMs = Date.now();
    const event = formatEventId({ push: pushes.ends().newest, other: (events.newest()?.other ?? 0) + 1 });
    const who = caller && nameOf(caller);
    const record = {
      id: event,
      type: "repository",
      timestamp: new Date(nowMs).toISOString(),
      who: who && decodeText(who),
      data: { action: "deleted" },
    };
    for (const webhook of source === null ? [] : webhooks.subscribers()) {
      const [message] = webhook.disabled === null ? messagesOf(webhook, source!, record) : [];
      const farewell = message && { webhook: webhook.id, event, message, deletedMs: nowMs };
      if (farewell !== undefined) jobs.add("part", JSON.stringify(farewell satisfies Farewell), nowMs);
    }
  });
}

/** Sends the deletion's message to a webhook. The job does not await it, and runs again until it is
 * delivered: an endpoint that does not answer must not block other jobs. */
export function tellDeletion(state: RepositoryState, key: string, nowMs: number): void {
  const { webhook: id, event, message, deletedMs } = JSON.parse(key) as Farewell;
  const { sql, outside } = state.platform;
  const webhook = new WebhookTable(sql).find(id);
  const ageMs = nowMs - deletedMs;
  if (webhook === null || ageMs > GIVE_UP_MS) return;
  state.jobs.add("part", key, nowMs + Math.min(Math.max(ageMs, FIRST_AGAIN_MS), LONGEST_AGAIN_MS));
  const send = async (to: Webhook): Promise<void> => {
    const { error, response } = await sendMessage(outside, to, event, message);
    if (error !== null && response?.status !== GONE) return;
    state.transactAside(() => state.jobs.cancel("part", key));
    state.scheduleJobs();
  };
  send(webhook).catch((error: unknown) =>
    state.platform.observe({ event: "delivery-failed", webhook: id, error: String(error) }),
  );
}
