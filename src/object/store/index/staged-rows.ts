// Index rows that are written ahead of the transaction that makes them valid: a large push has
// megabytes of them, and no request is served while a transaction runs. They are above all others,
// in pages and a run of their own. Until they are valid, table `staged` records from where on the
// index must not be read; if their writer dies, they are removed when the object wakes.
import type { ObjectNumber } from "../../../base/numbers/kinds.ts";
import type { Sql } from "../sql/sql.ts";

/** Positions of the staged rows. */
export interface Staged {
  /** First number of their first page. */
  readonly first: ObjectNumber;
  /** Number of their run of ids. */
  readonly run: number;
}

/** The positions of staged rows, if there are any: table `staged`. */
export class StagedRows {
  readonly #sql: Sql;
  /** Undefined: not read yet. */
  #staged: Staged | null | undefined;
  /** Positions of the last staged rows. Their writer recognises them by this object. */
  #last: Staged | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Clears the cache, which may differ from the table. */
  forget(): void {
    this.#staged = undefined;
  }

  /** Positions of the staged rows; null: there are none. */
  get(): Staged | null {
    if (this.#staged !== undefined) return this.#staged;
    const [row] = this.#sql.exec<{ first: number; run: number }>("SELECT first, run FROM staged").toArray();
    if (row === undefined) return (this.#staged = null);
    const { first, run } = row;
    if (this.#last?.first !== first || this.#last.run !== run) this.#last = { first, run };
    return (this.#staged = this.#last);
  }

  /** Records the positions of rows that are about to be staged; there must be none yet. */
  begin(staged: Staged): void {
    this.#sql.exec("INSERT INTO staged (id, first, run) VALUES (1, ?, ?)", staged.first, staged.run);
    this.#staged = this.#last = staged;
  }

  /** Records that there are no staged rows any more: they are valid, or removed. */
  end(): void {
    this.#sql.exec("DELETE FROM staged");
    this.#staged = null;
  }
}
