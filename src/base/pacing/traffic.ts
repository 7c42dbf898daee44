import { Semaphore } from "./semaphore.ts";

/** How long a request counts at most: the platform may end one without notice, and a push of an
 * hour should not block jobs. */
const COUNTED_MS = 60_000;

/** How long a job excludes others: a dead job loses its permit after this time, and a long one then
 * runs beside others. */
const PLACE_LEASE_MS = 10_000;

/** After this much silence a push counts as dead and loses its permit. Longer than the client or
 * the store may keep it waiting. */
const PACK_LEASE_MS = 120_000;

/** How soon jobs look again whether a large pack is still being received, at the earliest: the end
 * of one wakes only the jobs of its own repository. */
const LOOK_AGAIN_MS = 1_000;

/** The requests in an isolate, so that its jobs know when nobody waits for a response. One per
 * isolate: its objects share a thread and memory. */
export class Traffic {
  /** When each running request arrived, by the function that ends it. */
  readonly #running = new Map<() => void, number>();
  #lastMs = -Infinity;
  /** Jobs of different objects run one at a time: each holds megabytes. */
  readonly jobPermit = new Semaphore(1, PLACE_LEASE_MS);
  /** Packs that are indexed at once; each keeps its permit until its push has ended. Small ones
   * have arrived completely when they begin, and are soon done. A large one may arrive slowly, so
   * it must not block small ones, nor another large one for long. */
  readonly smallPacks = new Semaphore(4, PACK_LEASE_MS);
  readonly largePacks = new Semaphore(2, PACK_LEASE_MS);

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

  /** Whether a large pack is being received, indexed or prepared: what other work takes then, its
   * client waits for. */
  get isReceiving(): boolean {
    return this.largePacks.isTaken;
  }

  /** When there will have been no request for `quietMs`, if none arrives; may be in the past. */
  quietAtMs(quietMs: number, nowMs: number): number {
    if (this.isReceiving) return nowMs + Math.max(quietMs, LOOK_AGAIN_MS);
    if (quietMs === 0) return -Infinity;
    for (const [end, startMs] of this.#running) if (startMs <= nowMs - COUNTED_MS) this.#running.delete(end);
    return (this.#running.size > 0 ? nowMs : this.#lastMs) + quietMs;
  }
}
