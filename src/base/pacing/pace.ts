import { pause } from "./time-slice.ts";

/** Milliseconds of work after which a job rests, and of the rest, in which other requests run.
 * The local runtime has one thread for everything, R2 included, and reads no socket while
 * responses of its own R2 keep arriving: without the rest, a request would wait until the job
 * has ended. */
const WORK_MS = 25;
const REST_MS = 10;

/** Steps after which a job rests whatever the clock shows: in the deployed runtime it stands
 * still while code runs. */
const WORK_STEPS = 64;

/** Factor by which a job beside requests rests longer than it works. */
const SHARE_RESTS = 4;

/** Limits of a run's rest during a large pack, whose memory others may wait for: total time
 * (ms), and time between two looks. They apply to a run that cannot end at this point. */
const PACK_REST_MS = 60_000;
const PACK_LOOK_MS = 100;

/** Time for which a run continues beside requests before it leaves the rest to the next run, in
 * ms, so that jobs of other objects run too. */
const SHARE_RUN_MS = 2_000;

/** Time for which a run continues that a request waits for, before it leaves the rest to the
 * next run, in ms. */
const HURRIED_RUN_MS = 5_000;

/** The way in which a job's run treats requests. `quiet`: it started while there were none, and
 * ends when one arrives. `shares`: it was overdue, and runs beside them. `hurried`: a request
 * waits for it. */
type PaceKind = "quiet" | "shares" | "hurried";

/** Conditions that a job's run checks between its steps. */
interface Surroundings {
  /** Whether no request waits for a response, nor for the job. */
  isQuiet(): boolean;
  /** Whether a large pack is being received to which the job gives way. */
  isReceiving(): boolean;
}

/** Lets other requests run during a job. */
export class Pace {
  readonly #kind: PaceKind;
  readonly #around: Surroundings;
  readonly #endMs: number;
  #packRestMs = 0;
  #isInterrupted = false;
  /** Whether the run continues although it should have ended at its last rest. */
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

  /** Lets other requests run. Must be called between steps of the work, each of a few
   * milliseconds at most. A job that cannot be interrupted continues, more slowly. */
  async rest(): Promise<void> {
    this.#steps += 1;
    if (!this.isRestDue) return;
    const workedMs = Date.now() - this.#sinceMs;
    // Waits for packs, because the job could have ended at the last rest.
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
