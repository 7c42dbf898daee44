import { GitError } from "./errors.ts";

/** Limits the steps that one request may spend on paths and patterns. Few trees can have endless
 * paths, and a hostile pattern takes time in proportion to its length times the path's. So the
 * limit applies to the sum over everything visited, whether it matches or not. It counts steps,
 * because the runtime's clock stands still while code runs. */
export class StepBudget {
  readonly #what: string;
  #limit: number;
  #spent = 0;

  /** @param limit steps: a step of a pattern by a byte, or a visit to a pattern or a path, some
   *   40 ns
   * @param what noun for the message */
  constructor(limit: number, what = "matching paths (steps)") {
    this.#limit = limit;
    this.#what = what;
  }

  /** Steps so far. */
  get spent(): number {
    return this.#spent;
  }

  /** Raises the limit, for work that costs no more than storing its input did. */
  allow(steps: number): void {
    this.#limit += steps;
  }

  /** @throws GitError "too-large" when the limit is exceeded */
  spend(steps: number): void {
    this.#spent += steps;
    if (this.#spent > this.#limit) throw new GitError("too-large", { what: this.#what, limit: this.#limit });
  }
}
