import { pause } from "./pause.ts";

/** Milliseconds of work after which others get a turn, and how long that is. The local runtime has one thread for all, R2 included, and looks
 * at no socket while answers of its own R2 keep coming: without it, a request waits until the job has ended. */
const WORK_MS = 25;
const REST_MS = 10;

/** Steps after which they get it whatever the clock says, which in the deployed runtime stands still while code runs. */
const WORK_STEPS = 64;

/** Beside requests, a job rests so many times as long as it has worked. */
const SHARE_RESTS = 4;

/** How long a run goes on beside requests before it leaves the rest to another: jobs of other objects get their turn. */
const SHARE_RUN_MS = 2_000;

/** How long a run goes on for which somebody waits, before it leaves the rest to another. */
const HURRIED_RUN_MS = 5_000;

/** How a run of a job stands to requests: `quiet`, it began while there were none, and ends when one comes; `shares`, it could wait no
 * longer, and works beside them; `hurried`, somebody waits for it, for so long. */
export type PaceKind = "quiet" | "shares" | "hurried";

/** Lets requests through while a job runs. */
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

  /** Whether the run is to end as soon as what it did is noted, and leave the rest to another; stays so. */
  get isInterrupted(): boolean {
    if (this.#kind === "quiet") this.#isInterrupted ||= !this.#isQuiet();
    else this.#isInterrupted ||= Date.now() >= this.#endMs;
    return this.#isInterrupted;
  }

  /** Whether `rest` would wait. */
  get isRestDue(): boolean {
    return this.#steps >= WORK_STEPS || Date.now() - this.#sinceMs >= WORK_MS;
  }

  /** To be called between steps of the work, of some milliseconds at the most. A job that cannot be interrupted goes on, slower. */
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
