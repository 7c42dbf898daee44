/** Milliseconds of work after which other requests run: the repository's object has one thread
 * for all of them. */
const SLICE_MS = 10;

/** Steps after which other requests run whatever the clock shows: in the deployed runtime it
 * stands still while code runs. */
const SLICE_STEPS = 256;

/** Divides long work into slices, between which other requests run. */
export class TimeSlice {
  #endMs = Date.now() + SLICE_MS;
  #steps = 0;

  /** Lets other requests run at the end of a slice. Must be called between steps of less than a
   * millisecond. Costs almost nothing within a slice. */
  async pause(): Promise<void> {
    if (++this.#steps < SLICE_STEPS && Date.now() < this.#endMs) return;
    await pause();
    this.#steps = 0;
    this.#endMs = Date.now() + SLICE_MS;
  }
}

/** Runs work that is divided into steps to its end, in slices between which other requests run.
 * @param goesOn whether the result is still needed
 * @returns null: the result is no longer needed */
export async function finishInSlices<T>(
  steps: Generator<void, T>,
  goesOn: () => boolean,
  slice: Pick<TimeSlice, "pause"> = new TimeSlice(),
): Promise<T | null> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    await slice.pause();
    if (!goesOn()) break;
  }
  steps.return(undefined as T);
  return null;
}

/** Lets other requests run: the object has one thread, so long work must be done in slices of about
 * 10 ms.
 * @param ms shortest pause; 0: other requests run, and the work continues at once. A timer of
 *   0 ms would take some 4 ms */
export function pause(ms = 0): Promise<void> {
  return new Promise((resolve) => {
    if (ms === 0) setImmediate(resolve);
    else setTimeout(resolve, ms);
  });
}
