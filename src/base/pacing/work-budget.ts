import { pause } from "./time-slice.ts";

/** Steps of about 20 µs after which other requests run: the repository's object has one thread
 * for all of them. */
const STEPS_PER_TURN = 256;

/** Time limit of a call in ms, however little was done, since its client waits. Only a slow
 * store, or a machine that is busy with other work, reaches it. */
const LONGEST_MS = 20_000;

/** Limits the work of one request. Counts steps, not time: the runtime's clock stands still
 * while code runs, and the result of a call must not depend on the machine's other work. */
export class WorkBudget {
  readonly #limit: number;
  readonly #endMs = Date.now() + LONGEST_MS;
  #done = 0;
  #pausedAt = 0;

  /** @param limit steps of about 20 µs */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether the rest must be left to a later call. */
  get isSpent(): boolean {
    return this.#done >= this.#limit || Date.now() >= this.#endMs;
  }

  /** Steps that are left. */
  get left(): number {
    return Math.max(0, this.#limit - this.#done);
  }

  /** Counts a small step of the work, and lets other requests run now and then.
   * @param steps number of steps that the call counts for */
  async step(steps = 1): Promise<void> {
    this.#done += steps;
    if (this.#done - this.#pausedAt < STEPS_PER_TURN) return;
    this.#pausedAt = this.#done;
    await pause();
  }
}

/** Bytes of a stored object that are undeltified in the time of one step. */
const OBJECT_BYTES_PER_STEP = 8_192;

/** Cost in steps of reading an object. */
export function stepsToRead(sizeBytes: number): number {
  return 1 + Math.floor(sizeBytes / OBJECT_BYTES_PER_STEP);
}
