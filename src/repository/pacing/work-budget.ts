/** After this many steps of about 20 µs other requests run: the repository's object has one thread
 * for all of them. Steps are counted because the runtime's clock stands still while code runs. */
const STEPS_PER_TURN = 256;

/** How long one request may keep the object busy. */
export class WorkBudget {
  readonly #endMs: number;
  #steps = 0;

  constructor(limitMs: number) {
    this.#endMs = Date.now() + limitMs;
  }

  /** Whether the time is over. */
  get isSpent(): boolean {
    return Date.now() >= this.#endMs;
  }

  /** Must be called with each small step of the work: lets other requests run now and then.
   * @param steps how many steps the call counts for */
  async step(steps = 1): Promise<void> {
    this.#steps += steps;
    if (this.#steps < STEPS_PER_TURN) return;
    this.#steps = 0;
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}
