import { GitError } from "../../../base/format/errors.ts";
import type { ObjectNumber } from "../../../base/numbers/kinds.ts";
import { NumberSet } from "../../../base/numbers/number-set.ts";
import { BLOB_MAX_BYTES, type Sql } from "../sql/sql.ts";

/** Object numbers that no id leads to: table `pruned`. Pruned objects have no row any more.
 * Hidden objects have a row, because other entries are deltas on theirs, but count as missing
 * everywhere else: a fork hides objects of its parent that it did not take over. */
export class AbsentObjects {
  readonly #sql: Sql;
  #known: { readonly pruned: NumberSet; readonly hidden: NumberSet } | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Clears the cache, which may differ from the table. */
  forget(): void {
    this.#known = null;
  }

  get pruned(): NumberSet {
    return this.#read().pruned;
  }

  get hidden(): NumberSet {
    return this.#read().hidden;
  }

  /** Whether a number is pruned or hidden. */
  has(number: ObjectNumber): boolean {
    return this.pruned.has(number) || this.hidden.has(number);
  }

  /** The highest pruned number; 0: none. */
  get lastPruned(): ObjectNumber {
    return this.pruned.size === 0 ? 0 : this.pruned.last;
  }

  /** Sets both sets; must run in a transaction.
   * @throws GitError "too-large" when they do not fit into a row */
  set(pruned: NumberSet, hidden: NumberSet): void {
    // Stores an empty set as NULL, because an empty BLOB may come back as NULL.
    const encode = (set: NumberSet): Uint8Array | null => (set.size === 0 ? null : set.encode());
    const [numbers, hiddenNumbers] = [encode(pruned), encode(hidden)];
    const actual = (numbers?.length ?? 0) + (hiddenNumbers?.length ?? 0);
    if (actual > BLOB_MAX_BYTES) {
      throw new GitError("too-large", { what: "the set of pruned objects", limit: BLOB_MAX_BYTES, actual });
    }
    const last = pruned.size === 0 ? 0 : pruned.last;
    const write = "INSERT OR REPLACE INTO pruned (id, last, numbers, hidden) VALUES (1, ?, ?, ?)";
    this.#sql.exec(write, last, numbers, hiddenNumbers);
    this.#known = { pruned, hidden };
  }

  #read(): { readonly pruned: NumberSet; readonly hidden: NumberSet } {
    if (this.#known !== null) return this.#known;
    const [row] = this.#sql
      .exec<{ numbers: ArrayBuffer; hidden: ArrayBuffer | null }>("SELECT numbers, hidden FROM pruned")
      .toArray();
    const decode = (bytes: ArrayBuffer | null | undefined): NumberSet =>
      bytes === null || bytes === undefined ? NumberSet.EMPTY : NumberSet.decode(new Uint8Array(bytes));
    return (this.#known = { pruned: decode(row?.numbers), hidden: decode(row?.hidden) });
  }
}
