import type { OpenRepository } from "../objects/open-repository.ts";
import { GitError } from "../../base/format/errors.ts";
import type {
  Delivery,
  DeliveryRecord,
  Webhook,
  WebhookSettings,
  NewWebhook,
  ShownWebhook,
  WebhookChange,
} from "../../contract/webhooks.ts";
import { RepositoryLog } from "./repository-log.ts";
import { MAX_WEBHOOKS } from "../../base/format/table-limits.ts";
import { READY, type WebhookTable } from "../store/events/webhook-table.ts";
import type { Deliverer } from "./deliverer.ts";
import type { Message } from "./message.ts";
import { pingOf } from "./messages.ts";
import { SECRET_PREFIX, sendMessage } from "./send-message.ts";
import type { ToldLog } from "./told-log.ts";

/** How long a replaced secret still signs, too (ms). */
const SECRET_OVERLAP_MS = 24 * 60 * 60_000;

const SECRET_BYTES = 32;

/** A log whose webhooks are read and changed. */
interface Hooked {
  readonly log: ToldLog;
  readonly deliverer: Pick<Deliverer, "start">;
}

/** Creates a webhook, which receives events from now on.
 * @param secret null: one is generated
 * @throws GitError "conflict" when there are too many, "invalid" for the address or the secret */
export async function createWebhook(
  { log }: Hooked,
  { secret, ...settings }: WebhookSettings & { readonly secret: string | null },
): Promise<NewWebhook> {
  log.receivers.checkAddress(toUrl(settings.url));
  checkSecret(settings.format, secret);
  if (tableOf(log).all().length >= MAX_WEBHOOKS) {
    const reason = `there are ${MAX_WEBHOOKS}; delete one first`;
    throw new GitError("conflict", { what: "webhook", reason });
  }
  const webhook: Webhook = {
    ...settings,
    id: crypto.randomUUID(),
    createdMs: Date.now(),
    secret: secret ?? newSecret(),
    formerSecret: null,
    formerUntilMs: null,
    told: log.newest(),
    part: 0,
    ...READY,
  };
  log.transact(() => tableOf(log).put(webhook));
  return { ...show(webhook), secret: webhook.secret };
}

/** Lists all webhooks, the oldest first. */
export async function webhooks({ log }: Hooked): Promise<ShownWebhook[]> {
  return tableOf(log).all().map(show);
}

/** Reads one webhook. @throws GitError "not-found" */
export async function webhook({ log }: Hooked, id: string): Promise<ShownWebhook> {
  return show(find(log, id));
}

/** Changes a webhook. An enabled one continues at once, at its cursor.
 * @throws GitError "not-found", "invalid" */
export async function changeWebhook(
  { log, deliverer }: Hooked,
  { id, enabled, ...change }: WebhookChange & { readonly id: string },
): Promise<ShownWebhook> {
  const before = find(log, id);
  if (change.url !== undefined) log.receivers.checkAddress(toUrl(change.url));
  const told = {
    ...before,
    url: change.url ?? before.url,
    events: change.events === undefined ? before.events : change.events,
  };
  const after: Webhook =
    enabled === true ? { ...told, ...READY } : enabled === false ? { ...told, disabled: "it was disabled" } : told;
  log.transact(() => tableOf(log).put(after));
  deliverer.start();
  return show(after);
}

/** Removes a webhook. @throws GitError "not-found" */
export async function deleteWebhook({ log }: Hooked, id: string): Promise<void> {
  find(log, id);
  log.transact(() => tableOf(log).remove(id));
}

/** Replaces a webhook's secret. In the standard format the former one still signs, too, for a day.
 * @param secret null: one is generated
 * @throws GitError "not-found", "invalid" */
export async function rotateSecret(
  { log }: Hooked,
  { id, secret }: { readonly id: string; readonly secret: string | null },
): Promise<NewWebhook> {
  const before = find(log, id);
  checkSecret(before.format, secret);
  const after: Webhook = {
    ...before,
    secret: secret ?? newSecret(),
    formerSecret: before.secret,
    formerUntilMs: Date.now() + SECRET_OVERLAP_MS,
  };
  log.transact(() => tableOf(log).put(after));
  return { ...show(after), secret: after.secret };
}

