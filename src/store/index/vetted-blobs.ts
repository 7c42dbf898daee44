import type { Sql } from "../sql/sql.ts";

/** Stored blobs that passed the checks which git makes of a blob by its name: table `vetted_blobs`. A tree that names one of
 * them again is then no reason to read it. */
export class VettedBlobs {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The names a blob was checked as, a bit each; 0: none. */
  names(object: number): number {
    const [row] = this.#sql
      .exec<{ names: number }>("SELECT names FROM vetted_blobs WHERE object = ?", object)
      .toArray();
    return row?.names ?? 0;
  }

  /** Notes that a blob passed the checks of these names. */
  add(object: number, names: number): void {
    this.#sql.exec(
      `INSERT INTO vetted_blobs (object, names) VALUES (?, ?)
        ON CONFLICT (object) DO UPDATE SET names = names | excluded.names`,
      object,
      names,
    );
  }
}
