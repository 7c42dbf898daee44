import type { Sql } from "../sql/sql.ts";

const TABLE = `
CREATE TABLE IF NOT EXISTS listening (
  owner TEXT PRIMARY KEY COLLATE NOCASE,
  since_ms INTEGER NOT NULL               -- when the owner's log began
) WITHOUT ROWID;
`;

/** The owners to whose events somebody listens: table `listening`. Each owner's object enters and removes
 * its own row. */
export class ListeningTable {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
    sql.exec(TABLE);
  }

  /** When an owner's log began (ms since 1970); null: nobody listens. */
  sinceOf(owner: string): number | null {
    const query = "SELECT since_ms AS sinceMs FROM listening WHERE owner = ?";
    return this.#sql.exec<{ sinceMs: number }>(query, owner).toArray()[0]?.sinceMs ?? null;
  }

  /** Notes that somebody listens to an owner.
   * @param sinceMs null: nobody does any more */
  set(owner: string, sinceMs: number | null): void {
    if (sinceMs === null) this.#sql.exec("DELETE FROM listening WHERE owner = ?", owner);
    else this.#sql.exec("INSERT OR REPLACE INTO listening (owner, since_ms) VALUES (?, ?)", owner, sinceMs);
  }
}
