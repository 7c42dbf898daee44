import type { Sql } from "../sql/sql.ts";
import type { ListeningOwner } from "../../../contract/registry.ts";

const TABLE = `
CREATE TABLE IF NOT EXISTS listening (
  owner TEXT PRIMARY KEY COLLATE NOCASE,
  since_ms INTEGER NOT NULL               -- when the owner's log began
) WITHOUT ROWID;
`;

/** The owners whose events somebody listens to: table `listening`. Each owner's object adds and
 * removes its own row. */
export class ListeningTable {
  readonly #sql: Sql;
  /** Cached result of `isAny`, which every report needs; null: unknown. */
  #isAny: boolean | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
    sql.exec(TABLE);
  }

  /** Whether any owner has listeners. */
  isAny(): boolean {
    return (this.#isAny ??= this.#sql.exec("SELECT 1 FROM listening LIMIT 1").toArray().length > 0);
  }

  /** Finds the owner of a repository, if the owner has listeners; else null. */
  ownerOf(repositoryId: string): ListeningOwner | null {
    const query = `SELECT repositories.owner AS owner, since_ms AS sinceMs FROM repositories
      CROSS JOIN listening USING (owner) WHERE id = ?`;
    return this.#sql.exec<Record<keyof ListeningOwner, never>>(query, repositoryId).toArray()[0] ?? null;
  }

  /** Records whether an owner has listeners.
   * @param sinceMs start of the log; null: there are no listeners any more */
  set(owner: string, sinceMs: number | null): void {
    this.#isAny = null;
    if (sinceMs === null) this.#sql.exec("DELETE FROM listening WHERE owner = ?", owner);
    else this.#sql.exec("INSERT OR REPLACE INTO listening (owner, since_ms) VALUES (?, ?)", owner, sinceMs);
  }
}
