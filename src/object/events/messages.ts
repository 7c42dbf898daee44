import { compareEventIds } from "../../base/format/event-id.ts";
import { OWNER_ID } from "../store/events/webhook-table.ts";
import type { Webhook } from "../../contract/webhooks.ts";
import type { CommitRecord } from "../../contract/commits.ts";
import type { DescribedPush, MovedRef } from "./described-push.ts";
import type { RepositoryEventRecord } from "../../contract/events.ts";
import { githubMessages, githubPing } from "./github-messages.ts";
import type { Message, MessageSource, OwnedEvent, PingSource } from "./message.ts";

/** Maximum length of a commit's message, in characters. */
const MAX_MESSAGE_CHARS = 1_000;

/** Maximum size of a body, in bytes: a queue takes 128 KB. The message of a larger push has no
 * commits; if it is still too large, the push is split into messages of this many refs. */
const MAX_BODY_BYTES = 64 * 1024;
const FEW_REFS = 10;

/** Makes the messages for a webhook about an event, in order; none if the webhook does not
 * subscribe to it. */
export function messagesOf(webhook: Webhook, source: MessageSource, event: RepositoryEventRecord): Message[] {
  const make = webhook.id === OWNER_ID ? ownedEvents : webhook.format === "github" ? githubMessages : standardMessages;
  const isWanted = ({ type }: Message): boolean => webhook.events === null || webhook.events.includes(type);
  const tell = (one: RepositoryEventRecord): Message[] => make(webhook, source, one);
  if (event.type !== "push") return tell(event).filter(isWanted);
  const push = shortenPush(event.data as unknown as DescribedPush);
  // GitHub's format has a message for each ref.
  const parts = make === githubMessages ? splitPush(push, 1) : [push];
  return parts.flatMap((part) => fitting(part, (told) => tell({ ...event, data: { ...told } }))).filter(isWanted);
}

/** Makes the messages of a push; if one is too large, without commits, or with few refs each. */
function fitting(push: DescribedPush, tell: (push: DescribedPush) => Message[]): Message[] {
  const isFit = ({ body }: Message): boolean => Buffer.byteLength(body) <= MAX_BODY_BYTES;
  const messages = tell(push);
  if (messages.every(isFit)) return messages;
  const thin = { ...push, refs: push.refs.map((ref) => ({ ...withoutHead(ref), commits: null })) };
  const thinned = tell(push.refs.length === 1 ? { ...push, refs: [{ ...push.refs[0]!, commits: null }] } : thin);
  return thinned.every(isFit) ? thinned : splitPush(thin, FEW_REFS).flatMap(tell);
}

/** Splits a push into parts of this many refs. */
function splitPush({ refs, refsFrom = 0, ...push }: DescribedPush, count: number): DescribedPush[] {
  const parts: DescribedPush[] = [];
  for (let from = 0; from < refs.length; from += count) {
    const first = refsFrom + from;
    parts.push({ ...push, refs: refs.slice(from, from + count), ...(first > 0 && { refsFrom: first }) });
  }
  return parts;
}

/** Makes the message that tests a webhook. */
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
  const body = JSON.stringify({ type, timestamp, id, data: { repository, who, ...withoutHeads(data) } });
  return [{ id: `${source.id}-${id}${refsSuffix(data)}`, type, body }];
}

/** Suffix of the ids of a push's messages after the first. */
function refsSuffix({ refsFrom }: RepositoryEventRecord["data"]): string {
  return refsFrom === undefined ? "" : `-${refsFrom as number}`;
}

/** Removes the refs' commits: in the log and in the standard format a ref's commit is among its
 * commits, or known from before. */
export function withoutHeads(data: RepositoryEventRecord["data"]): RepositoryEventRecord["data"] {
  if (data["refs"] === undefined) return data;
  const { refs } = data as unknown as DescribedPush;
  return { ...data, refs: refs.map(withoutHead) };
}

function withoutHead(ref: MovedRef): MovedRef {
  const { head: _, ...rest } = ref;
  return rest;
}

function describeRepository({ origin }: Webhook, { id, owner, name }: MessageSource) {
  // Messages to the queue have no URL.
  return { id, owner, name, ...(origin !== "" && { url: `${origin}/${owner}/${name}` }) };
}

/** Makes the message for the owner's log, with all data that messages to its own webhooks need. */
function ownedEvents(_: Webhook, repository: MessageSource, event: RepositoryEventRecord): Message[] {
  return [{ id: event.id, type: event.type, body: JSON.stringify({ repository, event } satisfies OwnedEvent) }];
}

/** Truncates the messages of commits. */
function shortenPush(push: DescribedPush): DescribedPush {
  const refs = push.refs.map((ref) => ({
    ...ref,
    commits: ref.commits?.map(shorten) ?? null,
    ...(ref.head !== undefined && { head: ref.head && shorten(ref.head) }),
  }));
  return { ...push, refs };
}

function shorten(commit: CommitRecord): CommitRecord {
  const { message } = commit;
  if (message.length <= MAX_MESSAGE_CHARS) return commit;
  return { ...commit, message: message.slice(0, MAX_MESSAGE_CHARS), messageTruncated: true };
}

/** Whether a webhook has received all events. */
export function isUpToDate({ told }: Pick<Webhook, "told">, newest: Webhook["told"]): boolean {
  return compareEventIds(told, newest) >= 0;
}
