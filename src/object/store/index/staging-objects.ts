// So many rows of the index that not all of them are in memory at a time: they are staged as they
// come. Of each, four bytes of its id stay, by which the ids are sorted at the end.
import { type IdRuns, prefixesOf, toEntryParts } from "./id-runs.ts";
import type { ObjectColumns } from "./object-columns.ts";
import type { Fence, ObjectPages } from "./object-pages.ts";
import type { PreparedObjects } from "./prepared-objects.ts";
import type { Staged } from "./staged-rows.ts";

/** What the rows are written by. */
interface Writers {
  readonly pages: ObjectPages;
  readonly ids: IdRuns;
  checkNew(rows: ObjectColumns): void;
  /** Removes what was staged, unless another has begun since. */
  unstage(): void;
}

/** Rows that are staged as they come. @see ObjectIndex.beginStaging */
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

  /** Writes rows, ascending by number. Some milliseconds for `PAGE_ROWS`, which each call but the
   * last should have.
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

  /** Removes what was written, unless another has begun since. */
  abandon(): void {
    this.#writers.unstage();
  }
}
