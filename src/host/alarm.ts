/** How long after its time an alarm that did not ring counts as lost. */
const LOST_MS = 60_000;

/** An object's alarm. It is written when it must ring earlier than it would, and not moved with every push: one that rings too early sets
 * itself anew. */
export class Alarm {
  readonly #storage: DurableObjectStorage;
  /** When it rings, as far as is known; null: not at all. */
  #atMs: number | null = null;
  /** Whether that is known. */
  #isKnown = false;
  /** Asked for before it was known. */
  #wantedMs = Infinity;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Asks when it rings; to be waited for before anything else is done. */
  async read(): Promise<void> {
    this.#atMs = await this.#storage.getAlarm();
    this.#isKnown = true;
    if (this.#wantedMs < Infinity) this.set(this.#wantedMs);
  }

  /** Has it ring at this time (ms since 1970), or before. */
  set(timeMs: number): void {
    if (!this.#isKnown) {
      this.#wantedMs = Math.min(this.#wantedMs, timeMs);
      return;
    }
    if (this.#atMs !== null && this.#atMs <= timeMs && this.#atMs > Date.now() - LOST_MS) return;
    this.#atMs = timeMs;
    void this.#storage.setAlarm(timeMs);
  }

  /** Takes note that it rang, or went with the database. */
  clear(): void {
    this.#atMs = null;
  }
}
