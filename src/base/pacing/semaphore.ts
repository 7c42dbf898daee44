/** A permit of a semaphore. */
export interface Permit {
  /** Restarts the permit's lease, as a sign that the holder is alive. A permit whose lease has
   * expired stays lost. */
  renew(): void;
  /** Returns the permit. Further calls do nothing. */
  release(): void;
}

/** A number of permits, given out in the order of requests. A permit counts as returned when its
 * lease expires: the platform may end a request without letting it clean up. */
export class Semaphore {
  readonly #count: number;
  readonly #leaseMs: number;
  /** Expiry of each permit's lease. */
  readonly #taken = new Map<Permit, number>();
  readonly #waiting: (() => void)[] = [];

  /** @param leaseMs Infinity: only its holder returns a permit */
  constructor(count: number, leaseMs = Infinity) {
    this.#count = count;
    this.#leaseMs = leaseMs;
  }

  /** Whether any permit is taken. */
  get isTaken(): boolean {
    this.#dropLost();
    return this.#taken.size > 0;
  }

  /** Whether a request waits for a permit. */
  get isWanted(): boolean {
    return this.#waiting.length > 0;
  }

  /** Waits for a permit. */
  async acquire(): Promise<Permit> {
    for (this.#dropLost(); this.#taken.size >= this.#count; this.#dropLost()) await this.#wait();
    const permit: Permit = {
      renew: () => {
        if (this.#taken.has(permit)) this.#taken.set(permit, Date.now() + this.#leaseMs);
      },
      release: () => {
        if (this.#taken.delete(permit)) this.#waiting.shift()?.();
      },
    };
    this.#taken.set(permit, Date.now() + this.#leaseMs);
    return permit;
  }

  /** Waits until a permit may have become free. */
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

  #dropLost(): void {
    for (const [permit, endMs] of this.#taken) if (endMs <= Date.now()) this.#taken.delete(permit);
  }
}
