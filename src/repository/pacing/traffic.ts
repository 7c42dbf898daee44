import { Semaphore } from "./semaphore.ts";

/** How long a request counts at most: the platform may end one without notice, and a push of an
 * hour should not block jobs. */
const COUNTED_MS = 60_000;

/** How long a job excludes others: a dead job loses its permit after this time, and a long one then
 * runs beside others. */
const PLACE_LEASE_MS = 10_000;

/** The requests in an isolate, so that its jobs know when nobody waits for a response. One per
 * isolate: its objects share a thread and memory. */
export class Traffic {
  /** When each running request arrived, by the function that ends it. */
  readonly #running = new Map<() => void, number>();
  #lastMs = -Infinity;
  /** Jobs of different objects run one at a time: each holds megabytes. */
  readonly jobPermit = new Semaphore(1, PLACE_LEASE_MS);

  /** Records that a request has arrived.
   * @returns records that it was answered */
  begin(): () => void {
    const end = (): void => {
      this.#running.delete(end);
      this.#lastMs = Date.now();
    };
    this.#running.set(end, Date.now());
    return end;
  }

  /** When there will have been no request for `quietMs`, if none arrives; may be in the past. */
  quietAtMs(quietMs: number, nowMs: number): number {
    if (quietMs === 0) return -Infinity;
    for (const [end, startMs] of this.#running) if (startMs <= nowMs - COUNTED_MS) this.#running.delete(end);
    return (this.#running.size > 0 ? nowMs : this.#lastMs) + quietMs;
  }
}
