import { refuseNewer } from "../../../base/failures/known-failures.ts";
import { tableExists } from "./schema.ts";
import type { Sql } from "./sql.ts";

/** Table with the schema version of a database that is not a repository's; a repository has its
 * version in `repository`. */
const TABLE = `
CREATE TABLE IF NOT EXISTS schema_version (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  version INTEGER NOT NULL
);
`;

/** Refuses a database that a newer release wrote. One without a version counts as the first
 * version.
 * @throws GitError "newer-data" */
export function checkDatabase(sql: Sql, what: string, known: number): void {
  refuseNewer(what, readVersion(sql) ?? 1, known);
}

/** Records a database's schema version; writes a row only if it changed. */
export function noteVersion(sql: Sql, version: number): void {
  if (readVersion(sql) === version) return;
  sql.exec(TABLE);
  sql.exec("INSERT OR REPLACE INTO schema_version (id, version) VALUES (1, ?)", version);
}

/** Reads the version; null: there is none. */
function readVersion(sql: Sql): number | null {
  if (!tableExists(sql, "schema_version")) return null;
  return sql.exec<{ version: number }>("SELECT version FROM schema_version").toArray()[0]?.version ?? null;
}