/** Tests a webhook, even a disabled one.
 * @returns the result
 * @throws GitError "not-found" */
export async function pingWebhook({ log }: Hooked, id: string): Promise<Delivery> {
  const target = find(log, id);
  return sendNow(log, target, "ping", pingOf(target, await log.describe()));
}

/** Lists the last deliveries, the newest first. @throws GitError "not-found" */
export async function deliveries({ log }: Hooked, id: string): Promise<Delivery[]> {
  find(log, id);
  return tableOf(log).deliveries(id);
}

/** Sends a message again unchanged, with a new signature, out of order.
 * @returns the result
 * @throws GitError "not-found" */
export async function redeliver(
  { log }: Hooked,
  { id, delivery }: { readonly id: string; readonly delivery: number },
): Promise<Delivery> {
  const target = find(log, id);
  const former = tableOf(log)
    .deliveries(id)
    .find((one) => one.id === delivery);
  if (former === undefined) throw new GitError("not-found", { what: "delivery" });
  const { messageId, type, event, request } = former;
  return sendNow(log, target, event, { id: messageId, type, body: request.body });
}

async function sendNow(log: ToldLog, target: Webhook, event: string, message: Message): Promise<Delivery> {
  const record: DeliveryRecord = await sendMessage(log.receivers, target, event, message);
  const { webhooks: table } = log;
  if (table === null || table.find(target.id) === null) throw new GitError("not-found", { what: "webhook" });
  const id = log.transact(() => table.addDelivery(target.id, record));
  return { ...record, id };
}

function show({
  secret: _secret,
  formerSecret: _former,
  told: _told,
  part: _part,
  origin: _origin,
  ...shown
}: Webhook): ShownWebhook {
  return shown;
}

function find(log: ToldLog, id: string): Webhook {
  const found = tableOf(log)
    .all()
    .find((one) => one.id === id);
  if (found === undefined) throw new GitError("not-found", { what: "webhook" });
  return found;
}

/** @throws GitError "not-found" when the log is gone */
function tableOf({ webhooks: table }: ToldLog): WebhookTable {
  if (table === null) throw new GitError("not-found", { subject: "repository" });
  return table;
}

function newSecret(): string {
  return SECRET_PREFIX + Buffer.from(crypto.getRandomValues(new Uint8Array(SECRET_BYTES))).toString("base64");
}

/** @throws GitError "invalid" for a secret that the format does not allow */
function checkSecret(format: WebhookSettings["format"], secret: string | null): void {
  if (secret === null || format === "github" || /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/.test(secret)) return;
  const reason = `in the standard format it is ${SECRET_PREFIX} and base64 of 24 to 64 bytes`;
  throw new GitError("invalid", { what: "secret", field: "secret", reason });
}

/** @throws GitError "invalid" */
function toUrl(text: string): URL {
  const url = URL.parse(text);
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
  if (isPlain) return url;
  throw new GitError("invalid", {
    what: "address",
    field: "url",
    reason: "it is no http or https URL, or names a user",
  });
}

/** The calls about a repository's webhooks, by name. */
export const WEBHOOK_CALLS = {
  webhooks: (repository: OpenRepository) => webhooks(hookedOf(repository)),
  webhook: onRepository(webhook),
  createWebhook: onRepository(createWebhook),
  changeWebhook: onRepository(changeWebhook),
  deleteWebhook: onRepository(deleteWebhook),
  rotateSecret: onRepository(rotateSecret),
  pingWebhook: onRepository(pingWebhook),
  deliveries: onRepository(deliveries),
  redeliver: onRepository(redeliver),
};

function onRepository<A, R>(call: (hooked: Hooked, argument: A) => R): (repository: OpenRepository, argument: A) => R {
  return (repository, argument) => call(hookedOf(repository), argument);
}

function hookedOf({ state }: OpenRepository): Hooked {
  return { log: new RepositoryLog(state), deliverer: state.teller };
}
