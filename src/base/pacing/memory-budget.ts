import { GitError } from "../format/errors.ts";
import { BUSY_WAIT_MS, COMMON_MEMORY_BYTES, LARGE_MEMORY_BYTES } from "../format/limits.ts";

const MIB = 1024 * 1024;

/** Duration of a lease, in ms. A holder that does not renew counts as dead, because the platform
 * may end it without notice. Longer than a client or the store may keep a request waiting. */
const LEASE_MS = 120_000;

/** Time after which a client should retry that found all memory taken, in ms. */
const RETRY_AFTER_MS = 30_000;

/** A reservation of memory. */
export interface Lease {
  /** Restarts the lease, as a sign that the holder is alive. An expired lease stays lost. */
  renew(): void;
  /** Returns the memory. Further calls do nothing. */
  free(): void;
}

/** Something dispensable that is kept while memory is free, such as a cache. */
export interface Spare {
  readonly sizeBytes: number;
  /** Shrinks to this many bytes. */
  shrink(limitBytes: number): void;
}

/** A waiting request. */
interface Waiter {
  readonly bytes: number;
  wake(): void;
}

/** The memory of an isolate, for requests that need more than the common amount. All objects of the
 * isolate and all requests of its Worker share 128 MB. The platform ends all of them if that is
 * exceeded, so a request waits when no memory is free.
 *
 * There are two parts. The *common* one is given out by bytes. The *large* one goes to one holder
 * at a time: a push whose index outgrows the usual size, or that holds large contents; or a
 * request that resolves a large object.
 *
 * Waits are bounded, and there are no deadlocks: the holder of the large part waits for no
 * memory, and a holder of common memory waits only for the large part. Caches make way for
 * both. */
export class MemoryBudget {
  readonly #commonBytes: number;
  readonly #largeBytes: number;
  /** Bytes and expiry of each lease. */
  readonly #common = new Map<Lease, { readonly bytes: number; endMs: number }>();
  readonly #large = new Map<Lease, { readonly bytes: number; endMs: number }>();
  readonly #waiting: Waiter[] = [];
  readonly #waitingForLarge: Waiter[] = [];
  readonly #spares = new Set<Spare>();
  #peakBytes = 0;

  constructor(commonBytes = COMMON_MEMORY_BYTES, largeBytes = LARGE_MEMORY_BYTES) {
    this.#commonBytes = commonBytes;
    this.#largeBytes = largeBytes;
  }

