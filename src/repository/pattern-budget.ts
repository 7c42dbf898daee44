import { MAX_PATTERN_STEPS } from "../format/limits.ts";
import { MatchBudget } from "../format/match-budget.ts";
import { pause } from "./pause.ts";

/** Steps after which others get a turn: some 10 ms. */
const STEPS_PER_TURN = 250_000;

/** A `MatchBudget` whose steps are taken in slices. */
export class PatternBudget extends MatchBudget {
  #pausedAt = 0;

  /** @param limit steps */
  constructor(limit = MAX_PATTERN_STEPS) {
    super(limit);
  }

  /** To be called between paths: gives others their turn now and then. */
  async pause(): Promise<void> {
    if (this.spent - this.#pausedAt < STEPS_PER_TURN) return;
    this.#pausedAt = this.spent;
    await pause();
  }
}
