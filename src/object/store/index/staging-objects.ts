// Stages index rows that exceed memory, as they arrive. Four bytes of each id stay in memory, by
// which the ids are sorted at the end.
import { type IdRuns, prefixesOf, toEntryParts } from "./id-runs.ts";
import type { ObjectColumns } from "./object-columns.ts";
import type { Fence, ObjectPages } from "./object-pages.ts";
import type { PreparedObjects } from "./prepared-objects.ts";
import type { Staged } from "./staged-rows.ts";

/** The tables to which rows are written. */
interface Writers {
  readonly pages: ObjectPages;
  readonly ids: IdRuns;
  checkNew(rows: ObjectColumns): void;
  /** Removes staged rows, unless another writer has begun since. */
  unstage(): void;
}

/** Index rows that are staged as they arrive.
 * @see ObjectIndex.beginStaging */
export class StagingObjects {
  readonly #staged: Staged;
  readonly #writers: Writers;
  readonly #fences: Fence[] = [];
  readonly #prefixes: Uint32Array;

  constructor(staged: Staged, count: number, writers: Writers) {
    this.#staged = staged;
    this.#writers = writers;
    this.#prefixes = new Uint32Array(count);
  }

  /** Writes rows, ascending by number. Takes some milliseconds for `PAGE_ROWS`, the number that
   * every call but the last should have.
   * @throws GitError "storage-failed" when a number or an id exists already */
  add(rows: ObjectColumns): void {
    this.#writers.checkNew(rows);
    for (const fence of this.#writers.pages.addStaged(rows)) this.#fences.push(fence);
    this.#prefixes.set(prefixesOf(rows.oid), rows.number[0]! - this.#staged.first);
  }

  /** Writes the ids. Yields after each row. */
  *finish(): Generator<void, PreparedObjects> {
    const ids = yield* this.#writers.ids.stage(toEntryParts(this.#prefixes, this.#staged.first));
    return { rows: { former: null, pages: [], staged: this.#fences }, ids, staged: this.#staged };
  }

  /** Removes the staged rows, unless another writer has begun since. */
  abandon(): void {
    this.#writers.unstage();
  }
}
