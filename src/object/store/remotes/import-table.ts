import { tableExists } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";
import type { ImportRecord } from "../../../contract/remotes.ts";

/** Created with the first import: most repositories never have one. */
const TABLE = `
CREATE TABLE IF NOT EXISTS imports ( -- at most one row
  id INTEGER PRIMARY KEY CHECK (id = 1),
  record TEXT NOT NULL,            -- JSON of an ImportRecord
  authorization BLOB               -- for the upstream, encrypted; NULL: none
);
`;

/** The repository's import: table `imports`. Writing methods must run in a transaction. */
export class ImportTable {
  readonly #sql: Sql;
  /** Cached row, which every push needs; undefined: not read yet. */
  #record: ImportRecord | null | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Reads the last import; null: there was none, or it was removed. */
  read(): ImportRecord | null {
    if (this.#record === undefined) {
      const rows = tableExists(this.#sql, "imports")
        ? this.#sql.exec<{ record: string }>("SELECT record FROM imports").toArray()
        : [];
      this.#record = rows.length === 0 ? null : (JSON.parse(rows[0]!.record) as ImportRecord);
    }
    return this.#record;
  }

  /** Reads the encrypted credential for the upstream; null: none. */
  readAuthorization(): Uint8Array | null {
    if (this.read() === null) return null;
    const [row] = this.#sql.exec<{ authorization: ArrayBuffer | null }>("SELECT authorization FROM imports").toArray();
    const { authorization = null } = row ?? {};
    return authorization === null ? null : new Uint8Array(authorization);
  }

  /** Stores an import, replacing the last one. */
  begin(record: ImportRecord, authorization: Uint8Array | null): void {
    this.#sql.exec(TABLE);
    this.#sql.exec(
      "INSERT OR REPLACE INTO imports (id, record, authorization) VALUES (1, ?, ?)",
      JSON.stringify(record),
      authorization,
    );
    this.#record = record;
  }

  /** Changes the import. Removes the credential of an import that ends. */
  update(record: ImportRecord): void {
    const hasEnded = record.state === "done" || record.state === "failed";
    const forget = hasEnded ? ", authorization = NULL" : "";
    this.#sql.exec(`UPDATE imports SET record = ?${forget}`, JSON.stringify(record));
    this.#record = record;
  }

  /** Removes the import. */
  remove(): void {
    if (this.read() !== null) this.#sql.exec("DELETE FROM imports");
    this.#record = null;
  }

  /** Clears the cache, which may differ from the table. */
  forget(): void {
    this.#record = undefined;
  }
}
