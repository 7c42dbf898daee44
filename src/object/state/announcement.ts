import { Semaphore } from "../../base/pacing/semaphore.ts";

/** How long after a change the registry is told, so that many small pushes are told together. */
const DELAY_MS = 2_000;

/** How long a due announcement waits for requests to end. */
const PATIENCE_MS = 3_000;

/** Wait after the first failure; doubles with each further one, up to `LONGEST_BACKOFF_MS`. */
const FIRST_BACKOFF_MS = 2_000;
const LONGEST_BACKOFF_MS = 60 * 60_000;

/** Whether the registry was told what it lists of a repository, and when it is to be told. It costs
 * no row: every change sets the alarm, in its own transaction, and a process that finds one set
 * tells the registry when it rings. */
export class Announcement {
  /** One at a time. */
  readonly semaphore = new Semaphore(1);
  /** A process that has just begun does not know what the one before has told. */
  #isTold = false;
  /** Null: with the next alarm, whenever that rings. */
  #dueMs: number | null = null;
  #failures = 0;

  /** Whether the registry was told everything. */
  get isTold(): boolean {
    return this.#isTold;
  }

  /** Notes a change. */
  change(nowMs: number): void {
    if (this.#isTold || this.#dueMs === null) {
      this.#dueMs = nowMs + DELAY_MS;
      this.#failures = 0;
    }
    this.#isTold = false;
  }

  /** Notes that the registry is being told. What changes from now on has not been told. */
  begin(): void {
    this.#isTold = true;
  }

  /** Notes that it could not be told. */
  fail(nowMs: number): void {
    this.#isTold = false;
    this.#dueMs = nowMs + Math.min(FIRST_BACKOFF_MS * 2 ** this.#failures, LONGEST_BACKOFF_MS);
    this.#failures += 1;
  }

  /** Whether the registry is told now, when an alarm has rung. It needs no alarm of its own: it is
   * told, due or not, when jobs run anyway.
   * @param isRunning whether jobs run */
  isDue(nowMs: number, isRunning: boolean): boolean {
    if (this.#isTold) return false;
    this.#dueMs ??= nowMs;
    if (isRunning && this.#failures === 0) return true;
    return this.#latestMs() <= nowMs || (isRunning && this.#dueMs <= nowMs);
  }

  /** When the alarm must ring for it; null: never.
   * @param quietAtMs expected end of requests */
  wakeMs(quietAtMs: number): number | null {
    if (this.#isTold || this.#dueMs === null) return null;
    return Math.min(this.#latestMs(), Math.max(this.#dueMs, quietAtMs));
  }

  #latestMs(): number {
    return this.#dueMs! + PATIENCE_MS;
  }
}
