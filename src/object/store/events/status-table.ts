import type { Oid } from "../../../base/format/oid.ts";
import { tableExists } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";
import type { StoredStatus } from "../../../contract/events.ts";
import { MAX_STATUSES } from "../../../base/format/table-limits.ts";

/** Created with the first status: most repositories never have one. */
const TABLE = `
CREATE TABLE IF NOT EXISTS statuses (
  id INTEGER PRIMARY KEY,          -- order of arrival
  oid BLOB NOT NULL,               -- of the commit
  context TEXT NOT NULL,
  time_ms INTEGER NOT NULL,
  who TEXT,                        -- as in pushes
  state TEXT NOT NULL,
  description TEXT,
  url TEXT,
  UNIQUE (oid, context)
);
`;

/** Statuses of commits: table `statuses`. */
export class StatusTable {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Stores a status, replacing the commit's former one in the context, and drops the oldest
   * above the limit; must run in a transaction. */
  put(oid: Oid, { context, timeMs, who, state, description, url }: StoredStatus): void {
    this.#sql.exec(TABLE);
    this.#sql.exec("DELETE FROM statuses WHERE oid = ? AND context = ?", oid, context);
    const { id } = this.#sql
      .exec<{ id: number }>(
        `INSERT INTO statuses (id, oid, context, time_ms, who, state, description, url)
          VALUES ((SELECT ifnull(max(id), 0) + 1 FROM statuses), ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
        oid,
        context,
        timeMs,
        who,
        state,
        description,
        url,
      )
      .one();
    this.#sql.exec("DELETE FROM statuses WHERE id <= ?", id - MAX_STATUSES);
  }

  /** Lists a commit's statuses, by context. */
  of(oid: Oid): StoredStatus[] {
    if (!tableExists(this.#sql, "statuses")) return [];
    const query =
      "SELECT context, time_ms AS timeMs, who, state, description, url FROM statuses WHERE oid = ? ORDER BY context";
    return this.#sql
      .exec<{ [Field in keyof StoredStatus]: StoredStatus[Field] } & Record<string, string | number | null>>(query, oid)
      .toArray();
  }
}
