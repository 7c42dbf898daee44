import { pause } from "./pause.ts";

/** After this many milliseconds of work other requests run, for this long. The local runtime has
 * one thread for everything, R2 included, and reads no socket while responses of its own R2 keep
 * arriving: without the rest, a request would wait until the job has ended. */
const WORK_MS = 25;
const REST_MS = 10;

/** After this many steps they run whatever the clock says: in the deployed runtime it stands still
 * while code runs. */
const WORK_STEPS = 64;

/** Beside requests, a job rests this many times as long as it worked. */
const SHARE_RESTS = 4;

/** How long a run continues beside requests before it leaves the rest to the next run, so that jobs
 * of other objects run too. */
const SHARE_RUN_MS = 2_000;

/** How long a run continues that a request waits for, before it leaves the rest to the next run. */
const HURRIED_RUN_MS = 5_000;

/** How a run of a job treats requests. `quiet`: it started while there were none, and ends when one
 * arrives. `shares`: it was overdue, and runs beside them. `hurried`: a request waits for it. */
export type PaceKind = "quiet" | "shares" | "hurried";

/** Lets other requests run during a job. */
export class Pace {
  readonly #kind: PaceKind;
  readonly #isQuiet: () => boolean;
  readonly #endMs: number;
  #isInterrupted = false;
  #sinceMs = Date.now();
  #steps = 0;

  constructor(kind: PaceKind, isQuiet: () => boolean) {
    this.#kind = kind;
    this.#isQuiet = isQuiet;
    this.#endMs = Date.now() + (kind === "hurried" ? HURRIED_RUN_MS : SHARE_RUN_MS);
  }

  /** Whether the run should record its work and end, leaving the rest to the next run. Once true,
   * it stays true. */
  get isInterrupted(): boolean {
    if (this.#kind === "quiet") this.#isInterrupted ||= !this.#isQuiet();
    else this.#isInterrupted ||= Date.now() >= this.#endMs;
    return this.#isInterrupted;
  }

  /** Whether `rest` would wait. */
  get isRestDue(): boolean {
    return this.#steps >= WORK_STEPS || Date.now() - this.#sinceMs >= WORK_MS;
  }

  /** Must be called between steps of the work, each of a few milliseconds at most. A job that
   * cannot be interrupted continues, more slowly. */
  async rest(): Promise<void> {
    this.#steps += 1;
    if (!this.isRestDue) return;
    const isAlone = this.#kind === "hurried" || this.#isQuiet();
    const workedMs = Date.now() - this.#sinceMs;
    await pause(isAlone ? REST_MS : Math.max(REST_MS, SHARE_RESTS * workedMs));
    this.#sinceMs = Date.now();
    this.#steps = 0;
  }
}
