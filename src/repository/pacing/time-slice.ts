import { pause } from "./pause.ts";

/** Milliseconds of work after which others get a turn: the repository's object has one thread for all requests. */
const SLICE_MS = 10;

/** Steps after which they get it whatever the clock says, which in the deployed runtime stands still while code runs. */
const SLICE_STEPS = 256;

/** Cuts long work into slices, between which other requests are served. */
export class TimeSlice {
  #endMs = Date.now() + SLICE_MS;
  #steps = 0;

  /** To be called between small steps of the work, of less than a millisecond; costs next to nothing while the slice lasts. */
  async pause(): Promise<void> {
    if (++this.#steps < SLICE_STEPS && Date.now() < this.#endMs) return;
    await pause();
    this.#steps = 0;
    this.#endMs = Date.now() + SLICE_MS;
  }
}
