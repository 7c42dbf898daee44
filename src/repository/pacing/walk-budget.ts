import { checkLimit, MAX_PATH_BYTES, MAX_WALK_STEPS } from "../../format/limits.ts";
import { StepBudget } from "../../format/step-budget.ts";
import { pause } from "./pause.ts";

/** Steps after which others get a turn: some 10 ms. */
const STEPS_PER_TURN = 250_000;

/** What a directory costs, in steps, and what each entry of it does: whether or not anything in it is wanted. */
const STEPS_PER_DIRECTORY = 600;
const STEPS_PER_ENTRY = 20;

/** A `StepBudget` of a walk through directories, whose steps are taken in slices. */
export class WalkBudget extends StepBudget {
  #pausedAt = 0;

  /** @param limit steps */
  constructor(limit = MAX_WALK_STEPS) {
    super(limit);
  }

  /** To be called for each directory that is looked into.
   * @param path byte string
   * @throws GitError "too-large" when the path is, or the steps are more than there may be */
  visit(path: string, entries: number): void {
    checkLimit("a path (bytes)", MAX_PATH_BYTES, path.length);
    this.spend(STEPS_PER_DIRECTORY + entries * STEPS_PER_ENTRY);
  }

  /** To be called between paths: gives others their turn now and then. */
  async pause(): Promise<void> {
    if (this.spent - this.#pausedAt < STEPS_PER_TURN) return;
    this.#pausedAt = this.spent;
    await pause();
  }
}
