import { NULL_OID_HEX } from "../../base/format/oid.ts";
import type { Webhook } from "../../contract/webhooks.ts";
import type { CommitRecord, IdentRecord } from "../../contract/commits.ts";
import type { DescribedPush, MovedRef } from "./described-push.ts";
import type { RepositoryEventRecord } from "../../contract/events.ts";
import type { Message, MessageSource, PingSource } from "./message.ts";

/** Value of GitHub's numeric ids of repositories and users, which do not exist here. */
const NO_NUMBER = 0;

/** Makes GitHub's messages for a push: for each branch and tag `create` if it is new, `push`, and
 * `delete` if it is gone. Other events have none.
 * @see https://docs.github.com/en/webhooks/webhook-events-and-payloads */
export function githubMessages(webhook: Webhook, source: MessageSource, event: RepositoryEventRecord): Message[] {
  const repository = describeRepository(webhook, source);
  const sender = describeSender(event.who);
  const message = (type: string, about: string, content: object): Message => ({
    id: `${source.id}-${event.id}-${type}${about}`,
    type,
    body: JSON.stringify({ ...content, repository, sender }),
  });
  if (event.type !== "push") return [];
  const { refs, refsFrom = 0 } = event.data as unknown as DescribedPush;
  return refs.flatMap((ref, i) => {
    const [, kind, name] = /^refs\/(heads|tags)\/(.*)$/s.exec(ref.name) ?? [];
    if (kind === undefined) return [];
    const about = `-${refsFrom + i}`;
    const named = { ref: name, ref_type: kind === "heads" ? "branch" : "tag", pusher_type: "user" };
    const created = { ...named, master_branch: source.defaultBranch ?? "main", description: null };
    return [
      ...(ref.old === null ? [message("create", about, created)] : []),
      message("push", about, describePush(repository.html_url, ref, sender.login)),
      ...(ref.new === null ? [message("delete", about, named)] : []),
    ];
  });
}

/** Makes the message that GitHub sends to test a webhook. */
export function githubPing(webhook: Webhook, source: PingSource, id: string): Message {
  const type = source.name === null ? "Organization" : "Repository";
  const hook = { type, id: NO_NUMBER, name: "web", active: true, events: webhook.events ?? ["*"] };
  const config = { url: webhook.url, content_type: "json", insecure_ssl: "0" };
  const about =
    source.name === null
      ? { organization: { login: source.owner, id: NO_NUMBER } }
      : { repository: describeRepository(webhook, source) };
  const ping = { zen: "Hold fast.", hook_id: NO_NUMBER, hook: { ...hook, config }, ...about };
  return { id, type: "ping", body: JSON.stringify({ ...ping, sender: describeSender(null) }) };
}

function describeSender(who: string | null) {
  return { login: who ?? "unknown", id: NO_NUMBER, type: "User" };
}

function describeRepository({ origin }: Webhook, { id, owner, name, defaultBranch }: MessageSource) {
  const url = `${origin}/${owner}/${name}`;
  return {
    id: NO_NUMBER,
    node_id: id,
    name,
    full_name: `${owner}/${name}`,
    owner: { name: owner, login: owner, id: NO_NUMBER, type: "User" },
    html_url: url,
    url,
    clone_url: `${url}.git`,
    git_url: `${url}.git`,
    ssh_url: `${url}.git`,
    default_branch: defaultBranch ?? "main",
    master_branch: defaultBranch ?? "main",
  };
}

function describePush(
  url: string,
  { name, old, new: to, forced, commits, commitCount, head = null }: MovedRef,
  pusher: string,
): object {
  const told = (commits ?? []).map((commit) => describeCommit(url, commit)).reverse();
  const after = to ?? NULL_OID_HEX;
  return {
    ref: name,
    before: old ?? NULL_OID_HEX,
    after,
    created: old === null,
    deleted: to === null,
    forced: forced ?? false,
    base_ref: null,
    compare: `${url}/compare/${old === null ? after : `${old}...${after}`}`,
    commits: told,
    ...(commitCount !== null && { size: commitCount, distinct_size: commitCount }),
    ...((commits === null || told.length < (commitCount ?? 0)) && { commits_truncated: true }),
    head_commit: head === null ? (told.find(({ id }) => id === after) ?? null) : describeCommit(url, head),
    pusher: { name: pusher, email: null },
  };
}

/** Describes a commit, without the paths that it changed. */
function describeCommit(url: string, { oid, tree, message, messageTruncated, author, committer }: CommitRecord) {
  const person = ({ name, email, date }: IdentRecord) => ({ name, email, date });
  return {
    id: oid,
    tree_id: tree,
    distinct: true,
    message,
    ...(messageTruncated && { message_truncated: true }),
    timestamp: committer.date,
    url: `${url}/commit/${oid}`,
    author: person(author),
    committer: person(committer),
    added: [],
    removed: [],
    modified: [],
  };
}
