import { Semaphore } from "./semaphore.ts";

/** Time for which a request counts at most, in ms: the platform may end one without notice, and
 * a push of an hour should not block jobs. */
const COUNTED_MS = 60_000;

/** Lease of a job's permit, in ms: a dead job loses the permit after this time, and a long one
 * then runs beside others. */
const PLACE_LEASE_MS = 10_000;

/** Lease of a push's permit, in ms: a push that is silent for longer counts as dead and loses
 * its permit. Longer than the client or the store may keep it waiting. */
const PACK_LEASE_MS = 120_000;

/** Shortest interval at which jobs check whether a large pack is still being received, in ms:
 * the end of one wakes only the jobs of its own repository. */
const LOOK_AGAIN_MS = 1_000;

/** The requests in an isolate, so that its jobs know when nobody waits for a response. One per
 * isolate: its objects share a thread and memory. */
export class Traffic {
  /** Arrival of each running request, by the function that ends it. */
  readonly #running = new Map<() => void, number>();
  #lastMs = -Infinity;
  /** Permit of jobs. Jobs of different objects run one at a time, because each holds megabytes. */
  readonly jobPermit = new Semaphore(1, PLACE_LEASE_MS);
  /** Permits of packs that are being indexed. Each push keeps its permit until it has ended.
   * Small packs have arrived completely when they begin, and are soon done. A large pack may
   * arrive slowly, so it must not block small ones, nor another large one for long. */
  readonly smallPacks = new Semaphore(4, PACK_LEASE_MS);
  readonly largePacks = new Semaphore(2, PACK_LEASE_MS);

  /** Counts a request from its arrival.
   * @returns a function that ends it */
  begin(): () => void {
    const end = (): void => {
      this.#running.delete(end);
      this.#lastMs = Date.now();
    };
    this.#running.set(end, Date.now());
    return end;
  }

  /** Whether a large pack is being received, indexed or prepared. Other work then delays that
   * pack's client. */
  get isReceiving(): boolean {
    return this.largePacks.isTaken;
  }

  /** Time at which there will have been no request for `quietMs`, if none arrives; may be in the
   * past. */
  quietAtMs(quietMs: number, nowMs: number): number {
    if (this.isReceiving) return nowMs + Math.max(quietMs, LOOK_AGAIN_MS);
    if (quietMs === 0) return -Infinity;
    for (const [end, startMs] of this.#running) if (startMs <= nowMs - COUNTED_MS) this.#running.delete(end);
    return (this.#running.size > 0 ? nowMs : this.#lastMs) + quietMs;
  }
}
