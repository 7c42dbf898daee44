import { NO_QUOTA, type Quota } from "../../../base/access/quota.ts";
import type { Sql } from "../sql/sql.ts";
import type { QuotaHolder } from "../../../contract/registry.ts";

const TABLE = `
CREATE TABLE IF NOT EXISTS quotas (
  scope TEXT NOT NULL CHECK (scope IN ('owner', 'repository')),
  holder TEXT NOT NULL COLLATE NOCASE,    -- the owner, or the repository's id
  max_bytes INTEGER,                      -- NULL: not set
  max_objects INTEGER,
  PRIMARY KEY (scope, holder)
) WITHOUT ROWID;
`;

/** Quotas of owners and repositories: table `quotas` of the registry. */
export class QuotaTable {
  readonly #sql: Sql;

  /** Creates the table if needed. */
  constructor(sql: Sql) {
    this.#sql = sql;
    sql.exec(TABLE);
  }

  /** The quota of a holder. */
  get(holder: QuotaHolder): Quota {
    const query = "SELECT max_bytes AS maxBytes, max_objects AS maxObjects FROM quotas WHERE scope = ? AND holder = ?";
    type Row = Record<keyof Quota, number | null>;
    const [scope, key] = keyOf(holder);
    return this.#sql.exec<Row>(query, scope, key).toArray()[0] ?? NO_QUOTA;
  }

  /** Sets the quota of a holder. */
  set(holder: QuotaHolder, { maxBytes, maxObjects }: Quota): void {
    if (maxBytes === null && maxObjects === null) this.forget(holder);
    else {
      const statement = "INSERT OR REPLACE INTO quotas (scope, holder, max_bytes, max_objects) VALUES (?, ?, ?, ?)";
      const [scope, key] = keyOf(holder);
      this.#sql.exec(statement, scope, key, maxBytes, maxObjects);
    }
  }

  /** Removes the quota of a holder. */
  forget(holder: QuotaHolder): void {
    const [scope, key] = keyOf(holder);
    this.#sql.exec("DELETE FROM quotas WHERE scope = ? AND holder = ?", scope, key);
  }
}

function keyOf(holder: QuotaHolder): [scope: string, holder: string] {
  return "owner" in holder ? ["owner", holder.owner] : ["repository", holder.repositoryId];
}
