import { tableExists } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";
import type { Webhook, WebhookSettings, DeliveryRecord, Delivery } from "../../../contract/webhooks.ts";
import { MAX_DELIVERIES } from "../../../base/format/table-limits.ts";

/** Created with the first webhook: most repositories never have one. */
const TABLES = `
CREATE TABLE IF NOT EXISTS webhooks (
  id TEXT PRIMARY KEY,
  created_ms INTEGER NOT NULL,
  settings TEXT NOT NULL,          -- JSON: WebhookSettings
  secret TEXT NOT NULL,
  former_secret TEXT,              -- signs as well until former_until_ms, else NULL
  former_until_ms INTEGER,
  push INTEGER NOT NULL,           -- place in the event log of the last event that it was told
  other INTEGER NOT NULL,
  part INTEGER NOT NULL,           -- messages of the next event that it was told
  due_ms INTEGER NOT NULL,         -- when the next attempt may be made
  failures INTEGER NOT NULL,       -- attempts in a row that failed
  failing_ms INTEGER,              -- when the first of them was made, else NULL
  disabled TEXT                    -- why nothing is sent; NULL: it is
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS deliveries (
  id INTEGER PRIMARY KEY,
  webhook TEXT NOT NULL,
  record TEXT NOT NULL             -- JSON: DeliveryRecord
);
CREATE INDEX IF NOT EXISTS delivered ON deliveries(webhook, id);
`;

/** Id of the row for the deployment's queue, which is stored like a webhook: events are
 * delivered to it unchanged, with a position of its own. */
export const QUEUE_ID = "queue";

/** Id of the row for the log of the repository's owner, which is stored like a webhook while it
 * has listeners: `url` is the owner's name. */
export const OWNER_ID = "owner";

/** The progress of a webhook that has not failed. */
export const READY = { dueMs: 0, failures: 0, failingMs: null, disabled: null };

/** Whether a subscriber is the queue or an owner's log, which nobody created and no list shows. */
export function isInner({ id }: Pick<Webhook, "id">): boolean {
  return id === QUEUE_ID || id === OWNER_ID;
}

type Row = Record<string, string | number | null>;

/** The webhooks of a repository or an owner, and their deliveries: tables `webhooks` and
 * `deliveries`. Writing methods must run in a transaction. */
export class WebhookTable {
  readonly #sql: Sql;
  /** Cached result of `isAnyActive`, which every push needs; null: unknown. */
  #isAnyActive: boolean | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Lists all webhooks, oldest first. */
  all(): Webhook[] {
    return this.subscribers().filter((one) => !isInner(one));
  }

  /** Lists all receivers of events: webhooks, the queue, and the owner's log, if they exist. */
  subscribers(): Webhook[] {
    if (!tableExists(this.#sql, "webhooks")) return [];
    return this.#sql.exec<Row>("SELECT * FROM webhooks ORDER BY created_ms, id").toArray().map(toWebhook);
  }

  /** Finds a subscriber; null: there is none with this id. */
  find(id: string): Webhook | null {
    return this.subscribers().find((one) => one.id === id) ?? null;
  }

  /** Whether any subscriber is active. */
  isAnyActive(): boolean {
    return (this.#isAnyActive ??= this.subscribers().some(({ disabled }) => disabled === null));
  }

  /** Stores or replaces a webhook. */
  put(webhook: Webhook): void {
    this.#isAnyActive = null;
    this.#sql.exec(TABLES);
    const { id, createdMs, secret, formerSecret, formerUntilMs, told, part, dueMs, failures, failingMs, disabled } =
      webhook;
    const { url, format, events, origin } = webhook;
    this.#sql.exec(
      `INSERT OR REPLACE INTO webhooks (id, created_ms, settings, secret, former_secret, former_until_ms, push, other, part,
        due_ms, failures, failing_ms, disabled) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      id,
      createdMs,
      JSON.stringify({ url, format, events, origin } satisfies WebhookSettings),
      secret,
      formerSecret,
      formerUntilMs,
      told.push,
      told.other,
      part,
      dueMs,
      failures,
      failingMs,
      disabled,
    );
  }

  /** Removes a webhook and its deliveries. */
  remove(id: string): void {
    this.#isAnyActive = null;
    this.#sql.exec("DELETE FROM webhooks WHERE id = ?", id);
    this.#sql.exec("DELETE FROM deliveries WHERE webhook = ?", id);
  }

  /** Stores a delivery attempt, replacing the oldest above the limit.
   * @returns its id */
  addDelivery(webhook: string, record: DeliveryRecord): number {
    const insert = "INSERT INTO deliveries (webhook, record) VALUES (?, ?) RETURNING id";
    const { id } = this.#sql.exec<{ id: number }>(insert, webhook, JSON.stringify(record)).one();
    this.#sql.exec(
      `DELETE FROM deliveries WHERE webhook = ?1 AND id <=
        (SELECT id FROM deliveries WHERE webhook = ?1 ORDER BY id DESC LIMIT 1 OFFSET ${MAX_DELIVERIES})`,
      webhook,
    );
    return id;
  }

  /** Lists the kept attempts, newest first. */
  deliveries(webhook: string): Delivery[] {
    if (!tableExists(this.#sql, "deliveries")) return [];
    const query = "SELECT id, record FROM deliveries WHERE webhook = ? ORDER BY id DESC";
    const rows = this.#sql.exec<{ id: number; record: string }>(query, webhook).toArray();
    return rows.map(({ id, record }) => ({ ...(JSON.parse(record) as DeliveryRecord), id }));
  }
}

function toWebhook(row: Row): Webhook {
  return {
    ...(JSON.parse(row["settings"] as string) as WebhookSettings),
    id: row["id"] as string,
    createdMs: row["created_ms"] as number,
    secret: row["secret"] as string,
    formerSecret: row["former_secret"] as string | null,
    formerUntilMs: row["former_until_ms"] as number | null,
    told: { push: row["push"] as number, other: row["other"] as number },
    part: row["part"] as number,
    dueMs: row["due_ms"] as number,
    failures: row["failures"] as number,
    failingMs: row["failing_ms"] as number | null,
    disabled: row["disabled"] as string | null,
  };
}
