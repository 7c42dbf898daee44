import { Semaphore } from "./semaphore.ts";

/** How long a request counts at the most: the platform may end one without letting it say so, and a push of an hour keeps nobody waiting. */
const COUNTED_MS = 60_000;

/** How long a job keeps others out: whoever died with the place gives it back by that, and a long one lets others in beside it. */
const PLACE_LEASE_MS = 10_000;

/** What an isolate is asked to do, so that its jobs know when nobody waits for an answer. One for the isolate: its objects share a thread, and
 * its memory. */
export class Traffic {
  /** When each request under way came, by what ends it. */
  readonly #running = new Map<() => void, number>();
  #lastMs = -Infinity;
  /** Jobs of different objects take turns: each holds megabytes. */
  readonly jobPermit = new Semaphore(1, PLACE_LEASE_MS);

  /** Notes that a request has come.
   * @returns notes that it was answered */
  begin(): () => void {
    const end = (): void => {
      this.#running.delete(end);
      this.#lastMs = Date.now();
    };
    this.#running.set(end, Date.now());
    return end;
  }

  /** When there will have been no request for so long, if none comes; it may be past. */
  quietAtMs(quietMs: number, nowMs: number): number {
    if (quietMs === 0) return -Infinity;
    for (const [end, startMs] of this.#running) if (startMs <= nowMs - COUNTED_MS) this.#running.delete(end);
    return (this.#running.size > 0 ? nowMs : this.#lastMs) + quietMs;
  }
}