  /** Bytes of common memory in use. */
  get takenBytes(): number {
    return sum(this.#common) + sum(this.#large);
  }

  /** Bytes that caches may still take; negative: they hold too much. */
  get freeBytes(): number {
    let bytes = this.#commonBytes + this.#largeBytes - this.takenBytes;
    for (const { sizeBytes } of this.#spares) bytes -= sizeBytes;
    return bytes;
  }

  /** Peak of the bytes in use. */
  get peakBytes(): number {
    return this.#peakBytes;
  }

  /** Whether the large part is taken. */
  get isLargeTaken(): boolean {
    return dropDead(this.#large) > 0;
  }

  /** Whether a request waits for the large part. */
  get isLargeWanted(): boolean {
    return this.#waitingForLarge.length > 0;
  }

  /** Waits for common memory. The caller must hold none. A smaller request may overtake a larger
   * one.
   * @throws GitError "unavailable" when it does not become free in time */
  take(bytes: number, waitMs = BUSY_WAIT_MS): Promise<Lease> {
    if (bytes > this.#commonBytes) throw new RangeError(`${bytes} bytes are more than there are in all`);
    return this.#take(this.#common, this.#waiting, bytes, this.#commonBytes, waitMs);
  }

  /** Takes common memory if it is free now.
   * @returns null: it is not free */
  tryTake(bytes: number): Lease | null {
    if (dropDead(this.#common) + bytes > this.#commonBytes) return null;
    return this.#give(this.#common, this.#waiting, bytes, this.#commonBytes);
  }

  /** Waits for the large part.
   * @throws GitError "unavailable" when it does not become free in time */
  takeLarge(waitMs = BUSY_WAIT_MS): Promise<Lease> {
    return this.#take(this.#large, this.#waitingForLarge, this.#largeBytes, this.#largeBytes, waitMs);
  }

  /** Registers a cache that must shrink when memory is needed.
   * @returns a function that removes it */
  keep(spare: Spare): () => void {
    this.#spares.add(spare);
    return () => this.#spares.delete(spare);
  }

  async #take(
    given: Map<Lease, { readonly bytes: number; endMs: number }>,
    waiting: Waiter[],
    bytes: number,
    limitBytes: number,
    waitMs: number,
  ): Promise<Lease> {
    const untilMs = Date.now() + waitMs;
    while (dropDead(given) + bytes > limitBytes) {
      if (Date.now() >= untilMs) throw busy(bytes, waitMs);
      await this.#wait(given, waiting, bytes, untilMs);
    }
    return this.#give(given, waiting, bytes, limitBytes);
  }

  #give(
    given: Map<Lease, { readonly bytes: number; endMs: number }>,
    waiting: Waiter[],
    bytes: number,
    limitBytes: number,
  ): Lease {
    const lease: Lease = {
      renew: () => {
        const own = given.get(lease);
        if (own !== undefined) own.endMs = Date.now() + LEASE_MS;
      },
      free: () => {
        if (given.delete(lease)) wakeFitting(waiting, limitBytes - sum(given));
      },
    };
    given.set(lease, { bytes, endMs: Date.now() + LEASE_MS });
    this.#peakBytes = Math.max(this.#peakBytes, this.takenBytes);
    this.#makeWay();
    return lease;
  }

  /** Waits until memory may be free, or the time is over. */
  async #wait(
    given: ReadonlyMap<Lease, { readonly endMs: number }>,
    waiting: Waiter[],
    bytes: number,
    untilMs: number,
  ): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiter: Waiter = { bytes, wake: resolve };
    waiting.push(waiter);
    const endMs = given.values().reduce((first, one) => Math.min(first, one.endMs), untilMs);
    const timer = setTimeout(resolve, endMs - Date.now());
    await promise;
    clearTimeout(timer);
    const index = waiting.indexOf(waiter);
    if (index >= 0) waiting.splice(index, 1);
  }

  #makeWay(): void {
    for (const spare of this.#spares) {
      const freeBytes = this.freeBytes;
      if (freeBytes >= 0) return;
      spare.shrink(Math.max(0, spare.sizeBytes + freeBytes));
    }
  }
}

/** The memory of this isolate. */
export const ISOLATE_MEMORY = new MemoryBudget();

function sum(given: ReadonlyMap<Lease, { readonly bytes: number }>): number {
  return given.values().reduce((total, { bytes }) => total + bytes, 0);
}

/** Removes expired leases.
 * @returns bytes that are still in use */
function dropDead(given: Map<Lease, { readonly bytes: number; readonly endMs: number }>): number {
  for (const [lease, { endMs }] of given) if (endMs <= Date.now()) given.delete(lease);
  return sum(given);
}

/** Wakes the waiters that fit into the free bytes, in order of arrival. */
function wakeFitting(waiting: Waiter[], freeBytes: number): void {
  let left = freeBytes;
  const woken = waiting.filter(({ bytes }) => {
    if (bytes > left) return false;
    left -= bytes;
    return true;
  });
  for (const waiter of woken) {
    waiting.splice(waiting.indexOf(waiter), 1);
    waiter.wake();
  }
}

function busy(bytes: number, waitMs: number): GitError {
  const held = `the ${Math.ceil(bytes / MIB)} MiB that it needs for ${Math.round(waitMs / 1000)} seconds`;
  const reason = `other large requests have held ${held}; try again in a minute`;
  return new GitError("unavailable", { what: "memory for this request", reason, retryAfterMs: RETRY_AFTER_MS });
}
