import { compareEventIds } from "../../format/event-id.ts";
import { OWNER_ID, type Webhook } from "../../store/events/webhook-table.ts";
import type { CommitRecord } from "../objects/commit-record.ts";
import type { DescribedPush } from "./described-push.ts";
import type { RepositoryEventRecord } from "./events.ts";
import { githubMessages, githubPing } from "./github-messages.ts";
import type { Message, MessageSource, OwnedEvent, PingSource } from "./message.ts";

/** Characters of a commit's message. */
const MAX_MESSAGE_CHARS = 1_000;

/** Bytes of a body: a queue takes 128 KB. A push that takes more is told without commits, and with
 * few of its refs. */
const MAX_BODY_BYTES = 64 * 1024;
const FEW_REFS = 10;

/** The messages that tell a webhook of an event, in order; none if it does not want to hear of
 * it. */
export function messagesOf(webhook: Webhook, source: MessageSource, event: RepositoryEventRecord): Message[] {
  const shortened = event.type === "push" ? shortenPush(event) : event;
  const make = webhook.id === OWNER_ID ? ownedEvents : webhook.format === "github" ? githubMessages : standardMessages;
  const isWanted = ({ type }: Message): boolean => webhook.events === null || webhook.events.includes(type);
  const messages = make(webhook, source, shortened);
  if (messages.every(({ body }) => Buffer.byteLength(body) <= MAX_BODY_BYTES)) return messages.filter(isWanted);
  return make(webhook, source, thinPush(shortened)).filter(isWanted);
}

/** The message that tries a webhook out. */
export function pingOf(webhook: Webhook, source: PingSource): Message {
  const id = `${source.name === null ? source.owner : source.id}-ping-${crypto.randomUUID()}`;
  if (webhook.format === "github") return githubPing(webhook, source, id);
  const data =
    source.name === null ? { owner: source.owner } : { repository: describeRepository(webhook, source), who: null };
  return { id, type: "ping", body: JSON.stringify({ type: "ping", timestamp: new Date().toISOString(), id, data }) };
}

/** @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
function standardMessages(webhook: Webhook, source: MessageSource, event: RepositoryEventRecord): Message[] {
  const { id, type, timestamp, who, data } = event;
  const repository = describeRepository(webhook, source);
  const body = JSON.stringify({ type, timestamp, id, data: { repository, who, ...data } });
  return [{ id: `${source.id}-${id}`, type, body }];
}

function describeRepository({ origin }: Webhook, { id, owner, name }: MessageSource) {
  // The queue belongs to no address.
  return { id, owner, name, ...(origin !== "" && { url: `${origin}/${owner}/${name}` }) };
}

/** What the owner's log is told: all that messages to its own webhooks need. */
function ownedEvents(_: Webhook, repository: MessageSource, event: RepositoryEventRecord): Message[] {
  return [{ id: event.id, type: event.type, body: JSON.stringify({ repository, event } satisfies OwnedEvent) }];
}

function shortenPush(event: RepositoryEventRecord): RepositoryEventRecord {
  const push = event.data as unknown as DescribedPush;
  const shorten = (commit: CommitRecord): CommitRecord => ({
    ...commit,
    message: commit.message.slice(0, MAX_MESSAGE_CHARS),
  });
  const refs = push.refs.map((ref) => ({ ...ref, commits: ref.commits?.map(shorten) ?? null }));
  return { ...event, data: { ...push, refs } };
}

function thinPush(event: RepositoryEventRecord): RepositoryEventRecord {
  const push = event.data as unknown as DescribedPush;
  const refs = push.refs.slice(0, FEW_REFS).map((ref) => ({ ...ref, commits: null }));
  return { ...event, data: { ...push, refs } };
}

/** Whether a webhook has been told of all there is. */
export function isUpToDate({ told }: Pick<Webhook, "told">, newest: Webhook["told"]): boolean {
  return compareEventIds(told, newest) >= 0;
}
