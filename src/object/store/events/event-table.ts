import type { EventId } from "../../../base/format/event-id.ts";
import { tableExists } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";

/** Created with the first event that is no push. */
const TABLE = `
CREATE TABLE IF NOT EXISTS events (
  push INTEGER NOT NULL,           -- id of the newest push at the time; 0: there was none
  other INTEGER NOT NULL,          -- counts up from 1
  time_ms INTEGER NOT NULL,
  who TEXT,                        -- as in pushes
  type TEXT NOT NULL,
  data TEXT NOT NULL,              -- JSON
  PRIMARY KEY (push, other)
) WITHOUT ROWID;
`;

/** Limits of the kept events: number and age. */
const MAX_EVENTS = 10_000;
const EVENT_LIFE_MS = 30 * 24 * 60 * 60_000;

/** An event of the repository other than a push. */
export interface OtherEvent extends EventId {
  readonly timeMs: number;
  /** The name of the caller, byte string; null: unknown. */
  readonly who: string | null;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Events other than pushes: table `events`. Pushes are read from the reflog, so that a push
 * writes no further row. */
export class EventTable {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Records an event, and drops up to two that exceed the limits; must run in a transaction. */
  add({ push, timeMs, who, type, data }: Omit<OtherEvent, "other">): void {
    this.#sql.exec(TABLE);
    const other = (this.newest()?.other ?? 0) + 1;
    this.#sql.exec(
      "INSERT INTO events (push, other, time_ms, who, type, data) VALUES (?, ?, ?, ?, ?, ?)",
      push,
      other,
      timeMs,
      who,
      type,
      JSON.stringify(data),
    );
    this.#sql.exec(
      `DELETE FROM events WHERE (push, other) IN (SELECT push, other FROM
        (SELECT push, other, time_ms FROM events ORDER BY push, other LIMIT 2) WHERE other <= ? OR time_ms < ?)`,
      other - MAX_EVENTS,
      timeMs - EVENT_LIFE_MS,
    );
  }

  /** Lists the next events after a position, in order. */
  after({ push, other }: EventId, limit: number): OtherEvent[] {
    if (!this.#exists) return [];
    const query = `SELECT push, other, time_ms AS timeMs, who, type, data FROM events
      WHERE (push, other) > (?, ?) ORDER BY push, other LIMIT ?`;
    const rows = this.#sql.exec<Omit<OtherEvent, "data"> & { data: string }>(query, push, other, limit).toArray();
    return rows.map((row) => ({ ...row, data: JSON.parse(row.data) as Record<string, unknown> }));
  }

  /** Position of the newest event; null: there is none. */
  newest(): EventId | null {
    return this.#end("DESC");
  }

  /** Position of the newest event before a time; null: none is kept. Reads a row for each later
   * event. */
  newestBefore(timeMs: number): EventId | null {
    if (!this.#exists) return null;
    const query = "SELECT push, other FROM events WHERE time_ms < ? ORDER BY push DESC, other DESC LIMIT 1";
    return this.#sql.exec<{ push: number; other: number }>(query, timeMs).toArray()[0] ?? null;
  }

  /** Position of the oldest kept event. */
  oldest(): EventId | null {
    return this.#end("ASC");
  }

  #end(order: "ASC" | "DESC"): EventId | null {
    if (!this.#exists) return null;
    const query = `SELECT push, other FROM events ORDER BY push ${order}, other ${order} LIMIT 1`;
    return this.#sql.exec<{ push: number; other: number }>(query).toArray()[0] ?? null;
  }

  get #exists(): boolean {
    return tableExists(this.#sql, "events");
  }
}
