import { GitError } from "./errors.ts";

/** What the patterns of one request may cost. A hostile pattern takes time in proportion to its length times the path's, and there
 * are as many paths as a history has: only the sum can be bounded. Told by steps, as the runtime's clock stands still while code runs. */
export class MatchBudget {
  #limit: number;
  #spent = 0;

  /** @param limit steps: a step of a pattern by a byte, or a look at a pattern or a path, of some 40 ns */
  constructor(limit: number) {
    this.#limit = limit;
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
    if (this.#spent > this.#limit)
      throw new GitError("too-large", { what: "matching paths (steps)", limit: this.#limit });
  }
}
