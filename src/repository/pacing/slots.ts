/** A place that was given out. */
export interface Place {
  /** Begins its lease anew: its holder is alive. One whose lease is over stays lost. */
  renew(): void;
  /** Gives it back; once is enough. */
  free(): void;
}

/** A number of places, given out in the order of asking. A place counts as given back when its lease is over: the platform may end
 * a request without letting it tidy up. */
export class Slots {
  readonly #count: number;
  readonly #leaseMs: number;
  /** End of each lease. */
  readonly #taken = new Map<Place, number>();
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

  /** Waits for a place. */
  async take(): Promise<Place> {
    while (this.#isFull()) {
      await this.#wait();
    }
    const place: Place = {
      renew: () => {
        if (this.#taken.has(place)) this.#taken.set(place, Date.now() + this.#leaseMs);
      },
      free: () => {
        if (this.#taken.delete(place)) this.#waiting.shift()?.();
      },
    };
    this.#taken.set(place, Date.now() + this.#leaseMs);
    return place;
  }

  /** Waits until a place may have become free. */
  async #wait(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    const endMs = this.#taken.values().reduce((first, one) => Math.min(first, one), Infinity);
    const timer = endMs === Infinity ? undefined : setTimeout(resolve, endMs - Date.now());
    await promise;
    clearTimeout(timer);
    const index = this.#waiting.indexOf(resolve);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  #isFull(): boolean {
    for (const [place, endMs] of this.#taken) if (endMs <= Date.now()) this.#taken.delete(place);
    return this.#taken.size >= this.#count;
  }
}
