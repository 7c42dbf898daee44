/** Steps of some 20 µs after which others get a turn: the repository's object has one thread for all requests. Not told by the
 * clock, which stands still in the runtime while code runs. */
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

  /** To be called with each small step of the work: gives others their turn now and then.
   * @param steps how many it is worth */
  async step(steps = 1): Promise<void> {
    this.#steps += steps;
    if (this.#steps < STEPS_PER_TURN) return;
    this.#steps = 0;
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}
