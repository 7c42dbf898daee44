import type { DatabaseSync } from "node:sqlite";
import type { SqlBinding, SqlCursor, SqlValue } from "../../../src/object/store/sql/sql.ts";
import { NodeSql } from "../sqlite.ts";

/** One process's connection to a database. Each of its statements can fail before its effect. Its
 * transactions are savepoints, so that all of them can run inside one that is rolled back.
 *
 * A statement outside a transaction is final at once. The platform commits everything written
 * between two awaits together. So every state that a crash can leave there can occur here, and
 * more. */
export class FaultySql extends NodeSql {
  readonly #meet: (query: string) => void;

  /** @param meet called with each statement before its effect; when it throws, the statement fails
   * with that error */
  constructor(database: DatabaseSync, meet: (query: string) => void) {
    super(database);
    this.#meet = meet;
  }

  override exec<T extends Record<string, SqlValue>>(query: string, ...bindings: SqlBinding[]): SqlCursor<T> {
    // Uncommitted changes are rolled back, also those of a dead process.
    if (query === "ROLLBACK") {
      super.exec("ROLLBACK TO inner");
      return super.exec("RELEASE inner");
    }
    this.#meet(query);
    if (query === "BEGIN") return super.exec("SAVEPOINT inner");
    return super.exec(query === "COMMIT" ? "RELEASE inner" : query, ...bindings);
  }

  override erase(): void {
    this.#meet("deleteAll");
    super.erase();
  }
}
