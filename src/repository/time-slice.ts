/** Milliseconds of work after which others get a turn: the repository's object has one thread for all requests. */
const SLICE_MS = 10;

/** Cuts long work into slices, between which other requests are served. */
export class TimeSlice {
  #endMs = Date.now() + SLICE_MS;

  /** To be called between small steps of the work; costs next to nothing while the slice lasts. */
  async pause(): Promise<void> {
    if (Date.now() < this.#endMs) return;
    await new Promise((resolve) => setTimeout(resolve, 0));
    this.#endMs = Date.now() + SLICE_MS;
  }
}
