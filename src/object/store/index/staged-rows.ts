// Rows of the index that are written before the transaction which makes them count: a large push
// has megabytes of them, and nobody is served while a transaction runs. They lie above all others,
// in pages and a run of their own. Until they count, table `staged` says from where on the index
// must not be read; if its writer dies, they are removed when the object wakes.
import type { ObjectNumber } from "../../../base/numbers/kinds.ts";
import type { Sql } from "../sql/sql.ts";

/** Where staged rows begin. */
export interface Staged {
  /** First number of the first page. */
  readonly first: ObjectNumber;
  /** The run of ids. */
  readonly run: number;
}

/** Whether there are staged rows, and where: table `staged`. */
export class StagedRows {
  readonly #sql: Sql;
  /** Undefined: it must be read. */
  #staged: Staged | null | undefined;
  /** The last that there were. Who staged them knows them by this object. */
  #last: Staged | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Forgets what is in memory: it may differ from what is stored. */
  forget(): void {
    this.#staged = undefined;
  }

  /** Null: there are none. */
  get(): Staged | null {
    if (this.#staged !== undefined) return this.#staged;
    const [row] = this.#sql.exec<{ first: number; run: number }>("SELECT first, run FROM staged").toArray();
    if (row === undefined) return (this.#staged = null);
    const { first, run } = row;
    if (this.#last?.first !== first || this.#last.run !== run) this.#last = { first, run };
    return (this.#staged = this.#last);
  }

  /** Notes where rows that are about to be staged begin; there must be none yet. */
  begin(staged: Staged): void {
    this.#sql.exec("INSERT INTO staged (id, first, run) VALUES (1, ?, ?)", staged.first, staged.run);
    this.#staged = this.#last = staged;
  }

  /** Notes that there are none any more: they count, or are removed. */
  end(): void {
    this.#sql.exec("DELETE FROM staged");
    this.#staged = null;
  }
}
