import type { EventId } from "../../../base/format/event-id.ts";
import { checkDatabase, noteVersion } from "../sql/database-version.ts";
import { tableExists } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";

/** Created with the first listener. */
const TABLES = `
CREATE TABLE IF NOT EXISTS owner (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  since_ms INTEGER,                -- when the log began; NULL: nobody listens, and there is none
  heard_ms INTEGER NOT NULL,       -- when somebody last listened, precise to an hour
  first INTEGER NOT NULL,          -- number of its first event
  visited TEXT                     -- JSON: name of the last repository that was told to tell, '' none; NULL: all were
);
CREATE TABLE IF NOT EXISTS owner_events (
  number INTEGER PRIMARY KEY,
  repository TEXT NOT NULL,        -- its id
  push INTEGER NOT NULL,           -- the event's place in the log of its repository
  other INTEGER NOT NULL,
  time_ms INTEGER NOT NULL,
  event TEXT NOT NULL              -- JSON: OwnedEvent, at most 70 KB
);
CREATE UNIQUE INDEX IF NOT EXISTS told_once ON owner_events(repository, push, other);
`;

/** Newest schema of an owner's tables, those of webhooks included. */
const SCHEMA_VERSION = 1;

/** Limits of the kept events: number and age. */
const MAX_EVENTS = 10_000;
const EVENT_LIFE_MS = 30 * 24 * 60 * 60_000;

/** An owner's log, which begins with the first listener. */
export interface OwnerLogRecord {
  readonly sinceMs: number | null;
  readonly heardMs: number;
  readonly first: number;
  /** @see TABLES */
  readonly visited: string | null;
}

/** An event as its repository reported it. */
interface NewOwnerEvent {
  /** Id of the event's repository. */
  readonly repository: string;
  /** The event's position in that repository's log. */
  readonly place: EventId;
  readonly timeMs: number;
  /** The event as JSON. */
  readonly event: string;
}

/** A kept event. */
interface StoredOwnerEvent {
  /** Number that grows from one event to the next. */
  readonly number: number;
  readonly event: string;
}

/** The events of an owner's repositories: tables `owner` and `owner_events`. Writing methods
 * must run in a transaction. */
export class OwnerEventTable {
  readonly #sql: Sql;

  /** @throws GitError "newer-data" */
  constructor(sql: Sql) {
    checkDatabase(sql, "log of the owner", SCHEMA_VERSION);
    this.#sql = sql;
  }

  /** Reads the log's record; null: there was never a listener. */
  read(): OwnerLogRecord | null {
    if (!tableExists(this.#sql, "owner")) return null;
    const query = "SELECT since_ms AS sinceMs, heard_ms AS heardMs, first, visited FROM owner";
    return this.#sql.exec<Record<keyof OwnerLogRecord, never>>(query).toArray()[0] ?? null;
  }

  /** Begins the log, or changes its record. */
  put({ sinceMs, heardMs, first, visited }: OwnerLogRecord): void {
    this.#sql.exec(TABLES);
    noteVersion(this.#sql, SCHEMA_VERSION);
    this.#sql.exec(
      "INSERT OR REPLACE INTO owner (id, since_ms, heard_ms, first, visited) VALUES (1, ?, ?, ?, ?)",
      sinceMs,
      heardMs,
      first,
      visited,
    );
  }

  /** Adds an event to the log, which must have begun, and drops up to two that exceed the limits.
   * @returns whether the event was new */
  add({ repository, place: { push, other }, timeMs, event }: NewOwnerEvent): boolean {
    const added = this.#sql.exec<{ number: number }>(
      `INSERT OR IGNORE INTO owner_events (number, repository, push, other, time_ms, event)
        VALUES (?, ?, ?, ?, ?, ?) RETURNING number`,
      this.newest() + 1,
      repository,
      push,
      other,
      timeMs,
      event,
    );
    const [row] = added.toArray();
    if (row === undefined) return false;
    this.#sql.exec(
      `DELETE FROM owner_events WHERE number IN (SELECT number FROM
        (SELECT number, time_ms FROM owner_events ORDER BY number LIMIT 2) WHERE number <= ? OR time_ms < ?)`,
      row.number - MAX_EVENTS,
      Date.now() - EVENT_LIFE_MS,
    );
    return true;
  }

  /** Lists the next events after a number, in order. */
  after(number: number, limit: number): StoredOwnerEvent[] {
    if (!tableExists(this.#sql, "owner_events")) return [];
    const query = "SELECT number, event FROM owner_events WHERE number > ? ORDER BY number LIMIT ?";
    return this.#sql.exec<Record<keyof StoredOwnerEvent, never>>(query, number, limit).toArray();
  }

  /** Number of the newest event; null: there is none. */
  last(): number | null {
    return this.#end("max");
  }

  /** Number of the newest event; without events, the number before the first one to come. */
  newest(): number {
    return this.last() ?? this.oldest() - 1;
  }

  /** Number of the oldest kept event; without events, the number of the first one to come. */
  oldest(): number {
    return this.#end("min") ?? this.read()?.first ?? 1;
  }

  /** Removes all events. */
  clear(): void {
    this.#sql.exec("DELETE FROM owner_events");
  }

  #end(which: "min" | "max"): number | null {
    if (!tableExists(this.#sql, "owner_events")) return null;
    return this.#sql.exec<{ number: number | null }>(`SELECT ${which}(number) AS number FROM owner_events`).one()
      .number;
  }
}
