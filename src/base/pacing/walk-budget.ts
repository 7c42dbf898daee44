import { checkLimit, MAX_PAGE_PATH_BYTES, MAX_PATH_BYTES, MAX_WALK_STEPS } from "../format/limits.ts";
import { countEntries } from "../format/tree-cursor.ts";
import { StepBudget } from "../format/step-budget.ts";
import { pause } from "./time-slice.ts";

/** Steps after which other requests run, about 10 ms. */
const STEPS_PER_TURN = 250_000;

/** Cost in steps of a directory, and of each of its entries, whether wanted or not. */
const STEPS_PER_DIRECTORY = 600;
const STEPS_PER_ENTRY = 20;

/** Cost in steps of a byte of a directory's tree. It counts where names are so long that it
 * exceeds the cost of the entries. */
const STEPS_PER_BYTE = 0.5;

/** Cost in steps of reading one byte of a `.gitattributes` file. */
export const STEPS_PER_ATTRIBUTE_BYTE = 8;

/** Bytes of a kept path that cost a step: the path is copied several times on its way to the
 * client. */
const BYTES_PER_STEP = 32;

/** A `StepBudget` for a walk through directories that lets other requests run. */
export class WalkBudget extends StepBudget {
  #pausedAt = 0;
  #keptBytes = 0;

  /** @param limit steps */
  constructor(limit = MAX_WALK_STEPS) {
    super(limit);
  }

  /** Counts a directory that is read.
   * @param path byte string
   * @param content content of its tree
   * @throws GitError "too-large" when the path is too long, or the steps are spent */
  visit(path: string, content: Uint8Array): void {
    checkLimit("a path (bytes)", MAX_PATH_BYTES, path.length);
    const steps = Math.max(countEntries(content) * STEPS_PER_ENTRY, content.length * STEPS_PER_BYTE);
    this.spend(STEPS_PER_DIRECTORY + Math.ceil(steps));
  }

  /** Counts a path of the result.
   * @throws GitError "too-large" when the steps are spent */
  keep(path: string): void {
    this.#keptBytes += path.length;
    this.spend(Math.ceil(path.length / BYTES_PER_STEP));
  }

  /** Whether the result's paths have reached the byte limit of a page. */
  get isFull(): boolean {
    return this.#keptBytes > MAX_PAGE_PATH_BYTES;
  }

  /** Whether `pause` would let others run. An unnecessary wait costs a tenth of a microsecond,
   * as much as a look at an entry. */
  get isPauseDue(): boolean {
    return this.spent - this.#pausedAt >= STEPS_PER_TURN;
  }

  /** Lets other requests run now and then. Must be called between paths. */
  async pause(): Promise<void> {
    if (!this.isPauseDue) return;
    this.#pausedAt = this.spent;
    await pause();
  }
}
