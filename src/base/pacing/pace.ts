import { pause } from "./time-slice.ts";

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

/** A run that cannot end where it is rests while a large pack is received, for this long in all, as
 * it holds memory that others may wait for. It looks this often. */
const PACK_REST_MS = 60_000;
const PACK_LOOK_MS = 100;

/** How long a run continues beside requests before it leaves the rest to the next run, so that jobs
 * of other objects run too. */
const SHARE_RUN_MS = 2_000;

/** How long a run continues that a request waits for, before it leaves the rest to the next run. */
const HURRIED_RUN_MS = 5_000;

/** How a run of a job treats requests. `quiet`: it started while there were none, and ends when one
 * arrives. `shares`: it was overdue, and runs beside them. `hurried`: a request waits for it. */
type PaceKind = "quiet" | "shares" | "hurried";

/** What a run of a job looks at between its steps. */
interface Surroundings {
  /** Whether nobody waits for a response, nor for the job. */
  isQuiet(): boolean;
  /** Whether a large pack is being received that the job makes way for. */
  isReceiving(): boolean;
}

/** Lets other requests run during a job. */
export class Pace {
  readonly #kind: PaceKind;
  readonly #around: Surroundings;
  readonly #endMs: number;
  #packRestMs = 0;
  #isInterrupted = false;
  /** Whether the run goes on although it should have ended at its last rest. */
  #isTold = false;
  #sinceMs = Date.now();
  #steps = 0;

  constructor(kind: PaceKind, around: Surroundings) {
    this.#kind = kind;
    this.#around = around;
    this.#endMs = Date.now() + (kind === "hurried" ? HURRIED_RUN_MS : SHARE_RUN_MS);
  }

  /** Whether the run should record its work and end, leaving the rest to the next run. Once true,
   * it stays true. */
  get isInterrupted(): boolean {
    this.#isInterrupted ||=
      this.#kind === "quiet" ? !this.#around.isQuiet() : Date.now() >= this.#endMs || this.#around.isReceiving();
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
    const workedMs = Date.now() - this.#sinceMs;
    // It could have ended at the last rest.
    if (this.#isTold) await this.#awaitPacks();
    const isAlone = this.#kind === "hurried" || this.#around.isQuiet();
    await pause(isAlone ? REST_MS : Math.max(REST_MS, SHARE_RESTS * workedMs));
    this.#sinceMs = Date.now();
    this.#steps = 0;
    this.#isTold = this.isInterrupted;
  }

  async #awaitPacks(): Promise<void> {
    for (; this.#packRestMs < PACK_REST_MS && this.#around.isReceiving(); this.#packRestMs += PACK_LOOK_MS)
      await pause(PACK_LOOK_MS);
  }
}
