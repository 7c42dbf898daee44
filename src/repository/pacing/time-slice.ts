import { pause } from "./pause.ts";

/** After this many milliseconds of work other requests run: the repository's object has one thread
 * for all of them. */
const SLICE_MS = 10;

/** After this many steps they run whatever the clock says: in the deployed runtime it stands still
 * while code runs. */
const SLICE_STEPS = 256;

/** Divides long work into slices, between which other requests run. */
export class TimeSlice {
  #endMs = Date.now() + SLICE_MS;
  #steps = 0;

  /** Must be called between steps of less than a millisecond. It costs almost nothing while the
   * slice lasts. */
  async pause(): Promise<void> {
    if (++this.#steps < SLICE_STEPS && Date.now() < this.#endMs) return;
    await pause();
    this.#steps = 0;
    this.#endMs = Date.now() + SLICE_MS;
  }
}
