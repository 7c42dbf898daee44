import { GitError } from "./errors.ts";

/** What one request's looking at paths and patterns may cost. A few trees have paths without end, and a hostile pattern takes time in
 * proportion to its length times the path's: only the sum can be bounded, of all that is visited, found or not. Told by steps, as the
 * runtime's clock stands still while code runs. */
export class StepBudget {
  readonly #what: string;
  #limit: number;
  #spent = 0;

  /** @param limit steps: a step of a pattern by a byte, or a look at a pattern or a path, of some 40 ns
   * @param what the noun for the message */
  constructor(limit: number, what = "matching paths (steps)") {
    this.#limit = limit;
    this.#what = what;
  }

  /** Steps so far. */
  get spent(): number {
    return this.#spent;
  }

  /** Allows more: for what costs no more than it costs to store it. */
  allow(steps: number): void {
    this.#limit += steps;
  }

  /** @throws GitError "too-large" when the steps are more than there may be */
  spend(steps: number): void {
    this.#spent += steps;
    if (this.#spent > this.#limit) throw new GitError("too-large", { what: this.#what, limit: this.#limit });
  }
}
