/** An alarm that is this late counts as lost. */
const LOST_MS = 60_000;

/** An object's alarm. It is written only to make it earlier, not with every push. An alarm that
 * rings too early sets itself again. */
export class Alarm {
  readonly #storage: DurableObjectStorage;
  /** When it rings, as far as is known; null: not set. */
  #atMs: number | null = null;
  /** Whether `#atMs` has been read. */
  #isKnown = false;
  /** Requested before it was read. */
  #wantedMs = Infinity;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Reads the stored alarm. Must finish before anything else is done. */
  async read(): Promise<void> {
    this.#atMs = await this.#storage.getAlarm();
    this.#isKnown = true;
    if (this.#wantedMs < Infinity) this.set(this.#wantedMs);
  }

  /** Sets the alarm to this time (ms since 1970), unless it is set earlier. */
  set(timeMs: number): void {
    if (!this.#isKnown) {
      this.#wantedMs = Math.min(this.#wantedMs, timeMs);
      return;
    }
    if (this.#atMs !== null && this.#atMs <= timeMs && this.#atMs > Date.now() - LOST_MS) return;
    this.#atMs = timeMs;
    void this.#storage.setAlarm(timeMs);
  }

  /** Records that it has rung, or was deleted with the database. */
  clear(): void {
    this.#atMs = null;
  }
}
