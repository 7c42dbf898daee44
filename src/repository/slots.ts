/** A number of places, given out in the order of asking. A place counts as given back when its lease is over: the platform may end
 * a request without letting it tidy up. */
export class Slots {
  readonly #count: number;
  readonly #leaseMs: number;
  /** End of each lease, by the place's release function. */
  readonly #taken = new Map<() => void, number>();
  readonly #waiting: (() => void)[] = [];

  /** @param leaseMs Infinity: a place is given back by its holder alone */
  constructor(count: number, leaseMs = Infinity) {
    this.#count = count;
    this.#leaseMs = leaseMs;
  }

  /** Whether somebody waits for a place. */
  get isWanted(): boolean {
    return this.#waiting.length > 0;
  }

  /** Waits for a place.
   * @returns gives it back */
  async take(): Promise<() => void> {
    while (this.#isFull()) {
      await this.#wait();
    }
    const release = (): void => {
      if (this.#taken.delete(release)) this.#waiting.shift()?.();
    };
    this.#taken.set(release, Date.now() + this.#leaseMs);
    return release;
  }

  /** Waits until a place may have become free. */
  async #wait(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    const timer = this.#leaseMs === Infinity ? undefined : setTimeout(resolve, this.#leaseMs);
    await promise;
    clearTimeout(timer);
    const index = this.#waiting.indexOf(resolve);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  #isFull(): boolean {
    for (const [release, endMs] of this.#taken) if (endMs <= Date.now()) this.#taken.delete(release);
    return this.#taken.size >= this.#count;
  }
}
