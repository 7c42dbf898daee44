import { checkLimit, MAX_PAGE_PATH_BYTES, MAX_PATH_BYTES, MAX_WALK_STEPS } from "../format/limits.ts";
import { countEntries } from "../format/tree-cursor.ts";
import { StepBudget } from "../format/step-budget.ts";
import { pause } from "./time-slice.ts";

/** After this many steps, about 10 ms, other requests run. */
const STEPS_PER_TURN = 250_000;

/** What a directory costs in steps, and each of its entries, whether wanted or not. */
const STEPS_PER_DIRECTORY = 600;
const STEPS_PER_ENTRY = 20;

/** What a byte of a directory's tree costs, where names are so long that this is more than its
 * entries do. */
const STEPS_PER_BYTE = 0.5;

/** Steps that reading one byte of a `.gitattributes` file costs. */
export const STEPS_PER_ATTRIBUTE_BYTE = 8;

/** Bytes of a kept path that cost a step: it is copied several times on its way to the client. */
const BYTES_PER_STEP = 32;

/** A `StepBudget` for a walk through directories that lets other requests run. */
export class WalkBudget extends StepBudget {
  #pausedAt = 0;
  #keptBytes = 0;

  /** @param limit steps */
  constructor(limit = MAX_WALK_STEPS) {
    super(limit);
  }

  /** Must be called for each directory that is read.
   * @param path byte string
   * @param content of its tree
   * @throws GitError "too-large" when the path is too long, or the steps are spent */
  visit(path: string, content: Uint8Array): void {
    checkLimit("a path (bytes)", MAX_PATH_BYTES, path.length);
    const steps = Math.max(countEntries(content) * STEPS_PER_ENTRY, content.length * STEPS_PER_BYTE);
    this.spend(STEPS_PER_DIRECTORY + Math.ceil(steps));
  }

  /** Must be called for each path of the result.
   * @throws GitError "too-large" when the steps are spent */
  keep(path: string): void {
    this.#keptBytes += path.length;
    this.spend(Math.ceil(path.length / BYTES_PER_STEP));
  }

  /** Whether the result has as many bytes of paths as a page may have. */
  get isFull(): boolean {
    return this.#keptBytes > MAX_PAGE_PATH_BYTES;
  }

  /** Whether `pause` would let others run. A wait for nothing costs a tenth of a microsecond, as
   * much as a look at an entry. */
  get isPauseDue(): boolean {
    return this.spent - this.#pausedAt >= STEPS_PER_TURN;
  }

  /** Must be called between paths: lets other requests run now and then. */
  async pause(): Promise<void> {
    if (!this.isPauseDue) return;
    this.#pausedAt = this.spent;
    await pause();
  }
}
