import { Semaphore } from "../../base/pacing/semaphore.ts";

/** Time between a change and its report to the registry, in ms, so that many small pushes are
 * reported together. */
const DELAY_MS = 2_000;

/** Time for which a due announcement waits for requests to end, in ms. */
const PATIENCE_MS = 3_000;

/** Backoff after the first failure, in ms; doubles with each further one, up to
 * `LONGEST_BACKOFF_MS`. */
const FIRST_BACKOFF_MS = 2_000;
const LONGEST_BACKOFF_MS = 60 * 60_000;

/** Decides when the registry is told of changes to a repository's listed fields. This costs no row:
 * every change sets the alarm, in its own transaction, and a process that finds an alarm set tells
 * the registry when it rings. */
export class Announcement {
  /** Lets one announcement run at a time. */
  readonly semaphore = new Semaphore(1);
  /** False at first: a new process does not know whether the last one told the registry. */
  #isTold = false;
  /** Null: at the next alarm, whenever it rings. */
  #dueMs: number | null = null;
  #failures = 0;

  /** Whether the registry was told all changes. */
  get isTold(): boolean {
    return this.#isTold;
  }

  /** Records a change. */
  change(nowMs: number): void {
    if (this.#isTold || this.#dueMs === null) {
      this.#dueMs = nowMs + DELAY_MS;
      this.#failures = 0;
    }
    this.#isTold = false;
  }

  /** Records the beginning of an announcement. Later changes are not part of it. */
  begin(): void {
    this.#isTold = true;
  }

  /** Records the failure of an announcement. */
  fail(nowMs: number): void {
    this.#isTold = false;
    this.#dueMs = nowMs + Math.min(FIRST_BACKOFF_MS * 2 ** this.#failures, LONGEST_BACKOFF_MS);
    this.#failures += 1;
  }

  /** Whether to tell the registry now that an alarm has rung. If jobs run anyway, it is told before
   * the announcement is due, which saves a further alarm.
   * @param isRunning whether jobs run */
  isDue(nowMs: number, isRunning: boolean): boolean {
    if (this.#isTold) return false;
    this.#dueMs ??= nowMs;
    if (isRunning && this.#failures === 0) return true;
    return this.#latestMs() <= nowMs || (isRunning && this.#dueMs <= nowMs);
  }

  /** Time at which the alarm must ring for the announcement; null: never.
   * @param quietAtMs expected end of requests */
  wakeMs(quietAtMs: number): number | null {
    if (this.#isTold || this.#dueMs === null) return null;
    return Math.min(this.#latestMs(), Math.max(this.#dueMs, quietAtMs));
  }

  #latestMs(): number {
    return this.#dueMs! + PATIENCE_MS;
  }
}
