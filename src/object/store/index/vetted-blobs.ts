import type { ObjectNumber } from "../../../base/numbers/kinds.ts";
import type { NumberSet } from "../../../base/numbers/number-set.ts";
import type { Sql } from "../sql/sql.ts";

/** Stored blobs that passed git's checks for special file names: table `vetted_blobs`. They need
 * not be read again when another tree names them. */
export class VettedBlobs {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Names for which a blob was checked, one bit each; 0: none. */
  names(object: ObjectNumber): number {
    const [row] = this.#sql
      .exec<{ names: number }>("SELECT names FROM vetted_blobs WHERE object = ?", object)
      .toArray();
    return row?.names ?? 0;
  }

  /** Lists those of the objects that were checked, with the names. */
  among(objects: NumberSet): [object: ObjectNumber, names: number][] {
    const rows = this.#sql.exec<{ object: number; names: number }>("SELECT object, names FROM vetted_blobs");
    return rows
      .toArray()
      .filter(({ object }) => objects.has(object))
      .map(({ object, names }) => [object, names]);
  }

  /** Records that a blob passed the checks for these names. */
  add(object: ObjectNumber, names: number): void {
    this.#sql.exec(
      `INSERT INTO vetted_blobs (object, names) VALUES (?, ?)
        ON CONFLICT (object) DO UPDATE SET names = names | excluded.names`,
      object,
      names,
    );
  }
}
