import type { DatabaseSync } from "node:sqlite";
import type { SqlBinding, SqlCursor, SqlValue } from "../../../src/store/sql/sql.ts";
import { NodeSql } from "../sqlite.ts";

/** One life's hold on a database, each of whose statements can fail before its effect. Its transactions are savepoints, so that all of them
 * can be inside one that is taken back.
 *
 * A statement outside a transaction is final at once. The platform commits all that is written between two waits together, so whatever a
 * death leaves there, it can leave here; more than that, too. */
export class FaultySql extends NodeSql {
  readonly #meet: (query: string) => void;

  /** @param meet is told of each statement before its effect; what it throws, the statement fails with */
  constructor(database: DatabaseSync, meet: (query: string) => void) {
    super(database);
    this.#meet = meet;
  }

  override exec<T extends Record<string, SqlValue>>(query: string, ...bindings: SqlBinding[]): SqlCursor<T> {
    // What was not committed is rolled back, also what a dead process began.
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
