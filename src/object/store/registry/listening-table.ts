import type { Sql } from "../sql/sql.ts";
import type { ListeningOwner } from "../../../contract/registry.ts";

const TABLE = `
CREATE TABLE IF NOT EXISTS listening (
  owner TEXT PRIMARY KEY COLLATE NOCASE,
  since_ms INTEGER NOT NULL               -- when the owner's log began
) WITHOUT ROWID;
`;

/** The owners to whose events somebody listens: table `listening`. Each owner's object enters and
 * removes its own row. */
export class ListeningTable {
  readonly #sql: Sql;
  /** Null: not known. Every report asks. */
  #isAny: boolean | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
    sql.exec(TABLE);
  }

  /** Whether anybody listens to any owner. */
  isAny(): boolean {
    return (this.#isAny ??= this.#sql.exec("SELECT 1 FROM listening LIMIT 1").toArray().length > 0);
  }

  /** The owner of a repository, if somebody listens to that; else null. */
  ownerOf(repositoryId: string): ListeningOwner | null {
    const query = `SELECT repositories.owner AS owner, since_ms AS sinceMs FROM repositories
      CROSS JOIN listening USING (owner) WHERE id = ?`;
    return this.#sql.exec<Record<keyof ListeningOwner, never>>(query, repositoryId).toArray()[0] ?? null;
  }

  /** Notes that somebody listens to an owner.
   * @param sinceMs null: nobody does any more */
  set(owner: string, sinceMs: number | null): void {
    this.#isAny = null;
    if (sinceMs === null) this.#sql.exec("DELETE FROM listening WHERE owner = ?", owner);
    else this.#sql.exec("INSERT OR REPLACE INTO listening (owner, since_ms) VALUES (?, ?)", owner, sinceMs);
  }
}
