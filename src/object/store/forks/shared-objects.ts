import { NumberSet } from "../../../base/numbers/number-set.ts";
import type { Sql } from "../sql/sql.ts";

/** Which objects came from others of the family: column `repository.shared`. They do not count
 * against a quota. */
export class SharedObjects {
  readonly #sql: Sql;
  #numbers: NumberSet | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Their numbers. */
  get numbers(): NumberSet {
    if (this.#numbers !== null) return this.#numbers;
    const { shared } = this.#sql.exec<{ shared: ArrayBuffer | null }>("SELECT shared FROM repository").one();
    return (this.#numbers = shared === null ? NumberSet.EMPTY : NumberSet.decode(new Uint8Array(shared)));
  }

  /** Adds objects; must run in a transaction. */
  add(numbers: NumberSet): void {
    const all = this.numbers.union(numbers);
    this.#numbers = null;
    this.#sql.exec("UPDATE repository SET shared = ?", all.encode());
  }
}
