import { NumberSet } from "../numbers/number-set.ts";
import type { Sql } from "../sql/sql.ts";

/** Which objects came from others of the family: column `repository.shared`. They do not count
 * against a quota, nor do chunks in R2 objects of others. */
export class SharedObjects {
  readonly #sql: Sql;
  #known: { readonly key: string; readonly numbers: NumberSet } | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Their numbers. */
  get numbers(): NumberSet {
    return this.#read().numbers;
  }

  /** What the keys of the repository's own R2 objects begin with. */
  get ownPrefix(): string {
    return `${this.#read().key}/`;
  }

  /** Adds objects; must run in a transaction. */
  add(numbers: NumberSet): void {
    const all = this.numbers.union(numbers);
    this.#known = null;
    this.#sql.exec("UPDATE repository SET shared = ?", all.encode());
  }

  #read(): { readonly key: string; readonly numbers: NumberSet } {
    if (this.#known !== null) return this.#known;
    const { key, shared } = this.#sql
      .exec<{ key: string; shared: ArrayBuffer | null }>("SELECT key, shared FROM repository")
      .one();
    const numbers = shared === null ? NumberSet.EMPTY : NumberSet.decode(new Uint8Array(shared));
    return (this.#known = { key, numbers });
  }
}
