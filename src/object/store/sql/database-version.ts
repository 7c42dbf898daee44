import { refuseNewer } from "../../../base/failures/known-failures.ts";
import { tableExists } from "./schema.ts";
import type { Sql } from "./sql.ts";

/** The version of a database that is no repository's: those have it in `repository`. */
const TABLE = `
CREATE TABLE IF NOT EXISTS schema_version (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  version INTEGER NOT NULL
);
`;

/** Refuses a database that a newer release wrote; one that has no version is of the first.
 * @throws GitError "newer-data" */
export function checkDatabase(sql: Sql, what: string, known: number): void {
  refuseNewer(what, readVersion(sql) ?? 1, known);
}

/** Notes the version that a database has now; a row is written when it is another one. */
export function noteVersion(sql: Sql, version: number): void {
  if (readVersion(sql) === version) return;
  sql.exec(TABLE);
  sql.exec("INSERT OR REPLACE INTO schema_version (id, version) VALUES (1, ?)", version);
}

/** Null: it has none. */
function readVersion(sql: Sql): number | null {
  if (!tableExists(sql, "schema_version")) return null;
  return sql.exec<{ version: number }>("SELECT version FROM schema_version").toArray()[0]?.version ?? null;
}
