import { pause } from "./time-slice.ts";

/** After this many steps of about 20 µs other requests run: the repository's object has one thread
 * for all of them. */
const STEPS_PER_TURN = 256;

/** However little was done, a call ends after this many milliseconds, since its client waits. Only
 * a slow store, or a machine that others keep busy, lets it come to that. */
const LONGEST_MS = 20_000;

/** How much one request may have the object do. It counts steps, not time: the runtime's clock
 * stands still while code runs, and what a call achieves must not depend on what else the machine
 * does. */
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

  /** Steps that may still be done. */
  get left(): number {
    return Math.max(0, this.#limit - this.#done);
  }

  /** Must be called with each small step of the work: lets other requests run now and then.
   * @param steps how many steps the call counts for */
  async step(steps = 1): Promise<void> {
    this.#done += steps;
    if (this.#done - this.#pausedAt < STEPS_PER_TURN) return;
    this.#pausedAt = this.#done;
    await pause();
  }
}

/** Bytes of a stored object that are undeltified in the time of a step. */
const OBJECT_BYTES_PER_STEP = 8_192;

/** What reading an object counts for. */
export function stepsToRead(sizeBytes: number): number {
  return 1 + Math.floor(sizeBytes / OBJECT_BYTES_PER_STEP);
}
